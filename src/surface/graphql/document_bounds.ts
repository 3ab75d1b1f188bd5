/**
 * Bounds a parsed document before anything else looks at it: levels of fields, fields, aliases, circular
 * fragments. One walk over the tree, in which each fragment is measured once, so that fragments that multiply
 * each other cost nothing. Pure.
 */
import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'

/** Levels of fields. A search needs four: search, edges, node, field. */
const GRAPHQL_DEPTH_MAX = 10
/** Levels below `__schema` and `__type`: GraphiQL asks for 14, five and a chain of nine `ofType`. */
const GRAPHQL_INTROSPECTION_DEPTH_MAX = 16
/** Fields of an operation, those of a fragment once for each of its uses. */
const GRAPHQL_COMPLEXITY_MAX = 1_000
/** Aliases of an operation, counted as its fields are: each is a request of its own at the top level. */
const GRAPHQL_ALIASES_MAX = 50

interface Size {
  fields: number
  aliases: number
  /** Levels, those below `__schema` and `__type` not counted. */
  depth: number
  /** Levels below `__schema` and `__type`; 0: the schema is not asked for. */
  introspection: number
}

interface Measured {
  /** Null: the document is within its bounds. */
  readonly violation: string | null
  readonly asksForSchema: boolean
}

export function measureDocument(document: DocumentNode): Measured {
  const walk = new Walk(document)
  let asksForSchema = false
  for (const definition of document.definitions) {
    // A fragment counts where it is used.
    if (definition.kind === Kind.FRAGMENT_DEFINITION) walk.fragment(definition)
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const size = walk.sizeOf(definition.selectionSet)
    const violation = violationOf(size)
    if (violation !== null) return { violation, asksForSchema }
    asksForSchema ||= size.introspection > 0
  }
  if (walk.circular !== null) return { violation: `fragment ${walk.circular} uses itself`, asksForSchema }
  return { violation: null, asksForSchema }
}

function violationOf({ fields, aliases, depth, introspection }: Size): string | null {
  if (depth > GRAPHQL_DEPTH_MAX) return `the depth is ${depth}, at most ${GRAPHQL_DEPTH_MAX} is allowed`
  if (introspection > GRAPHQL_INTROSPECTION_DEPTH_MAX)
    return `the depth of the introspection is ${introspection}, at most ${GRAPHQL_INTROSPECTION_DEPTH_MAX} is allowed`
  if (fields > GRAPHQL_COMPLEXITY_MAX) return `the complexity is ${fields}, at most ${GRAPHQL_COMPLEXITY_MAX} is allowed`
  return aliases > GRAPHQL_ALIASES_MAX ? `there are ${aliases} aliases, at most ${GRAPHQL_ALIASES_MAX} are allowed` : null
}

class Walk {
  readonly #fragments = new Map<string, FragmentDefinitionNode>()
  /** Null: it is being measured. */
  readonly #sizes = new Map<string, Size | null>()
  /** The name of a fragment that uses itself. */
  circular: string | null = null

  constructor(document: DocumentNode) {
    for (const definition of document.definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition)
  }

  fragment(definition: FragmentDefinitionNode): Size {
    const name = definition.name.value
    const known = this.#sizes.get(name)
    if (known === null) this.circular ??= name
    if (known !== undefined) return known ?? emptySize()
    this.#sizes.set(name, null)
    const size = this.sizeOf(definition.selectionSet)
    this.#sizes.set(name, size)
    return size
  }

  sizeOf({ selections }: SelectionSetNode): Size {
    const total = emptySize()
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) add(total, this.sizeOf(selection.selectionSet))
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const used = this.#fragments.get(selection.name.value)
        // One that is not defined is found by the validation.
        if (used !== undefined) add(total, this.fragment(used))
      } else {
        const inner = selection.selectionSet === undefined ? emptySize() : this.sizeOf(selection.selectionSet)
        const name = selection.name.value
        const isSchema = name === '__schema' || name === '__type'
        inner.fields += 1
        inner.aliases += selection.alias === undefined ? 0 : 1
        if (isSchema) {
          inner.introspection = Math.max(inner.introspection, inner.depth, 1)
          inner.depth = 0
        }
        inner.depth += 1
        add(total, inner)
      }
    }
    return total
  }
}

function emptySize(): Size {
  return { fields: 0, aliases: 0, depth: 0, introspection: 0 }
}

function add(total: Size, part: Size): void {
  total.fields += part.fields
  total.aliases += part.aliases
  total.depth = Math.max(total.depth, part.depth)
  total.introspection = Math.max(total.introspection, part.introspection)
}
