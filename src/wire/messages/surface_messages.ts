/**
 * Messages between a surface in a thread of its own and the front end, on their port. The surface sends the
 * name of an operation and an input in one of the forms (form.ts). Bodies are buffers of their own; long ones
 * are transferred.
 */
import type { MessagePort } from 'node:worker_threads'
import type { AskedIdentity, Identity, Principal } from '../../access/principal.js'
import type { ErrorCode } from '../../errors.js'
import type { ForwardedLines } from '../../telemetry/audit.js'
import type { Facts } from '../answer.js'
import type { DetachReason } from '../body_streams.js'
import type { EncodedInput } from '../form.js'
import type { TlsFiles } from '../tls_files.js'
import type { ThreadOrder, ThreadReport } from './thread_calls.js'

export type SurfaceRequest =
  /**
   * `id`: assigned by the surface, unique among its current requests. `deadlineMs`: from now on; replaces a
   * later deadline of the row. `address`: of the client, behind the proxies that the surface trusts; absent
   * if it is not known or not needed.
   */
  | {
      readonly kind: 'ask'
      readonly id: number
      readonly operation: string
      readonly input: EncodedInput
      readonly principal: Principal
      readonly deadlineMs?: number | undefined
      readonly address?: string | undefined
      /** What the client says that it is; with `address` where audit events need it. */
      readonly agent?: string | undefined
    }
  /** Asks who a credential belongs to. `id`: as for `ask`. */
  | { readonly kind: 'identify'; readonly id: number; readonly asked: AskedIdentity }
  /** From the server's own threads: events without their times. */
  | { readonly kind: 'audit'; readonly lines: ForwardedLines }
  /** A token or API key was refused; `ip` is the address of the client. */
  | { readonly kind: 'authFailure'; readonly ip: string }
  /** Requests the next part of an answer that has more. */
  | { readonly kind: 'more'; readonly id: number }
  /**
   * The thread has these answers, or parts of answers, of at least PORT_TRANSFER_BYTES_MIN bytes. `buffers`:
   * of answers that it has read, transferred.
   */
  | { readonly kind: 'taken'; readonly ids: readonly number[]; readonly buffers: readonly ArrayBuffer[] }
  /** A pushed answer: the head was written, and the client waits. */
  | { readonly kind: 'attached'; readonly id: number }
  /** What clients have taken of pushed answers: id and bytes in turn. */
  | { readonly kind: 'pushTaken'; readonly acks: readonly number[] }
  /** The client of a pushed answer does not take any more. */
  | { readonly kind: 'detached'; readonly id: number; readonly reason: DetachReason }
  /** Nobody waits for the answer, or for the rest of it, any more. */
  | { readonly kind: 'cancel'; readonly id: number }
  /**
   * `listening`: the surface listens on the address, as it is printed. `refused`: it cannot listen; the
   * reason is one line.
   */
  | { readonly kind: 'listening'; readonly address: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** After `drain`: the surface has no current request any more. */
  | { readonly kind: 'drained' }
  /** From threads that run operations. */
  | ThreadReport
  /** The answer to `serve` with this number. */
  | { readonly kind: 'served'; readonly number: number }

/** What the core replies to a request of the surface. */
export type CoreReply =
  | {
      readonly kind: 'answer'
      readonly id: number
      /** Null: a success. */
      readonly code: ErrorCode | null
      /** Null: JSON. */
      readonly contentType: string | null
      readonly facts: Facts
      readonly isCompressed: boolean
      readonly body: Uint8Array
      /** The body stays the same until the server ends. */
      readonly isPage: boolean
      /** More can be requested, or must be cancelled. */
      readonly hasMore: boolean
      /** Present if the body is pushed. */
      readonly pushed?: { readonly pulse: Uint8Array; readonly farewell: Uint8Array | undefined }
    }
  /** Pieces of pushed answers, each with the ids of the requests that it answers. */
  | { readonly kind: 'pushed'; readonly pieces: readonly (readonly [bytes: Uint8Array, ids: readonly number[]])[] }
  /** The producer of a pushed answer has ended it; incomplete: the client is to notice. */
  | { readonly kind: 'pushEnd'; readonly id: number; readonly isComplete: boolean }
  /** The answer to `identify`. Null: nobody's; a code: it can't be said now. */
  | { readonly kind: 'identity'; readonly id: number; readonly identity: Identity | null | ErrorCode }

export type SurfaceReply =
  | CoreReply
  /** For threads that run operations. */
  | ThreadOrder
  /** For event loops of HTTP: close further connections of these clients, and of no others. */
  | { readonly kind: 'crowded'; readonly clients: readonly string[] }
  /** No new connections; current requests are completed. */
  | { readonly kind: 'drain' }
  /** The thread ends now, with its connections. */
  | { readonly kind: 'end' }
  /** For threads that read the store: read this generation from now on, or none, and answer `served`. */
  | { readonly kind: 'serve'; readonly number: number; readonly generation: string | null }
  /** For threads that listen with TLS: accept connections with this pair from now on. */
  | { readonly kind: 'renew'; readonly files: TlsFiles }

/** The `workerData` of a surface's thread. */
export interface SurfaceStart {
  readonly port: MessagePort
  /** The surface's own options: addresses, limits. */
  readonly options: unknown
}
