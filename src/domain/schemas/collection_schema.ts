/**
 * The schema of a collection: rules for the metadata of its documents. Read from an object or its JSON text.
 * An invalid schema is rejected with the path of the error, because a rule that is not enforced must not be
 * accepted. Rules: service-1, "Schema validation", and docs/decisions/documents/collections.md. Pure; any
 * lane.
 */
import { badRequest } from '../../errors.js'
import { META_KEYS_MAX, META_VALUES_MAX } from '../../limits/documents.js'
import { KIB } from '../../limits/units.js'
import { compilePattern } from './patterns.js'

/** Bytes of one schema as JSON text: 256 fields of 256 bytes. */
const SCHEMA_BYTES_MAX = 64 * KIB
/** Values of one `enum`. */
const SCHEMA_ENUM_VALUES_MAX = 1024

/** The types that the strings of a field may be read as. */
const VALUE_TYPES = ['string', 'number', 'integer', 'boolean'] as const
export type ValueType = (typeof VALUE_TYPES)[number]

export interface FieldRules {
  readonly key: string
  readonly type: ValueType | undefined
  readonly enum: ReadonlySet<string> | undefined
  readonly pattern: string | undefined
  readonly minItems: number
  /** 0: no limit. */
  readonly maxItems: number
}

export interface CollectionSchema {
  readonly required: readonly string[]
  /** Sorted by key. */
  readonly fields: readonly FieldRules[]
}

type Json = Readonly<Record<string, unknown>>

const RULES_OF_SCHEMA = ['type', 'required', 'properties']
const RULES_OF_FIELD = ['type', 'enum', 'pattern', 'minItems', 'maxItems']
/** Keywords for human readers that impose no rules on values. */
const ANNOTATIONS = ['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples']

/** @param given object or JSON text @throws ServiceError 400 whose message names the path */
export function readSchema(given: unknown): CollectionSchema {
  const json = objectAt('', typeof given === 'string' ? parse(given) : given)
  checkNames('', json, RULES_OF_SCHEMA)
  if (isGiven(json.type) && json.type !== 'object') throw wrong('type', 'must be object')
  const properties = isGiven(json.properties) ? objectAt('properties', json.properties) : {}
  const keys = Object.keys(properties).sort()
  if (keys.length > META_KEYS_MAX) throw wrong('properties', `${keys.length} fields, at most ${META_KEYS_MAX} are allowed`)
  return { required: readRequired(json.required), fields: keys.map((key) => readField(key, properties[key])) }
}

/** The text that is stored and shown: the client's own, or that of the object. @throws ServiceError 400 */
export function textOfSchema(given: unknown): string {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const bytes = Buffer.byteLength(text)
  if (bytes > SCHEMA_BYTES_MAX) throw wrong('', `${bytes} bytes, at most ${SCHEMA_BYTES_MAX} are allowed`)
  return text
}

function parse(text: string): unknown {
  // A lone surrogate would be stored as another character.
  if (/\p{Surrogate}/u.test(text)) throw wrong('', 'not well-formed text')
  try {
    return JSON.parse(text)
  } catch {
    throw wrong('', 'not JSON')
  }
}

function readRequired(given: unknown): readonly string[] {
  if (!isGiven(given)) return []
  const keys = listAt('required', given, META_KEYS_MAX)
  keys.forEach((key, index) => {
    if (typeof key !== 'string' || key === '') throw wrong(`required.${index}`, 'the name of a field is expected')
  })
  return [...new Set(keys as readonly string[])]
}

function readField(key: string, given: unknown): FieldRules {
  const path = `properties.${key}`
  const json = objectAt(path, given)
  checkNames(path, json, RULES_OF_FIELD)
  const minItems = readCount(`${path}.minItems`, json.minItems)
  const maxItems = readCount(`${path}.maxItems`, json.maxItems)
  if (maxItems > 0 && minItems > maxItems) throw wrong(`${path}.minItems`, `${minItems} is above maxItems, ${maxItems}`)
  return {
    key,
    type: readType(`${path}.type`, json.type),
    enum: readEnum(`${path}.enum`, json.enum),
    pattern: readPattern(`${path}.pattern`, json.pattern),
    minItems,
    maxItems,
  }
}

function readType(path: string, given: unknown): ValueType | undefined {
  if (!isGiven(given)) return undefined
  const type = VALUE_TYPES.find((name) => name === given)
  if (type === undefined) throw wrong(path, 'must be string, number, integer, or boolean')
  return type
}

/** Metadata values are strings, so a number or a boolean of the list is converted to a string. */
function readEnum(path: string, given: unknown): ReadonlySet<string> | undefined {
  if (!isGiven(given)) return undefined
  const values = listAt(path, given, SCHEMA_ENUM_VALUES_MAX)
  if (values.length === 0) throw wrong(path, 'no value is allowed by an empty list')
  values.forEach((value, index) => {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw wrong(`${path}.${index}`, 'a text, a number or a boolean is expected')
  })
  return new Set(values.map(String))
}

function readPattern(path: string, given: unknown): string | undefined {
  if (!isGiven(given)) return undefined
  if (typeof given !== 'string') throw wrong(path, 'a text is expected')
  const { fault } = compilePattern(given)
  if (fault !== undefined) throw wrong(path, fault)
  return given
}

function readCount(path: string, given: unknown): number {
  if (!isGiven(given)) return 0
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 0 || given > META_VALUES_MAX)
    throw wrong(path, `a whole number from 0 to ${META_VALUES_MAX} is expected`)
  return given
}

function objectAt(path: string, given: unknown): Json {
  // PHP encodes an empty map as an empty list.
  if (Array.isArray(given) && given.length === 0) return {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrong(path, 'an object is expected')
  return given as Json
}

function listAt(path: string, given: unknown, itemsMax: number): readonly unknown[] {
  if (!Array.isArray(given)) throw wrong(path, 'a list is expected')
  if (given.length > itemsMax) throw wrong(path, `${given.length} values, at most ${itemsMax} are allowed`)
  return given as unknown[]
}

function checkNames(path: string, json: Json, known: readonly string[]): void {
  const unknown = Object.keys(json).find((name) => !known.includes(name) && !ANNOTATIONS.includes(name))
  if (unknown !== undefined) throw wrong(path === '' ? unknown : `${path}.${unknown}`, `no such rule; there are ${known.join(', ')}`)
}

/** Null counts as absent, as in every input. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function wrong(path: string, what: string): Error {
  return badRequest(`invalid schema: ${path === '' ? '' : `${path.slice(0, 200)}: `}${what}`)
}
