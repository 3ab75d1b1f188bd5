/**
 * The parameters of a lane when its thread starts (`workerData`): plain values and shared memory only. The
 * front end makes them, the lane reads them.
 */
import type { Config } from '../../config/config.js'
import type { BlockMemory } from '../envelope_blocks.js'

/**
 * `read`: point, search and preparation of writes. `point`: point only, beside searches. `write`: the one
 * thread that commits. `bulk`: heavy work. `long`: work that waits for files: backups, restores.
 */
export type LaneKind = 'read' | 'point' | 'write' | 'bulk' | 'long'

export interface LaneStart {
  readonly kind: LaneKind
  readonly config: Config
  /** Phase of the server and one stop word per request: src/wire/control_block.ts. */
  readonly control: SharedArrayBuffer
  /** The data directory cannot be written: its stores are only read. */
  readonly isReadOnly: boolean
  /** One row of counters per thread: src/telemetry/registry.ts. */
  readonly telemetry: SharedArrayBuffer
  /** Level and switches of the log: src/telemetry/log.ts. */
  readonly log: SharedArrayBuffer
  /** A ring of reads per thread: src/telemetry/access_rings.ts; null if nothing is tracked. */
  readonly accesses: SharedArrayBuffer | null
  /** Counts of searches by query: src/telemetry/search_counts.ts; null if they are not counted. */
  readonly searches: SharedArrayBuffer | null
  /** The active provider of vectors: src/wire/embedding_block.ts. */
  readonly embedding: SharedArrayBuffer
  /**
   * Blocks for the requests of all lanes of the pool; null on the write and bulk lanes:
   * src/wire/envelope_blocks.ts.
   */
  readonly requests: BlockMemory | null
}
