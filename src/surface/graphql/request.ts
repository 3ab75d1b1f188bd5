/** Reads the body of a request: one JSON object. Unknown members are ignored, null counts as absent. */
import { isUtf8 } from 'node:buffer'
import { ANY, type JsonScanner, type KnownMembers } from '../../engine/json_scan.js'
import { CATALOGUE } from '../../errors.js'
import { EXCESS_TEXTS } from '../../wire/json_bounds.js'
import { BATCH_TEXT, NO_QUERY_TEXT } from './texts.js'

export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>> | undefined
  readonly operationName: string | undefined
}

export const REQUEST_MEMBERS: KnownMembers = {
  kind: 'object',
  members: [
    ['query', ANY],
    ['variables', ANY],
    ['operationName', ANY],
  ],
  rest: null,
}

/**
 * @param body members that a request does not have become spaces
 * @param scanner of REQUEST_MEMBERS
 * @returns the text of the refusal for a body that is no request
 */
export function readRequest(body: Uint8Array, scanner: JsonScanner): GraphqlRequest | string {
  if (!isUtf8(body)) return CATALOGUE.invalidUtf8.text
  const verdict = scanner.scan(body)
  // Without a stop word nothing stops it.
  if (verdict === 'invalid' || verdict === 'stopped') return CATALOGUE.invalidJson.text
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
