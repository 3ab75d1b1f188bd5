/**
 * A call of a method, as its transport makes it: who asks, in which era, and how notifications reach the
 * client.
 */
import type { Principal } from '../../../access/principal.js'
import type { Era } from './era.js'

export interface Caller {
  readonly principal: Principal
  /** Of the client, behind the proxies that are trusted; empty if it is not known. */
  readonly address: string
  /** What the client says that it is; empty if audit events do not need it. */
  readonly agent: string
}

export interface Call {
  readonly era: Era
  readonly caller: Caller
  /** Aborts when the client cancels the request, or has gone. */
  readonly signal: AbortSignal
  /** Least level of messages that the client wants; null: none. */
  readonly logLevel: string | null
  /** As in CallContext. */
  readonly isStructured: boolean
  /** Sends a notification that belongs to the request. */
  notify(method: string, params: object): void
}

export interface Answered {
  /** A JSON-RPC response. */
  readonly text: string
  /** Of HTTP. */
  readonly status: number
}
