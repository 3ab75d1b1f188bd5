/**
 * The lane's half of the HTTP surface: the input is put together from JSON body, query string and path
 * parameters, and large texts are compressed. GET input comes from the query string alone, other input from
 * the JSON body and, for what is missing there, the query string. Lane threads only.
 */
import { gzipSync } from 'node:zlib'
import { badRequest } from '../../../errors.js'
import { GZIP_BYTES_MAX, GZIP_BYTES_MIN } from '../../../limits/answers.js'
import { QUERY_PARAMETERS_MAX } from '../../../limits/input.js'
import type { Schema } from '../../../operations/json_schema.js'
import type { FormReader } from '../../../worker/request/form_reader.js'
import { parseBody, scannerOf, settle, type Input } from '../../../worker/request/input.js'

export const httpForm: FormReader = {
  read(operation, { body, head, params }, stop) {
    const input = parseBody(body, scannerOf(operation), stop)
    addQuery(input, head, operation.input.properties ?? {})
    addParams(input, params)
    return input
  },

  compress({ contentType = null, isPart }, body) {
    const isWorthIt = body.length >= GZIP_BYTES_MIN && body.length <= GZIP_BYTES_MAX
    // Level 1: half of the size of level 6's saving for a quarter of its time, and the lane is what is
    // scarce.
    return isPart !== true && isWorthIt && isText(contentType) ? gzipSync(body, { level: 1 }) : null
  },
}

/** Null is JSON. What is packed already (zip, gzip) is not worth a second time. */
function isText(contentType: string | null): boolean {
  return contentType === null || contentType.startsWith('text/') || contentType.includes('json') || contentType.includes('javascript')
}

/**
 * Adds to `input` what the query string says and the body did not. Texts become what the field's schema asks
 * for where they can; what can't be converted is left for the validation to refuse. A repeated parameter is a
 * list.
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
