/** The pools of lanes to which the dispatcher sends batches. */
import type { LanePool } from './lane_pool.js'

/** The pools. `point`, `bulk` and `long` are started on first use. */
export interface LanePools {
  readonly read: LanePool
  readonly write: LanePool
  /** Null while the lane starts. */
  point(): LanePool | null
  bulk(): LanePool
  long(): LanePool
  /**
   * Makes every lane serve the generation.
   * @throws Error if the switch failed and the previous generation is still served
   */
  switchTo(generation: string, keepsAccounts: boolean): Promise<void>
}
