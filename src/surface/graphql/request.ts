/** Reads the body of a request: one JSON object. Unknown members are ignored, null counts as absent. Pure. */
import { CATALOGUE } from '../../errors.js'
import { BATCH_TEXT, NO_QUERY_TEXT } from './texts.js'

export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>> | undefined
  readonly operationName: string | undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @returns the text of the refusal for a body that is no request */
export function readRequest(body: Uint8Array): GraphqlRequest | string {
  let read: unknown
  try {
    read = JSON.parse(utf8.decode(body))
  } catch (error) {
    return error instanceof SyntaxError ? CATALOGUE.invalidJson.text : CATALOGUE.invalidUtf8.text
  }
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
