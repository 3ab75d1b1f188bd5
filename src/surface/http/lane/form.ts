/**
 * The lane's half of the HTTP surface. It builds the input from JSON body, query string and path parameters,
 * and compresses large text bodies. The input of GET comes from the query string alone. Other input comes
 * from the JSON body, and from the query string for fields that the body lacks. Lane threads only.
 */
import { gzipSync } from 'node:zlib'
import { badRequest } from '../../../errors.js'
import { GZIP_BYTES_MIN } from '../../../limits/documents.js'
import { MIB } from '../../../limits/units.js'
import type { Schema } from '../../../operations/row/json_schema.js'
import type { FormReader } from '../../../worker/request/form_reader.js'
import { type Input, parseBody, scannerOf, settle } from '../../../worker/request/input.js'

/**
 * Larger answers are not compressed: gzip would occupy a lane for over 0.3 s, and memory for a second copy.
 */
const GZIP_BYTES_MAX = 32 * MIB
/** Parameters in one query string. Headers end at 8 KB, so a query has at most 4 000 of two bytes. */
const QUERY_PARAMETERS_MAX = 512

export const httpForm: FormReader = {
  read(operation, { body, head, params }, stop) {
    const input = parseBody(body, scannerOf(operation), stop, operation.dropsInvalidText)
    addQuery(input, head, operation.input.properties ?? {})
    addParams(input, params)
    return input
  },

  compress({ contentType = null, isPart }, body) {
    const isWorthIt = body.length >= GZIP_BYTES_MIN && body.length <= GZIP_BYTES_MAX
    // Level 1 saves half as much as level 6 in a quarter of its time. Lane time is the scarce resource.
    return isPart !== true && isWorthIt && isText(contentType) ? gzipSync(body, { level: 1 }) : null
  },
}

/** Null is JSON. Types that are already compressed (zip, gzip) are not worth compressing again. */
function isText(contentType: string | null): boolean {
  return contentType === null || contentType.startsWith('text/') || contentType.includes('json') || contentType.includes('javascript')
}

/**
 * Adds to `input` the fields of the query string that the body does not have. Values are converted to the
 * type of the field's schema if possible; validation refuses those that can't be converted. A repeated
 * parameter is a list.
 */
function addQuery(input: Input, query: string, fields: Readonly<Record<string, Schema>>): void {
  if (query === '') return
  const parameters = new URLSearchParams(query)
  if (parameters.size > QUERY_PARAMETERS_MAX) throw badRequest(`more than ${QUERY_PARAMETERS_MAX} query parameters`)
  const given = new Set(Object.keys(input))
  for (const name of new Set(parameters.keys())) {
    if (given.has(name)) continue
    // No operation has a field of this name: it is unknown, and assigning it would set the prototype.
    if (name === '__proto__') continue
    const texts = parameters.getAll(name)
    const type = fields[name]?.type
    if (type === 'array') input[name] = texts.length === 1 ? splitList(texts[0]!) : texts
    else if (texts.length === 1 || type !== undefined) input[name] = convert(name, texts.at(-1)!, type)
    else input[name] = texts
  }
}

/** Adds path parameters: name, value, name, value ... They override all other values. */
function addParams(input: Input, params: readonly string[]): void {
  for (let i = 0; i < params.length; i += 2) input[params[i]!] = params[i + 1]
}

function splitList(text: string): string[] {
  return text.split(',').filter((item) => item !== '')
}

function convert(name: string, text: string, type: Schema['type']): unknown {
  switch (type) {
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
    case 'boolean':
      if (text === 'true' || text === '1') return true
      if (text === 'false' || text === '0') return false
      return text
    case 'object':
      return parseObject(name, text)
    default:
      return text
  }
}

/** Parses a JSON object in a parameter, e.g. `filterMeta={"a":["b"]}`; returns the text if it is not JSON. */
function parseObject(name: string, text: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof parsed === 'object' && parsed !== null) settle(parsed as Input, 1, name)
  return parsed
}
