/**
 * JSON-RPC 2.0 messages of MCP: what a message from a client is, and the text of answers. Pure.
 */

export type RequestId = string | number

export interface Request {
  readonly id: RequestId
  readonly method: string
  /** Empty if the message has none. */
  readonly params: Params
}

export interface Notification {
  readonly method: string
  readonly params: Params
}

export type Params = Readonly<Record<string, unknown>>

export type Message =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'notification'; readonly notification: Notification }
  /** The server asks nothing of clients, so nothing waits for it. */
  | { readonly kind: 'response' }

const NO_PARAMS: Params = {}

/** @returns null for anything but one message of JSON-RPC 2.0 */
export function messageOf(value: unknown): Message | null {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return null
  const { id, method, params } = value
  if (method === undefined) return isRequestId(id) && ('result' in value || 'error' in value) ? { kind: 'response' } : null
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return null
  const given = params ?? NO_PARAMS
  if (!('id' in value)) return { kind: 'notification', notification: { method, params: given } }
  return isRequestId(id) ? { kind: 'request', request: { id, method, params: given } } : null
}

/** @returns the id to answer with: null where the message has no usable one */
export function idOf(value: unknown): RequestId | null {
  return isObject(value) && isRequestId(value['id']) ? value['id'] : null
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** @param result as JSON */
export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export function errorText(id: RequestId | null, { code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } })
}

export function notificationText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}
