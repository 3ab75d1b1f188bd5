/**
 * What a lane is given when its thread starts (`workerData`): plain values and shared memory only. The front end makes it, `openLane` reads it.
 */
import type { Config } from '../config.js'

/** `read`: point, search and preparation of writes. `write`: the one thread that commits. `bulk`: heavy work. */
export type LaneKind = 'read' | 'write' | 'bulk'

export interface LaneStart {
  readonly kind: LaneKind
  readonly config: Config
  /** Phase of the server and one stop word per request: src/dispatch/control_block.ts. */
  readonly control: SharedArrayBuffer
  /** One row of counters per thread: src/telemetry/registry.ts. */
  readonly telemetry: SharedArrayBuffer
}
