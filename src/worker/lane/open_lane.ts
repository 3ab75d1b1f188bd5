/** An open lane, and the generation that it has opened beside the one that it serves. */
import type { TruthStore } from '../../store/truth_store.js'
import type { LaneContext, WriteLane } from '../request/handler.js'

/** As `openLane` of context.ts returns it to lane.ts. It can run requests that need no index. */
export interface OpenLane {
  readonly context: LaneContext
  /** Name of the generation that it serves. */
  readonly generation: string
  /** On the write lane only. */
  readonly writeLane?: WriteLane
  /** Settles when this lane's share of the index is built. The lane is ready then. */
  readonly indexed: Promise<void>
  /** Ends the background work of the lane. The stores stay open. */
  settle(): Promise<void>
  /** Settles when everything acknowledged is on disk and the stores are closed. */
  close(): Promise<void>
}

export interface NextGeneration {
  readonly generation: string
  readonly store: TruthStore
}
