/** The pools of lanes as the dispatcher deals to them. */
import type { LanePool } from './lane_pool.js'

/** The pools; `point` and `bulk` are started by their first use. */
export interface LanePools {
  readonly read: LanePool
  readonly write: LanePool
  /** Null while it starts. */
  point(): LanePool | null
  bulk(): LanePool
  long(): LanePool
  /** Makes every lane serve the generation. @throws Error when the one before is served as it was */
  switchTo(generation: string): Promise<void>
}
