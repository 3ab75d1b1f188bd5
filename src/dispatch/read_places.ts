/**
 * Where a batch of reads runs: read lanes, and the point lane beside searches. Searches leave one place to
 * the others, so that a point read never waits for a search. Front-end thread only.
 */
import { BATCH_REQUESTS_MAX, BATCH_SEARCHES_MAX, SHARE_POINTS_MIN } from '../limits/dispatch.js'
import type { LanePool } from './lane_pool.js'
import type { LanePools } from './lane_pools.js'

/** The classes that share the read lanes. */
export const READ_CLASSES = ['point', 'search', 'prepare'] as const
export type ReadClass = (typeof READ_CLASSES)[number]

const SHARE_MAX = { point: BATCH_REQUESTS_MAX, search: BATCH_SEARCHES_MAX, prepare: BATCH_REQUESTS_MAX } as const
// A queue is not dealt over more workers than pays: waking a second one costs more than this much of the
// class's work.
const SHARE_MIN = { point: SHARE_POINTS_MIN, search: 1, prepare: 1 } as const

export class ReadPlaces {
  #searchTasks = 0
  #searches = 0

  /** @param searchesMax that the operator allows at a time; 0: as many as there are places */
  constructor(readonly searchesMax: number) {}

  /** A batch of searches has begun. */
  begin(searches: number): void {
    this.#searchTasks += 1
    this.#searches += searches
  }

  end(searches: number): void {
    this.#searchTasks -= 1
    this.#searches -= searches
  }

  /** Null: the class waits. */
  placeFor(queue: ReadClass, pools: LanePools): LanePool | null {
    if (queue === 'point' && this.#searchTasks > 0) return placeBesideSearches(pools)
    const { read } = pools
    const isFull = queue === 'search' && (this.#searchTasks >= read.threads * read.tasksPerThread - 1 || this.searchesLeft() <= 0)
    return read.freeTasks > 0 && !isFull ? read : null
  }

  /** How many of the requests that wait go out in one batch, where so many task places are free. */
  shareOf(queue: ReadClass, waiting: number, freeTasks: number): number {
    const most = queue === 'search' ? Math.min(SHARE_MAX.search, this.searchesLeft()) : SHARE_MAX[queue]
    return Math.min(most, Math.max(SHARE_MIN[queue], Math.ceil(waiting / freeTasks)))
  }

  /** That the operator allows beside those under way. */
  searchesLeft(): number {
    return this.searchesMax === 0 ? BATCH_SEARCHES_MAX : this.searchesMax - this.#searches
  }
}

/**
 * Where no point read waits for a search: on the point lane, or on a read lane that has nothing to do. Until
 * the point lane is there, wherever there is room.
 */
function placeBesideSearches(pools: LanePools): LanePool | null {
  const point = pools.point()
  if (point === null) return pools.read.freeTasks > 0 ? pools.read : null
  if (point.hasIdleWorker) return point
  if (pools.read.hasIdleWorker) return pools.read
  return point.freeTasks > 0 ? point : null
}
