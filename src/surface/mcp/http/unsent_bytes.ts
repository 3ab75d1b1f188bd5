/**
 * What clients have not read yet of large answers and of streams, over all of them. The answer that exceeds
 * the bound ends its connection: its client does not read. One object a thread.
 */
import type { ServerResponse } from 'node:http'
import { MCP_UNSENT_BYTES_MAX } from '../../../limits/mcp_transport.js'

export class UnsentBytes {
  #total = 0

  constructor(readonly bytesMax = MCP_UNSENT_BYTES_MAX) {}

  get total(): number {
    return this.#total
  }

  /**
   * Called before the bytes are written.
   * @returns false if they exceed the bound: the connection is to be closed
   */
  add(response: ServerResponse, bytes: number): boolean {
    if (this.#total + bytes > this.bytesMax) return false
    this.#total += bytes
    let isCounted = true
    const release = (): void => {
      if (isCounted) this.#total -= bytes
      isCounted = false
    }
    response.once('finish', release)
    response.once('close', release)
    return true
  }
}
