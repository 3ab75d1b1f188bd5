/**
 * Messages between the front end and a thread that runs operations of cost `thread`, on the thread's port.
 * Requests that arrive in one turn of the event loop cross together, and so do answers: their bodies lie one
 * after the other in one buffer, which is transferred. A request with a long body crosses alone, with the
 * buffer in which it was collected.
 */
import type { Principal } from '../../access/principal.js'
import type { PlainRights } from '../../access/rights.js'
import type { ErrorCode } from '../../errors.js'

/** On whose behalf a request runs. Requests of one principal share the object. */
export interface ThreadAsker {
  readonly principal: Omit<Principal, 'rights'>
  /** Of the principal. Null: it is no user. */
  readonly rights: PlainRights | null
}

export interface ThreadCall {
  /** Unique among the requests that the thread has. */
  readonly id: number
  readonly asker: ThreadAsker
  /** Address of the client and what it says that it is; empty if they are not known or not needed. */
  readonly address: string
  readonly agent: string
  /** Bytes of its body. */
  readonly bytes: number
}

export type ThreadOrder =
  | { readonly kind: 'run'; readonly calls: readonly ThreadCall[]; readonly bodies: Uint8Array<ArrayBuffer> }
  /** Nobody waits for the answer any more. */
  | { readonly kind: 'stop'; readonly id: number }

export interface ThreadAnswers {
  readonly kind: 'answers'
  readonly ids: readonly number[]
  /** Null: a success. The code decides the status only: the body is complete. */
  readonly codes: readonly (ErrorCode | null)[]
  /** Bytes of each body. */
  readonly bytes: readonly number[]
  readonly bodies: Uint8Array<ArrayBuffer>
}

/** `read`: the thread has read a long body, whose buffer it gives back. */
export type ThreadReport = ThreadAnswers | { readonly kind: 'read'; readonly buffer: ArrayBuffer }

/** A body in pieces, which are text or bytes of UTF-8. */
export type Pieces = readonly (string | Uint8Array)[]

/** @param bytesOf each body, in their order */
export function packBodies(bodies: readonly Pieces[], bytesOf: readonly number[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(bytesOf.reduce((sum, bytes) => sum + bytes, 0))
  const buffer = Buffer.from(packed.buffer)
  let at = 0
  for (const pieces of bodies)
    for (const piece of pieces) {
      if (typeof piece === 'string') at += buffer.write(piece, at)
      else {
        packed.set(piece, at)
        at += piece.length
      }
    }
  return packed
}

export function bytesOf(pieces: Pieces): number {
  return pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length), 0)
}
