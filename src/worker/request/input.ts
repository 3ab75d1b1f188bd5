/**
 * The input of an operation before validation, and the bounds of untrusted bytes. UTF-8, JSON and depth are
 * checked here, the shape in validation.ts. Lane threads only.
 */
import { isUtf8 } from 'node:buffer'
import { badRequest, serviceError } from '../../errors.js'
import { JsonScanner } from '../../engine/json_scan.js'
import type { StopWord } from '../../engine/types.js'
import { JSON_DEPTH_MAX, JSON_SCANNED_BYTES_MIN } from '../../limits/input.js'
import type { Schema } from '../../operations/json_schema.js'
import type { AnyOperation } from '../../operations/operation.js'
import { EXCESS_TEXTS, JSON_BOUNDS } from '../../wire/json_bounds.js'
import { knownMembers } from './known_members.js'

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

export function bodyScanner(schema: Schema): JsonScanner {
  return new JsonScanner(knownMembers(schema), JSON_BOUNDS)
}

/**
 * @param body modified if it is large: members that the operation does not know become spaces
 * @throws ServiceError 400, or 503 if nobody waits for the answer any more
 */
export function parseBody(body: Uint8Array, scanner: JsonScanner, stop?: StopWord): Input {
  if (body.length === 0) return {}
  if (!isUtf8(body)) throw serviceError('invalidUtf8')
  const text = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (text.length >= JSON_SCANNED_BYTES_MIN) look(scanner, text, stop)
  let parsed: unknown
  try {
    parsed = JSON.parse(text.toString('utf8'))
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
