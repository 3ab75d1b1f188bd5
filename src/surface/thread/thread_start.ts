/**
 * What the thread of a surface is started with: plain values and shared memory.
 * src/programs/surface_thread.ts makes of it what the thread needs of the core.
 */
import type { Config } from '../../config/config.js'
import type { Surface } from '../../dispatch/surface.js'
import { logMemory } from '../../telemetry/log.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import type { SurfaceHost } from '../host.js'

export interface SurfaceThreadStart {
  readonly config: Config
  readonly surface: Surface
  /** Shared by all threads: src/wire/control_block.ts, telemetry/registry.ts, telemetry/log.ts. */
  readonly control: SharedArrayBuffer
  readonly telemetry: SharedArrayBuffer
  readonly log: SharedArrayBuffer
  /** Shared by all that serve clients: src/access/rate_limit.ts. Null: there is no rate limit. */
  readonly rateLimit: SharedArrayBuffer | null
  /** The generation of the store to read; null: none yet. */
  readonly generation: string | null
  /** One word, in which the thread says which row of counters it has claimed (`CounterRow`). */
  readonly row: SharedArrayBuffer
  /** Of a socket that listens, for the thread to close; null: the thread accepts no connections. */
  readonly descriptor: number | null
  /** Null: connections are not encrypted. */
  readonly tls: TlsFiles | null
  /** What the surface itself passes to its thread. */
  readonly own: unknown
}

/** The row of counters of a thread, which the front end releases when the thread has ended. */
export class CounterRow {
  readonly #word: Int32Array

  constructor(readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.#word = new Int32Array(buffer)
  }

  note(row: number): void {
    Atomics.store(this.#word, 0, row + 1)
  }

  /** @returns the row that a thread which has ended had; -1: none */
  take(): number {
    return Atomics.exchange(this.#word, 0, 0) - 1
  }
}

/** Front-end thread, at each start of the surface's thread. */
export function threadStart(host: SurfaceHost, row: CounterRow, descriptor: number | null, own: unknown): SurfaceThreadStart {
  const { config, dispatcher, telemetry, surface, rateLimit, credentials } = host
  return {
    config,
    surface,
    control: dispatcher.control.buffer,
    telemetry: telemetry.buffer,
    log: logMemory(),
    rateLimit: rateLimit?.memory ?? null,
    generation: dispatcher.served.generation,
    row: row.buffer,
    descriptor,
    tls: credentials?.files ?? null,
    own,
  }
}
