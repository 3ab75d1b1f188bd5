/**
 * Forms of documents: the text with empty strings and without comments. Documents of one form differ in the
 * values of their strings alone, so the tree of the first serves all of them: what lies between its root and
 * its strings is copied, the rest is shared. That takes a tenth of the time of parsing.
 */
import { type DocumentNode, getNamedType, GraphQLError, type GraphQLSchema, Source, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { GRAPHQL_TOKENS_MAX } from '../../limits/surfaces.js'

/** Comments, block strings, strings. The pattern reads a text from left to right as the lexer does. */
const VALUES = /#[^\n\r]*|"""(?:\\"""|[^])*?"""|"(?:[^"\\\n\r]|\\.)*"/g
/** As many pieces between quotes as a text within the bound of tokens can have. */
const PIECES_MAX = 2 * GRAPHQL_TOKENS_MAX + 1
/** What a string without escapes can't have. */
const NOT_PLAIN = /[\n\r\ud800-\udfff]/
/** Types of which every string is a value. */
const ANY_STRING = new Set(['String', 'ID'])

/** The strings of a text in their order. */
export interface PlainStrings {
  readonly form: string
  readonly values: readonly string[]
}

/** Which string a place of the tree has, or what lies below it. */
type Slots = number | Map<string | number, Slots>

/** Where the text of a tree has a string, and how long it is. */
interface Gap {
  readonly start: number
  readonly chars: number
}

/** Of a text that does not parse, the form means nothing. */
export function formOf(text: string): string {
  return text.replaceAll(VALUES, (found) => (found.startsWith('#') ? '' : '""'))
}

/** @returns null: the text has escapes, block strings, comments or too many strings, and has to be parsed */
export function plainStringsOf(text: string): PlainStrings | null {
  if (text.includes('\\')) return null
  const parts = text.split('"', PIECES_MAX + 1)
  if (parts.length % 2 === 0 || parts.length > PIECES_MAX) return null
  const values: string[] = []
  let form = ''
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    if (at % 2 === 1) {
      if (NOT_PLAIN.test(part)) return null
      values.push(part)
      continue
    }
    // Nothing between two strings: the quotes are those of a block string.
    const isBlock = part === '' && at > 0 && at < parts.length - 1
    if (isBlock || part.includes('#')) return null
    form += at === 0 ? part : `""${part}`
  }
  return { form, values }
}

export class DocumentForm {
  readonly #document: DocumentNode
  readonly #slots: Slots
  readonly #gaps: readonly Gap[]

  private constructor(document: DocumentNode, slots: Slots, gaps: readonly Gap[]) {
    this.#document = document
    this.#slots = slots
    this.#gaps = gaps
  }

  /** @param text has the document, and plain strings alone */
  static of(text: string, document: DocumentNode): DocumentForm | null {
    const slots = new Map<string | number, Slots>()
    const gaps: Gap[] = []
    visit(document, {
      StringValue(node, _key, _parent, path) {
        put(slots, path, gaps.length)
        gaps.push({ start: node.loc!.start, chars: node.value.length })
      },
    })
    const isInOrder = gaps.every(({ start }, at) => text[start] === '"' && start > (gaps[at - 1]?.start ?? -1))
    return isInOrder ? new DocumentForm(document, slots, gaps) : null
  }

  /** @returns the tree with other strings; null: there are not as many */
  filled(values: readonly string[]): DocumentNode | null {
    if (values.length !== this.#gaps.length) return null
    return values.length === 0 ? this.#document : (fill(this.#document, this.#slots, values) as DocumentNode)
  }

  /** The error of a tree of this form at its places in the text. */
  placed(error: GraphQLError, text: string, values: readonly string[]): GraphQLError {
    const placeOf = (place: number): number =>
      this.#gaps.reduce((sum, { start, chars }, at) => (start < place ? sum + values[at]!.length - chars : sum), place)
    const { message, path, extensions, originalError, positions } = error
    if (positions === undefined) return error
    return new GraphQLError(message, { source: new Source(text), positions: positions.map(placeOf), path, extensions, originalError })
  }
}

/**
 * Whether the validation of a valid document would say the same with other strings. It looks at them in two
 * cases: the type of an argument takes some strings only, or two fields of one name are compared.
 */
export function isValidWithAnyStrings(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema)
  const names = new Set<string>()
  let strings = 0
  let isFree = true
  const visitor = visitWithTypeInfo(types, {
    StringValue() {
      strings += 1
      isFree &&= ANY_STRING.has(getNamedType(types.getInputType())?.name ?? '')
    },
    Field({ alias, name, arguments: given = [] }) {
      if (given.length === 0) return
      const key = (alias ?? name).value
      isFree &&= !names.has(key)
      names.add(key)
    },
  })
  visit(document, visitor)
  return isFree || strings === 0
}

function put(slots: Map<string | number, Slots>, path: readonly (string | number)[], string: number): void {
  let at = slots
  for (const key of path.slice(0, -1)) {
    let below = at.get(key)
    if (!(below instanceof Map)) at.set(key, (below = new Map()))
    at = below
  }
  at.set(path.at(-1)!, string)
}

function fill(node: unknown, slots: Slots, values: readonly string[]): unknown {
  if (typeof slots === 'number') return { ...(node as object), value: values[slots] }
  const copy = (Array.isArray(node) ? [...(node as readonly unknown[])] : { ...(node as object) }) as Record<string | number, unknown>
  for (const [key, below] of slots) copy[key] = fill(copy[key], below, values)
  return copy
}
