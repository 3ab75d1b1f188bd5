/**
 * What a surface in a thread of its own and the front end send each other on their port. The surface asks by
 * the name of an operation and an input in MessagePack (msgpack_input.ts); bodies are buffers of their own,
 * transferred.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Principal } from '../access/principal.js'
import type { ErrorCode } from '../errors.js'
import type { Facts } from './answer.js'

export type SurfaceRequest =
  /**
   * `id`: the surface's, unique among its requests under way. `deadlineMs`: from now on, in place of a later
   * one of the row.
   */
  | {
      readonly kind: 'ask'
      readonly id: number
      readonly operation: string
      readonly input: Uint8Array
      readonly principal: Principal
      readonly deadlineMs?: number
    }
  /** The next part of an answer that has more. */
  | { readonly kind: 'more'; readonly id: number }
  /** Nobody waits for the answer, or for the rest of it, any more. */
  | { readonly kind: 'cancel'; readonly id: number }
  /** It listens, as it prints it; or can't, and the reason in one line. */
  | { readonly kind: 'listening'; readonly address: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Asked to drain, it has no request under way any more. */
  | { readonly kind: 'drained' }

export type SurfaceReply =
  | {
      readonly kind: 'answer'
      readonly id: number
      /** Null: a success. */
      readonly code: ErrorCode | null
      /** Null: JSON. */
      readonly contentType: string | null
      readonly facts: Facts
      readonly body: Uint8Array
      /** More can be asked for, or is to be cancelled. */
      readonly hasMore: boolean
    }
  /** No new connections; requests under way end. */
  | { readonly kind: 'drain' }

/** What the thread of a surface is given as `workerData`. */
export interface SurfaceStart {
  readonly port: MessagePort
  /** Of its own: addresses, limits. */
  readonly options: unknown
}
