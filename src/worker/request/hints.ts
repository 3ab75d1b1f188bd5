/**
 * The `hint` of a refusal: which field is affected, what is expected there, and what was sent. It is for
 * authors of clients; the `error` text beside it is fixed by the contract. The hint is made from the row's
 * schema and the input, for `missing fields` and `invalid <field>` alike, whatever code refused. It quotes
 * little of the input, and nothing of fields that may contain a secret. Lane threads.
 */
import { ServiceError } from '../../errors.js'
import type { Schema } from '../../operations/row/json_schema.js'
import { type Input, NULLS } from './input.js'

/** Characters in the `hint` of a refusal: two lines of a terminal for each of three fields. */
export const HINT_CHARACTERS_MAX = 500
/** Characters of the received value that a hint quotes: enough to recognise it, too few to be a document. */
const HINT_EXCERPT_CHARACTERS_MAX = 40
/** Longer examples of the expected value are left out of a hint; longer field names are truncated. */
const HINT_EXAMPLE_CHARACTERS_MAX = 80

/** Fields whose values are not shown: credentials, addresses that may contain some, template values. */
const SECRET = /secret|passw|passphrase|token|credential|auth|api_?key|access_?key|url$|endpoint|^env$/i

/** `invalid <field>` and the explanation, optionally preceded by the position of one of several searches. */
const INVALID = /^(?:searches\[(\d+)\]: )?invalid ([\w.-]+)(?:: (.*))?$/s

/**
 * Returns the same refusal with its hint. An error that refuses no input, or has a hint already, is returned
 * unchanged.
 */
export function withHint(error: unknown, schema: Schema, input: Input | undefined): unknown {
  if (!(error instanceof ServiceError) || !error.isInvalidInput || error.hint !== undefined) return error
  const hint = error.code === 'missingFields' ? hintOfMissing(schema, input) : hintOfInvalid(error.message, schema, input)
  return hint === undefined ? error : new ServiceError(error.code, error.message, bounded(hint))
}

/** For use without the input: derives the hint from the error text. */
export function hintOfText(text: string): string | undefined {
  const [, , field, why] = INVALID.exec(text) ?? []
  return field === undefined || why === undefined ? undefined : bounded(`\`${field}\`: ${why}`)
}

/** A hint about the value at `path`. */
export function hintAt(schema: Schema, input: Input, path: readonly string[], why?: string): string {
  return bounded(about(path, schemaAt(schema, path), valueAt(input, path), why))
}

function hintOfMissing(schema: Schema, input: Input | undefined): string | undefined {
  const emptyOf = (names: readonly string[]): readonly string[] => names.filter((name) => isEmpty(input?.[name]))
  const required = emptyOf(schema.required ?? [])
  // Fields that are optional but must not be empty.
  const lacking = required.length > 0 || input === undefined ? required : emptyOf(Object.keys(input))
  return lacking.length === 0
    ? undefined
    : lacking.map((name) => about([name], schema.properties?.[name], shownValue(input, name))).join(' ')
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '') || (Array.isArray(value) && value.length === 0)
}

/** Null counts as absent; only hints distinguish the two. */
function shownValue(input: Input | undefined, name: string): unknown {
  return input?.[NULLS]?.includes(name) === true ? null : input?.[name]
}

function hintOfInvalid(text: string, schema: Schema, input: Input | undefined): string | undefined {
  const [, search, field, why] = INVALID.exec(text) ?? []
  if (field === undefined) return undefined
  const path = [...(search === undefined ? [] : ['searches', search]), ...pathOf(field, schema)]
  const at = schemaAt(schema, path)
  if (at === undefined && valueAt(input, path) === undefined) return hintOfText(text)
  return about(path, at, valueAt(input, path), why)
}

