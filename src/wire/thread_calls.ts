/**
 * Messages between the front end and a thread that runs operations of cost `thread`, on a port of their own.
 * Requests that arrive in one turn of the event loop cross together, and so do answers.
 */
import type { Principal } from '../access/principal.js'
import type { PlainRights } from '../access/rights.js'
import type { ErrorCode } from '../errors.js'

export interface ThreadCall {
  /** Unique among the requests that the thread has. */
  readonly id: number
  /** Null: there is none. */
  readonly body: Uint8Array | null
  readonly principal: Omit<Principal, 'rights'>
  /** Of the principal. Null: it is no user. */
  readonly rights: PlainRights | null
  /** Address of the client and what it says that it is; empty if they are not known or not needed. */
  readonly address: string
  readonly agent: string
}

export type ThreadOrder =
  | { readonly kind: 'run'; readonly calls: readonly ThreadCall[] }
  /** Nobody waits for the answer any more. */
  | { readonly kind: 'stop'; readonly id: number }

export interface ThreadAnswer {
  readonly id: number
  /** Null: a success. The code decides the status only: the body is complete. */
  readonly code: ErrorCode | null
  readonly body: string | Uint8Array
}
