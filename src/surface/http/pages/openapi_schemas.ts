/**
 * Converts the schemas of the rows for the OpenAPI document, for readers and for client generators. A schema
 * with a title becomes a component. Lists of values are closed, although the server has an error answer of
 * its own for other values. Defaults of fields are stated in the description. Pure; used only while the
 * document is built.
 */
import type { Schema } from '../../../operations/row/json_schema.js'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Component names that every generator uses unchanged. */
const COMPONENT_NAME = /^[A-Z][A-Za-z0-9]*$/

export class SchemaComponents {
  readonly #schemas = new Map<string, JsonObject>()

  /** Sorted by name. */
  get schemas(): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /**
   * Returns a reference to the schema as a component.
   * @param isInput fields that may be absent may be null, at every depth
   */
  named(name: string, schema: Schema, isInput: boolean): JsonObject {
    if (!COMPONENT_NAME.test(name)) throw new Error(`${name} can't be the name of a component`)
    const { title: _, ...rest } = schema
    const copy = this.#copyKeywords(plain(rest, isInput), isInput)
    const known = this.#schemas.get(name)
    if (known === undefined) this.#schemas.set(name, copy)
    else if (JSON.stringify(known) !== JSON.stringify(copy)) throw new Error(`two schemas are named ${name}`)
    return { $ref: `#/components/schemas/${name}` }
  }

  copy(schema: Schema, isInput: boolean): JsonObject {
    return schema.title === undefined ? this.#copyKeywords(plain(schema, isInput), isInput) : this.named(schema.title, schema, isInput)
  }

  #copyKeywords(schema: Schema, isInput: boolean): JsonObject {
    const { properties, patternProperties: _, items, additionalProperties, anyOf, ...rest } = schema
    return {
      ...(rest as JsonObject),
      ...(properties === undefined ? {} : { properties: this.#copyFields(properties, schema.required ?? [], isInput) }),
      ...(items === undefined ? {} : { items: this.copy(items, isInput) }),
      ...(additionalProperties === undefined ? {} : { additionalProperties: this.copy(additionalProperties, isInput) }),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map((branch) => this.copy(branch, isInput)) }),
    }
  }

  #copyFields(properties: Readonly<Record<string, Schema>>, required: readonly string[], isInput: boolean): JsonObject {
    const entries = Object.entries(properties).map(([name, schema]) => {
      const copy = this.copy(schema, isInput)
      // An enum stays as it is: null is not among its values.
      const mayBeNull = isInput && !required.includes(name) && typeof copy.type === 'string' && copy.enum === undefined
      return [name, mayBeNull ? { ...copy, type: [copy.type as Json, 'null'] } : copy] as const
    })
    return Object.fromEntries(entries)
  }
}

/**
 * Removes keywords that a client can't use: branches that accept anything, an `anyOf` with one branch left,
 * and defaults in request bodies.
 */
function plain(schema: Schema, isInput: boolean): Schema {
  const { anyOf, default: standard, ...rest } = schema
  const isSaid = standard !== undefined && (isInput || typeof standard === 'object')
  const base: Schema = { ...rest, ...(isSaid ? describedDefault(rest, standard) : standard === undefined ? {} : { default: standard }) }
  if (anyOf === undefined) return base
  const branches = anyOf.filter((branch) => Object.keys(branch).length > 0)
  const [only] = branches
  if (branches.length === 1 && only !== undefined) return plain({ ...only, ...base }, isInput)
  const types = branches.map(({ type }) => type)
  const areTypesAlone = branches.every((branch) => Object.keys(branch).length === 1 && typeof branch.type === 'string')
  return areTypesAlone ? { ...base, type: types.flatMap((type) => type ?? []) } : { ...base, anyOf: branches }
}

/**
 * Moves a default to the description. Generators make a field with a `default` required in every request, and
 * generate code for the default, which fails for objects.
 */
function describedDefault({ description = '' }: Schema, standard: unknown): Schema {
  return { description: `${description} Default: \`${JSON.stringify(standard)}\`.`.trim() }
}
