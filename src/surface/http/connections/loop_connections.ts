/**
 * The connections of one event loop, or of the gate: their number, in memory shared by the loops, and the
 * clients whose further ones are closed at once (connection_watch.ts). One object for each listener.
 */
import type { Telemetry } from '../../../telemetry/registry.js'
import type { LoopBlock } from '../../../wire/loop_block.js'
import { admitsConnection } from '../../descriptors.js'

export class LoopConnections {
  #crowded: ReadonlySet<string> = new Set()

  constructor(
    readonly loops: LoopBlock,
    readonly loop: number,
    readonly telemetry: Telemetry,
  ) {}

  /** @param clients as access/client_key.ts makes them */
  refuse(clients: readonly string[]): void {
    this.#crowded = new Set(clients)
  }

  /**
   * @param client as access/client_key.ts makes it
   * @returns whether the connection may stay open; `closed` follows in either case
   */
  opened(client: () => string): boolean {
    this.loops.connectionOpened(this.loop)
    if (!admitsConnection()) return false
    if (this.#crowded.size === 0 || !this.#crowded.has(client())) return true
    this.telemetry.add('connections_refused', 1)
    return false
  }

  closed(): void {
    this.loops.connectionClosed(this.loop)
  }
}
