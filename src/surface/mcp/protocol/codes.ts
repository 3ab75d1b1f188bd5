/**
 * Codes of errors: those of JSON-RPC 2.0, those of MCP, and refusals that a request meets before its method.
 */
import type { RpcError } from './message.js'

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
/** Refusals of the transport, which MCP leaves to servers. */
export const REFUSED = -32000
export const SESSION_NOT_FOUND = -32001
export const HEADER_MISMATCH = -32020
export const UNSUPPORTED_VERSION = -32022

/** A refusal with its status of HTTP. */
export interface Refusal extends RpcError {
  readonly status: number
}

export function refusal(status: number, code: number, message: string, data?: unknown): Refusal {
  return { status, code, message, ...(data === undefined ? {} : { data }) }
}