/** A name in a map may contain a dot. The field is then the longest prefix that the schema knows. */
function pathOf(field: string, schema: Schema): string[] {
  const names = field.split('.')
  const known = names.findIndex((_, at) => schemaAt(schema, names.slice(0, at + 1)) === undefined)
  return known <= 0 ? names : names.slice(0, known)
}

function schemaAt(schema: Schema | undefined, path: readonly string[]): Schema | undefined {
  let at = schema
  for (const name of path) {
    const all: readonly Schema[] = at === undefined ? [] : [at, ...(at.anyOf ?? [])]
    const below = all.map((one) => (/^\d+$/.test(name) ? one.items : undefined) ?? fieldIn(one, name) ?? one.additionalProperties)
    at = below.find((one) => one !== undefined)
  }
  return at
}

function fieldIn({ properties = {} }: Schema, name: string): Schema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  let at = input
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Readonly<Record<string, unknown>>)[name]
  }
  return at
}

function about(path: readonly string[], schema: Schema | undefined, value: unknown, why?: string): string {
  const expected = [...(schema === undefined ? [] : [expectedBy(schema)]), ...(why === undefined ? [] : [why])].join('; ')
  const name = cut(path.join('.'), HINT_EXAMPLE_CHARACTERS_MAX)
  return `\`${name}\`: ${expected === '' ? '' : `${expected}; `}${cameAs(
    value,
    path.some((one) => SECRET.test(one)),
  )}.`
}

function expectedBy(schema: Schema): string {
  return `${formOf(schema)} is expected${exampleOf(schema)}`
}

function formOf({ type, anyOf = [], enum: values, minLength = 0, minimum, items, additionalProperties }: Schema): string {
  const words = values ?? anyOf.flatMap((one) => one.enum ?? [])
  if (words.length > 0) return `one of ${words.join(', ')}`
  switch (type) {
    case 'string':
      return minLength > 0 ? 'a text that is not empty' : 'a text'
    case 'integer':
      return minimum === undefined ? 'a whole number' : `a whole number, ${minimum} or more,`
    case 'number':
      return minimum === undefined ? 'a number' : `a number, ${minimum} or more,`
    case 'boolean':
      return 'true or false'
    case 'array':
      return items?.type === 'string' ? 'a list of texts' : items?.type === 'number' ? 'a list of numbers' : 'a list'
    case 'object':
      return additionalProperties?.type === 'array' ? 'an object of lists of texts' : 'an object'
    default:
      return [...new Set(anyOf.filter((one) => Object.keys(one).length > 0).map(formOf))].join(' or ') || 'another value'
  }
}

/** Only if it is short. */
function exampleOf({ examples = [] }: Schema): string {
  const example = examples.length === 0 ? '' : JSON.stringify(examples[0])
  return example === '' || example.length > HINT_EXAMPLE_CHARACTERS_MAX ? '' : `, such as ${example}`
}

function cameAs(value: unknown, isSecret: boolean): string {
  if (value === undefined) return 'nothing came'
  if (value === null) return 'null came'
  if (value === '') return 'an empty text came'
  if (Array.isArray(value)) return `a list of ${value.length} came`
  if (typeof value === 'object') return 'an object came'
  if (typeof value === 'string') return isSecret ? 'a text came' : `the text ${excerptOf(value)} came`
  return isSecret ? `a ${typeof value} came` : `${JSON.stringify(value)} came`
}

/** Escaped, so that the hint is well-formed for any input. */
function excerptOf(text: string): string {
  if (text.length <= HINT_EXCERPT_CHARACTERS_MAX) return JSON.stringify(text)
  return `${JSON.stringify(text.slice(0, HINT_EXCERPT_CHARACTERS_MAX))}… (${Buffer.byteLength(text)} bytes)`
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`
}

/** Names come from clients as well, so the hint is truncated. */
function bounded(hint: string): string {
  return (hint.length <= HINT_CHARACTERS_MAX ? hint : `${hint.slice(0, HINT_CHARACTERS_MAX - 1)}…`).toWellFormed()
}
