/**
 * The connections of one event loop: their number, in memory shared by the loops, and the clients whose
 * further ones are closed at once (connection_watch.ts). One object for each event loop.
 */
import { addressKeyOf } from '../../access/client_key.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { LoopBlock } from '../../wire/loop_block.js'

export class LoopConnections {
  readonly #open: Int32Array
  #crowded: ReadonlySet<string> = new Set()

  constructor(
    loops: LoopBlock,
    readonly loop: number,
    readonly telemetry: Telemetry,
  ) {
    this.#open = loops.connections()
  }

  /** @param clients as access/client_key.ts makes them */
  refuse(clients: readonly string[]): void {
    this.#crowded = new Set(clients)
  }

  /** @returns whether the connection may stay open; `closed` follows in either case */
  opened(address: () => ArrayBuffer): boolean {
    Atomics.add(this.#open, this.loop, 1)
    if (this.#crowded.size === 0 || !this.#crowded.has(addressKeyOf(new Uint8Array(address())))) return true
    this.telemetry.add('connections_refused', 1)
    return false
  }

  closed(): void {
    Atomics.sub(this.#open, this.loop, 1)
  }
}
