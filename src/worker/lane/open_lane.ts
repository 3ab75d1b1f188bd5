/** An open lane, and the generation that it has opened beside the one that it serves. */
import type { TruthStore } from '../../store/truth_store.js'
import type { LaneContext, WriteLane } from '../request/handler.js'

/** An open lane: what `openLane` of context.ts gives to lane.ts. It can run what needs no index. */
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
