/**
 * The arguments that a tool has from the input of its operation: each field of the row, under its name in
 * snake_case, with the type, the default, the known values and the description of the row. Pure; any thread.
 */
import type { Schema } from '../../../../operations/row/json_schema.js'
import type { Operation } from '../../../../operations/row/operation.js'
import { type Argument, argument, type ArgumentType } from './argument.js'

export interface ArgumentChoice {
  /** Fields of the row that the tool does not offer. */
  readonly without?: readonly string[]
  /** Names of arguments that the tool requires, although the row does not. */
  readonly needs?: readonly string[]
  /** Of the tool itself: in place of those of the row with the same names, the others after them. */
  readonly own?: readonly Argument[]
  /** Arguments whose default depends on the collection, so that none is stated. */
  readonly noDefault?: readonly string[]
  /** What is not given stays as it is, so that no argument has a default. */
  readonly keepsRest?: boolean
}

/** @throws Error for a field whose schema is no type of an argument: a programming error */
export function argumentsOf({ name: operation, input }: Operation, choice: ArgumentChoice = {}): readonly Argument[] {
  const { without = [], needs = [], own = [], noDefault = [], keepsRest = false } = choice
  const unknown = without.filter((field) => input.properties?.[field] === undefined)
  if (unknown.length > 0) throw new Error(`${operation} has no ${unknown.join()}, which its tool leaves out`)
  const fields = Object.entries(input.properties ?? {}).filter(([field]) => !without.includes(field))
  const derived = fields.map(([field, schema]) => {
    const name = snakeCase(field)
    const named = own.find((one) => one.name === name)
    if (named !== undefined) return named
    const isRequired = input.required?.includes(field) === true || needs.includes(name)
    const { default: fallback } = schema
    return {
      ...argument(name, typeOf(`${operation}.${field}`, name, schema), textOf(schema, input)),
      field,
      isRequired,
      ...(fallback === undefined || isRequired || keepsRest || noDefault.includes(name) ? {} : { fallback }),
      ...(schema.type === 'array' || schema.type === 'object' ? { examples: schema.examples } : {}),
      ...(schema.type === 'array' ? { items: itemsOf(schema) } : {}),
      ...(schema.anyOf?.[0]?.enum === undefined ? {} : { known: schema.anyOf[0].enum }),
    }
  })
  const named = [...needs, ...noDefault].filter((name) => !derived.some((one) => one.name === name))
  if (named.length > 0) throw new Error(`${operation} has no argument ${named.join()}`)
  return [...derived, ...own.filter((one) => !derived.includes(one))]
}

function typeOf(place: string, name: string, schema: Schema): ArgumentType {
  const { type, items, additionalProperties } = schema
  if (type === 'array') return items?.type === 'string' ? 'strings' : 'array'
  // Lists of strings by key. A filter keeps a key whose list is empty: it admits nothing.
  if (type === 'object' && additionalProperties?.type === 'array') return name.startsWith('filter') ? 'filter' : 'values'
  if (type === 'string' || type === 'integer' || type === 'number' || type === 'boolean' || type === 'object') return type
  throw new Error(`${place} has no type of an argument`)
}

/** A description of a row. Fields of its input are named as arguments are. */
export function textOf({ description = '' }: Schema, input: Schema): string {
  return description.replaceAll(/`(\w+)`/g, (quoted, name: string) =>
    input.properties?.[name] === undefined ? quoted : `\`${snakeCase(name)}\``,
  )
}

/** The form of an item, where the schema of the row lets all pass so that each is refused alone. */
function itemsOf({ items }: Schema): Readonly<Record<string, unknown>> {
  const { title: _, anyOf, ...plain } = items ?? {}
  return { ...plain, ...anyOf?.[0] }
}

function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z]+)/g, (_, before: string, capitals: string) => `${before}_${capitals.toLowerCase()}`)
}
