/**
 * Bodies that are never whole in memory: a request body that a consumer processes as it arrives, and an
 * answer body that a producer pushes as it makes it. Types only: a surface implements the flow, an operation
 * implements the consumer or the producer. Front-end thread only.
 */

/** Why a request body ends before its last byte. */
export type BodyAbortReason =
  /** The client closed its connection. */
  | 'clientGone'
  /** The body is longer than the operation allows. */
  | 'tooLarge'
  /** The total size of all bodies exceeds the budget. */
  | 'overloaded'
  /** The consumer stayed full for longer than the limit. */
  | 'stalled'
  | 'shutdown'
  /** The request was answered before the end of its body. */
  | 'answered'

/**
 * Receives a request body chunk by chunk. `begin` comes first; exactly one of `end` and `abort` comes last.
 */
export interface BodyConsumer {
  /**
   * @param drained must be called after `write` returned false, once the consumer has processed that chunk
   */
  begin(drained: () => void): void
  /**
   * The chunk is valid until the consumer has processed it; then its memory is used for others.
   * @returns true: the consumer has processed the chunk. False: it keeps the chunk, which counts as buffered
   * until `drained`; nothing is written meanwhile.
   */
  write(chunk: Uint8Array): boolean
  /** The body is complete. The request still waits for its answer. */
  end(): void
  /** The body stays incomplete. The surface answers the request, except after `answered`. */
  abort(reason: BodyAbortReason): void
}

/** Why a producer must stop before it has ended its answer. */
export type DetachReason =
  /** The client closed its connection. */
  | 'clientGone'
  /**
   * The client reads more slowly than data is pushed: its unsent bytes reached the bound, or it read nothing
   * for too long.
   */
  | 'slowClient'
  | 'shutdown'
  /** The credential of the client is not valid any more. */
  | 'refused'

/** An answer body that its producer writes as it makes it. */
export interface PushedBody {
  /**
   * Bytes without meaning in the format of the body, a comment for example. They are written first, so that
   * the head of the answer is sent at once, and whenever nothing else was written for some seconds, so that
   * the connection stays open. At least one byte.
   */
  readonly pulse: Uint8Array
  /** Written last at a shutdown, behind everything that was pushed: when to come again, for example. */
  readonly farewell?: Uint8Array
  /**
   * Called once, after the head was written. If nobody receives a body (HEAD, the client has gone, the server
   * shuts down), `detach` is called instead.
   */
  attach(push: BodyPush): void
  /**
   * At most once, and not after the producer's own `end` or `close`. May be called inside of `write`, and
   * instead of `attach`.
   */
  detach(reason: DetachReason): void
  /** The client has received everything after a `write` returned false. */
  drained?(): void
}

/** The producer's operations on its answer. Every call after the end of the answer is ignored. */
export interface BodyPush {
  /**
   * Writes a piece as a whole; no pulse is inserted into it.
   * @param bytes must not be changed by the producer afterwards
   * @returns false: the client is behind. The piece is kept; above a bound the connection is closed. Also
   * false after the end.
   */
  write(bytes: Uint8Array): boolean
  /** The body is complete after the bytes written so far. */
  end(): void
  /** The body stays incomplete, and the client can detect this. */
  close(): void
}
