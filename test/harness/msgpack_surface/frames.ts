/** Frames of the surface's socket: u32 LE number of bytes, then one MessagePack value. */
import { pack, unpack } from 'msgpackr'

/** Name of an operation at which the thread of the surface ends, as if it had failed. */
export const END_THREAD = 'end the thread'

/**
 * A request of a client. `input`: the fields of the operation. `wants`: the requested `parts` of an answer;
 * all if absent.
 */
export interface Asked {
  readonly id: number
  readonly operation: string
  readonly input: unknown
  readonly parts?: number
  /** On whose behalf; default: nobody's. */
  readonly user?: string
}

export interface Answered {
  readonly id: number
  readonly code: string | null
  readonly facts: readonly string[]
  readonly contentType: string | null
  readonly body: Uint8Array
}

export function frameOf(value: unknown): Buffer {
  const packed = pack(value)
  const frame = Buffer.allocUnsafe(4 + packed.length)
  frame.writeUInt32LE(packed.length, 0)
  packed.copy(frame, 4)
  return frame
}

/** Collects chunks of a socket and returns the complete values. */
export class FrameReader {
  #rest = Buffer.alloc(0)

  take(chunk: Buffer): unknown[] {
    this.#rest = Buffer.concat([this.#rest, chunk])
    const values: unknown[] = []
    while (this.#rest.length >= 4 && this.#rest.length >= 4 + this.#rest.readUInt32LE(0)) {
      const end = 4 + this.#rest.readUInt32LE(0)
      values.push(unpack(this.#rest.subarray(4, end)))
      this.#rest = this.#rest.subarray(end)
    }
    return values
  }
}
