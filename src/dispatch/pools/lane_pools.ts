/** The pools of lanes to which the dispatcher sends batches. */
import type { LanePool } from './lane_pool.js'

/** The pools. `point`, `bulk` and `long` are started on first use. */
export interface LanePools {
  readonly read: LanePool
  readonly write: LanePool
  /** Null while the lane starts, or can't. */
  point(): LanePool | null
  /** Null: it could not be opened a moment ago. */
  bulk(): LanePool | null
  long(): LanePool | null
  /**
   * Makes every lane serve the generation.
   * @throws Error if the switch failed and the previous generation is still served
   */
  switchTo(generation: string, keepsAccounts: boolean): Promise<void>
}
