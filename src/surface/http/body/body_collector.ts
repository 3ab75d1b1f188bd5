/**
 * Collects a request body into one buffer. The buffer is bounded by the operation's limit, and counted in the
 * budget of all bodies until the request is answered. Front-end thread only.
 */
import { KIB } from '../../../limits/units.js'
import type { LoopResources } from '../bounds/loop_resources.js'

/** First capacity of the buffer for a body of unknown length. It doubles up to the body bound. */
const BODY_FIRST_BYTES = 16 * KIB

/** The result of a chunk: more is expected, the body is complete, or the error code of its refusal. */
type Collected = 'more' | 'complete' | 'bodyTooLarge' | 'overloaded'

export class BodyCollector {
  #buffer: Uint8Array | null = null
  #bytes = 0
  #counted = 0

  constructor(
    readonly loop: Pick<LoopResources, 'bodies' | 'spare'>,
    readonly bytesMax: number,
    /** The Content-Length; -1 if there is none. */
    readonly declaredBytes: number,
  ) {}

  /** @param chunk is copied, because uWS detaches it when its callback returns */
  take(chunk: Uint8Array, isLast: boolean): Collected {
    const bytes = this.#bytes + chunk.length
    if (bytes > this.bytesMax) return 'bodyTooLarge'
    if (!this.loop.bodies.take(chunk.length)) return 'overloaded'
    this.#counted += chunk.length
    if (isLast && this.#bytes === 0) {
      // The usual case: one chunk, one copy.
      this.#buffer = chunk.length === 0 ? null : new Uint8Array(chunk)
    } else {
      this.#buffer = this.#reserve(bytes)
      this.#buffer.set(chunk, this.#bytes)
    }
    this.#bytes = bytes
    return isLast ? 'complete' : 'more'
  }

  /** Passes ownership of the complete body; null if it is empty. Its bytes stay counted until `release`. */
  giveAway(): Uint8Array | null {
    const body = this.#bytes === 0 ? null : this.#buffer!.subarray(0, this.#bytes)
    this.#buffer = null
    return body
  }

  release(_reason: 'answered' | 'clientGone'): void {
    this.#keep(this.#buffer)
    this.#buffer = null
    this.loop.bodies.give(this.#counted)
    this.#counted = 0
  }

  /**
   * Returns the buffer, grown if necessary. It doubles with the bytes received, and a spare one is at most
   * twice as long. Neither is sized by the declared length, because declaring a length costs the client
   * nothing.
   */
  #reserve(bytes: number): Uint8Array {
    const old = this.#buffer
    if (old !== null && bytes <= old.length) return old
    const announced = this.declaredBytes > 0 ? this.declaredBytes : this.bytesMax
    const capacity = Math.max(bytes, (old?.length ?? 0) * 2, BODY_FIRST_BYTES)
    const wanted = Math.min(capacity, Math.max(bytes, announced))
    const grown = this.loop.spare.take(bytes) ?? new Uint8Array(wanted)
    if (old !== null) grown.set(old.subarray(0, this.#bytes))
    this.#keep(old)
    return grown
  }

  #keep(buffer: Uint8Array | null): void {
    if (buffer !== null) this.loop.spare.keep(buffer.buffer)
  }
}
