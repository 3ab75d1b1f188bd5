/**
 * The input of an operation, put together from body, query string and path parameters. Foreign bytes: checked
 * for UTF-8, JSON and depth here, for shape in validation.ts. GET input comes from the query string alone,
 * other input from the JSON body and, for what is missing there, the query string. Lane threads only.
 */
import { isUtf8 } from 'node:buffer'
import { badRequest, serviceError } from '../../errors.js'
import { JsonScanner } from '../../engine/json_scan.js'
import type { StopWord } from '../../engine/types.js'
import {
  JSON_CONTAINERS_MAX,
  JSON_DEPTH_MAX,
  JSON_SCANNED_BYTES_MIN,
  JSON_SHAPES_MAX,
  JSON_VALUES_MAX,
  QUERY_PARAMETERS_MAX,
} from '../../limits.js'
import type { Schema } from '../../operations/json_schema.js'
import { knownMembers } from './known_members.js'

/** Under this key an input holds the names of the fields that the body gives as null, where there are any: for the operations to which "no value" is not "not said". */
export const NULLS = Symbol('fields given as null')

export type Input = Record<string, unknown> & { [NULLS]?: readonly string[] }

const BOUNDS = { depth: JSON_DEPTH_MAX, containers: JSON_CONTAINERS_MAX, values: JSON_VALUES_MAX, shapes: JSON_SHAPES_MAX }

/** Looks through large bodies of an operation before they are parsed. */
export function bodyScanner(schema: Schema): JsonScanner {
  return new JsonScanner(knownMembers(schema), BOUNDS)
}

/**
 * @param body is changed: where it is large, members that the operation does not know become spaces
 * @throws ServiceError 400, or 503 where nobody waits any more
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
    throw serviceError('invalidJson', hintOfBody(placeOf(error as Error)))
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw serviceError('invalidJson', hintOfBody(Array.isArray(parsed) ? 'a list came' : 'a single value came'))
  const input = parsed as Input
  const nulls = Object.keys(input).filter((name) => input[name] === null)
  settle(input, 1)
  if (nulls.length > 0) input[NULLS] = nulls
  return input
}

function look(scanner: JsonScanner, text: Buffer, stop: StopWord | undefined): void {
  switch (scanner.scan(text, stop)) {
    case 'invalid':
      throw serviceError('invalidJson', hintOfBody('it is not JSON'))
    case 'depth':
      throw tooDeep()
    case 'containers':
      throw badRequest(`JSON has more than ${JSON_CONTAINERS_MAX} objects and lists`)
    case 'values':
      throw badRequest(`JSON has more than ${JSON_VALUES_MAX} values`)
    case 'shapes':
      throw badRequest(`JSON has more than ${JSON_SHAPES_MAX} different members or orders of them`)
    case 'stopped':
      throw serviceError('deadline')
    case 'good':
  }
}

function hintOfBody(came: string): string {
  return `The body is expected to be a JSON object; ${came}.`
}

/** The parser's own message quotes what came, which may be a secret: its position is enough. */
function placeOf({ message }: Error): string {
  const [, position] = /at position (\d+)/.exec(message) ?? []
  return position === undefined ? 'it is not JSON' : `it is not JSON at character ${Number(position) + 1}`
}

function tooDeep(): Error {
  return badRequest(`JSON is nested deeper than ${JSON_DEPTH_MAX} levels`)
}

/**
 * Settles in place what holds for every body: null counts as absent, and nesting is bounded. The name
 * `__proto__` is one like others: JSON.parse makes it an ordinary field, and nothing copies fields by
 * assignment, which would make it a prototype.
 */
function settle(value: Input | unknown[], depth: number): void {
  if (depth > JSON_DEPTH_MAX) throw tooDeep()
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) settle(item as Input, depth + 1)
    return
  }
  for (const key of Object.keys(value)) {
    const field = value[key]
    if (field === null) delete value[key]
    else if (typeof field === 'object') settle(field as Input, depth + 1)
  }
}

/**
 * Adds to `input` what the query string says and the body did not. Texts become what the field's schema asks for where they can; what can't be converted is left for the
 * validation to refuse. A repeated parameter is a list.
 */
export function addQuery(input: Input, query: string, fields: Readonly<Record<string, Schema>>): void {
  if (query === '') return
  const parameters = new URLSearchParams(query)
  if (parameters.size > QUERY_PARAMETERS_MAX) throw badRequest(`more than ${QUERY_PARAMETERS_MAX} query parameters`)
  const given = new Set(Object.keys(input))
  for (const name of new Set(parameters.keys())) {
    if (given.has(name)) continue
    // No operation has a field of this name: unknown, and an assignment would make it a prototype.
    if (name === '__proto__') continue
    const texts = parameters.getAll(name)
    const type = fields[name]?.type
    if (type === 'array') input[name] = texts.length === 1 ? splitList(texts[0]!) : texts
    else if (texts.length === 1 || type !== undefined) input[name] = convert(texts.at(-1)!, type)
    else input[name] = texts
  }
}

/** Path parameters: name, value, name, value ... They win over everything. */
export function addParams(input: Input, params: readonly string[]): void {
  for (let i = 0; i < params.length; i += 2) input[params[i]!] = params[i + 1]
}

function splitList(text: string): string[] {
  return text.split(',').filter((item) => item !== '')
}

function convert(text: string, type: Schema['type']): unknown {
  switch (type) {
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
    case 'boolean':
      if (text === 'true' || text === '1') return true
      if (text === 'false' || text === '0') return false
      return text
    case 'object':
      return parseObject(text)
    default:
      return text
  }
}

/** A JSON object in a parameter, e.g. `filterMeta={"a":["b"]}`; the text itself when it is none. */
function parseObject(text: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof parsed === 'object' && parsed !== null) settle(parsed as Input, 1)
  return parsed
}
