/** Reads the body of a request: one JSON object. Unknown members are ignored, null counts as absent. */
import { isUtf8 } from 'node:buffer'
import { CATALOGUE } from '../../errors.js'
import { EXCESS_TEXTS, type JsonScan } from '../../wire/json_bounds.js'
import { BATCH_TEXT, NO_QUERY_TEXT } from './texts.js'

export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>> | undefined
  readonly operationName: string | undefined
}

/**
 * @param body members other than these three become spaces
 * @returns the text of the refusal for a body that is no request
 */
export function readRequest(body: Uint8Array, scan: JsonScan): GraphqlRequest | string {
  if (!isUtf8(body)) return CATALOGUE.invalidUtf8.text
  const verdict = scan(body)
  if (verdict === 'invalid') return CATALOGUE.invalidJson.text
  if (verdict !== 'good') return EXCESS_TEXTS[verdict]
  const read: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'))
  if (Array.isArray(read)) return BATCH_TEXT
  if (typeof read !== 'object' || read === null) return CATALOGUE.invalidJson.text
  const { query, variables, operationName } = read as Readonly<Record<string, unknown>>
  if (typeof query !== 'string' || query === '') return NO_QUERY_TEXT
  if (!isObject(variables ?? {})) return 'variables must be an object'
  if (typeof (operationName ?? '') !== 'string') return 'operationName must be a text'
  return {
    query,
    variables: (variables ?? undefined) as GraphqlRequest['variables'],
    operationName: (operationName ?? undefined) as string | undefined,
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
