/** The body of a request: collected up to a bound, of one body and of all together. */
import type { IncomingMessage } from 'node:http'
import { MIB } from '../../../limits/units.js'
import { type Refusal, refusal, REFUSED } from '../protocol/codes.js'

/** Bytes of all bodies that are being read, or wait for their answer: four of the largest. */
const MCP_BODIES_BYTES_MAX = 128 * MIB

export class Bodies {
  #bytes = 0

  /**
   * @param bytesMax of one body
   * @param allBytesMax of all that are being read
   */
  constructor(
    readonly bytesMax: number,
    readonly allBytesMax = MCP_BODIES_BYTES_MAX,
  ) {}

  /** Resolves with the whole body, or a refusal; null: the client has gone. */
  read(request: IncomingMessage): Promise<Buffer | Refusal | null> {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > this.bytesMax) return Promise.resolve(this.#tooLarge())
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      let bytes = 0
      let isSettled = false
      const settle = (outcome: Buffer | Refusal | null): void => {
        if (isSettled) return
        isSettled = true
        this.#bytes -= bytes
        resolve(outcome)
      }
      request.on('data', (chunk: Buffer) => {
        // The rest of a refused body is read and thrown away, so that the client gets to read its answer.
        if (isSettled) return
        if (bytes + chunk.length > this.bytesMax) return settle(this.#tooLarge())
        if (this.#bytes + chunk.length > this.allBytesMax) return settle(refusal(503, REFUSED, 'server busy, please retry'))
        bytes += chunk.length
        this.#bytes += chunk.length
        chunks.push(chunk)
      })
      request.once('end', () => settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)))
      request.once('close', () => settle(null))
    })
  }

  #tooLarge(): Refusal {
    return refusal(413, REFUSED, `request body too large: at most ${this.bytesMax} bytes`)
  }
}
