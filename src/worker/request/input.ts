/**
 * The input of an operation before validation, and the bounds of untrusted bytes. UTF-8, JSON and depth are
 * checked here, the shape in validation.ts. Lane threads only.
 */
import { isUtf8 } from 'node:buffer'
import type { KnownMembers } from '../../engine/json_scan.js'
import { ANY, JsonScanner } from '../../engine/json_scan.js'
import type { StopWord } from '../../engine/types.js'
import { badRequest, serviceError } from '../../errors.js'
import { JSON_DEPTH_MAX } from '../../limits/documents.js'
import { KIB } from '../../limits/units.js'
import type { Schema } from '../../operations/row/json_schema.js'
import type { AnyOperation } from '../../operations/row/operation.js'
import { EXCESS_TEXTS, JSON_BOUNDS } from '../../wire/json_bounds.js'
import { markedUtf8, withLoneSurrogates } from './invalid_text.js'

/**
 * Bodies of this size or more are scanned for JSON_BOUNDS before they are parsed. Smaller ones cannot take 6
 * MB of heap.
 */
const JSON_SCANNED_BYTES_MIN = 64 * KIB

/**
 * Key under which an input lists the fields that the body sets to null, if any. For operations that
 * distinguish null from absent.
 */
export const NULLS = Symbol('fields given as null')

export type Input = Record<string, unknown> & { [NULLS]?: readonly string[] }

const scanners = new Map<AnyOperation, JsonScanner>()

/** Returns the scanner for large bodies of an operation, which runs before they are parsed. */
export function scannerOf(operation: AnyOperation): JsonScanner {
  const known = scanners.get(operation)
  if (known !== undefined) return known
  const made = bodyScanner(operation.input)
  scanners.set(operation, made)
  return made
}

function bodyScanner(schema: Schema): JsonScanner {
  return new JsonScanner(knownMembers(schema), JSON_BOUNDS)
}

/**
 * @param body modified if it is large: members that the operation does not know become spaces
 * @param dropsInvalidText of the row: invalid UTF-8 becomes lone surrogates
 * @throws ServiceError 400, or 503 if nobody waits for the answer any more
 */
export function parseBody(body: Uint8Array, scanner: JsonScanner, stop?: StopWord, dropsInvalidText = false): Input {
  if (body.length === 0) return {}
  const isValid = isUtf8(body)
  if (!isValid && !dropsInvalidText) throw serviceError('invalidUtf8')
  const text = isValid ? Buffer.from(body.buffer, body.byteOffset, body.length) : markedUtf8(body)
  if (text.length >= JSON_SCANNED_BYTES_MIN) look(scanner, text, stop)
  let parsed: unknown
  try {
    parsed = JSON.parse(isValid ? text.toString('utf8') : withLoneSurrogates(text))
  } catch (error) {
    throw serviceError('invalidJson', hintOfBody(positionOf(error as Error)))
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw serviceError('invalidJson', hintOfBody(Array.isArray(parsed) ? 'a list came' : 'a single value came'))
  return settleNulls(parsed as Input)
}

/** Null counts as absent; the names of the null fields are kept. Modifies the input. */
export function settleNulls(input: Input): Input {
  const nulls = Object.keys(input).filter((name) => input[name] === null)
  settle(input, 1)
  if (nulls.length > 0) input[NULLS] = nulls
  return input
}

function look(scanner: JsonScanner, text: Buffer, stop: StopWord | undefined): void {
  const verdict = scanner.scan(text, stop)
  switch (verdict) {
    case 'invalid':
      throw serviceError('invalidJson', hintOfBody('it is not JSON'))
    case 'stopped':
      throw serviceError('deadline')
    case 'good':
      return
    default:
      throw badRequest(EXCESS_TEXTS[verdict])
  }
}

function hintOfBody(came: string): string {
  return `The body is expected to be a JSON object; ${came}.`
}

/**
 * Returns the position of the error only: the parser's own message quotes the input, which may contain a
 * secret.
 */
function positionOf({ message }: Error): string {
  const [, position] = /at position (\d+)/.exec(message) ?? []
  return position === undefined ? 'it is not JSON' : `it is not JSON at character ${Number(position) + 1}`
}

/** A null in this map is an empty list, which is how Go writes a nil slice: it selects no document. */
const FILTER = 'filterMeta'

/**
 * Applies the rules of every body in place: null counts as absent, and nesting is bounded. In a filter null
 * is an empty list: without its key, the filter would admit more. The name `__proto__` is an ordinary one:
 * JSON.parse makes it an ordinary field, and nothing copies fields by assignment, which would set the
 * prototype.
 * @param name of the field that has this value
 */
export function settle(value: Input | unknown[], depth: number, name?: string): void {
  if (depth > JSON_DEPTH_MAX) throw badRequest(EXCESS_TEXTS.depth)
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null && !ArrayBuffer.isView(item)) settle(item as Input, depth + 1)
    return
  }
  for (const key of Object.keys(value)) {
    const field = value[key]
    if (field === null && name === FILTER) Object.defineProperty(value, key, { value: [] })
    else if (field === null) delete value[key]
    else if (typeof field === 'object' && !ArrayBuffer.isView(field)) settle(field as Input, depth + 1, key)
  }
}

/**
 * The members of a body that an operation can use: those that its row's schema names. Other members are not
 * built (docs/decisions/interfaces/bounds-of-requests.md).
 */
export function knownMembers(schema: Schema): KnownMembers {
  const { type, properties, additionalProperties, patternProperties, items } = schema
  if (type === 'array') return items === undefined ? ANY : { kind: 'list', items: knownMembers(items) }
  // Without names, or with names by pattern, any member may be used.
  if (type === 'object' && patternProperties === undefined && (properties !== undefined || additionalProperties !== undefined)) {
    const members = Object.entries(properties ?? {}).map(([name, field]) => [name, knownMembers(field)] as const)
    return { kind: 'object', members, rest: additionalProperties === undefined ? null : knownMembers(additionalProperties) }
  }
  return ownItemOf(schema) ?? ANY
}

/**
 * An item that is validated on its own (operations/row/schema.ts): returns its schema. Anything else is left
 * for the operation to refuse.
 */
function ownItemOf({ title, anyOf }: Schema): KnownMembers | undefined {
  const [item, anything, ...more] = anyOf ?? []
  if (title === undefined || item?.type !== 'object' || anything === undefined || more.length > 0) return undefined
  return Object.keys(anything).length === 0 ? knownMembers(item) : undefined
}
