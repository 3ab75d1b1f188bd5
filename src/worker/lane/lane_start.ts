/**
 * What a lane is given when its thread starts (`workerData`): plain values and shared memory only. The front
 * end makes it, `openLane` reads it.
 */
import type { Config } from '../../config.js'
import type { BlockMemory } from '../../wire/envelope_blocks.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { LaneContext, WriteLane } from '../request/handler.js'

/**
 * `read`: point, search and preparation of writes. `point`: point only, beside searches. `write`: the one
 * thread that commits. `bulk`: heavy work. `long`: what waits for files: backups, restores.
 */
export type LaneKind = 'read' | 'point' | 'write' | 'bulk' | 'long'

export interface LaneStart {
  readonly kind: LaneKind
  readonly config: Config
  /** Phase of the server and one stop word per request: src/wire/control_block.ts. */
  readonly control: SharedArrayBuffer
  /** The data directory can't be written: its stores are only read. */
  readonly isReadOnly: boolean
  /** One row of counters per thread: src/telemetry/registry.ts. */
  readonly telemetry: SharedArrayBuffer
  /** Level and switches of the log: src/telemetry/log.ts. */
  readonly log: SharedArrayBuffer
  /** A ring of reads per thread: src/telemetry/access_rings.ts; null where nothing is tracked. */
  readonly accesses: SharedArrayBuffer | null
  /** Which provider makes vectors: src/wire/embedding_block.ts. */
  readonly embedding: SharedArrayBuffer
  /**
   * Blocks for the requests of all lanes of the pool; null on the write and bulk lanes:
   * src/wire/envelope_blocks.ts.
   */
  readonly requests: BlockMemory | null
}

/** An open lane: what `openLane` of context.ts gives to entry.ts. It can run what needs no index. */
export interface OpenLane {
  readonly context: LaneContext
  /** Name of the generation that it serves. */
  readonly generation: string
  /** On the write lane only. */
  readonly writeLane?: WriteLane
  /** Settles when this lane's share of the index is built. The lane is ready then. */
  readonly indexed: Promise<void>
  /** Ends what the lane does unasked; the stores stay open. */
  settle(): Promise<void>
  /** Settles when everything acknowledged is on disk and the stores are closed. */
  close(): Promise<void>
}

/** A generation that this lane has opened beside the one that it serves. */
export interface NextGeneration {
  readonly generation: string
  readonly store: TruthStore
}

/**
 * What the front end tells a lane on its port beside batches. `adopt` opens the generation where `open` was
 * not said, and is nothing where it is served already.
 */
export interface LaneOrder {
  readonly number: number
  readonly kind: 'open' | 'adopt' | 'drop'
  readonly generation: string
}
