/**
 * The background work of the write lane, one line per chore. The write lane starts the chores when it opens
 * and stops them when it closes. Each chore puts its changes into the commit queue as ordinary work, in
 * slices. Write lane only.
 */
import type { Service } from '../../services.js'
import { accessTracking } from './access_tracking.js'
import { eventMinutes } from './event_minutes.js'
import { expiry } from './expiry.js'
import { indexCompletion } from './index_completion.js'
import { indexWatch } from './index_watch.js'
import type { LaneWork } from './lane_work.js'
import type { MemoryEnds } from './memory_ends.js'
import { purge } from './purge.js'
import { keyRotation } from './rotation.js'
import { storeComparison } from './scrub.js'

export interface LaneChoreParts extends LaneWork {
  /** Maximum number of rows of deleted collections that a commit group removes. */
  readonly purgeRowsMax: () => number
  /** Whether a full index build is running. */
  readonly isIndexBuilding: () => boolean
  /** Learns of sessions of memory that have ended. */
  readonly memoryEnds: MemoryEnds
  /** Receives the number of findings of the comparison so far. */
  readonly onFindings: (count: number) => void
  /** Called when the process must not continue. */
  readonly onFatal: (reason: string) => void
}

export function laneChores(parts: LaneChoreParts): readonly Service[] {
  const { lane, purgeRowsMax, isIndexBuilding, memoryEnds, onFindings, onFatal } = parts
  const { temporal, encryption } = lane.config
  return [
    expiry(parts),
    memoryEnds.chore,
    purge(parts, purgeRowsMax),
    storeComparison(parts, onFindings),
    indexCompletion(parts, isIndexBuilding),
    indexWatch(parts, onFatal),
    ...(temporal ? [eventMinutes(parts)] : []),
    ...(lane.accesses === undefined ? [] : [accessTracking(parts, lane.accesses)]),
    ...(encryption === null ? [] : [keyRotation(parts)]),
  ]
}
