/**
 * Chooses the next batch of reads and its lane: a read lane, or the point lane while searches run. Searches
 * leave one task slot to the other classes, so that a point read never waits for a search. Between surfaces,
 * turns decide, within one the time of arrival. Front-end thread only.
 */
import type { LanePool } from '../pools/lane_pool.js'
import type { LanePools } from '../pools/lane_pools.js'
import type { Ticket } from '../ticket.js'

/**
 * Requests of class point or prepare in one batch. With 200 us of work each, a cap of 16 kept p99 at 14 ms;
 * without a cap it was 147 ms.
 */
const BATCH_REQUESTS_MAX = 16
/**
 * Up to this many point reads go to one worker instead of being divided between two: 8 x 20 us of work is
 * about the cost of waking a second thread.
 */
const SHARE_POINTS_MIN = 8
/** Searches in one batch. At 1 to 2 ms each, the last one waits for at most 6 ms of others. */
export const BATCH_SEARCHES_MAX = 4

/** The classes that share the read lanes. */
const READ_CLASSES = ['point', 'search', 'prepare'] as const
export type ReadClass = (typeof READ_CLASSES)[number]

const SHARE_MAX = { point: BATCH_REQUESTS_MAX, search: BATCH_SEARCHES_MAX, prepare: BATCH_REQUESTS_MAX } as const
// The smallest share of a queue that goes to one worker. Waking a second worker costs more than running this
// many requests of the class.
const SHARE_MIN = { point: SHARE_POINTS_MIN, search: 1, prepare: 1 } as const

/** A batch of up to `requestsMax` requests that can run now. */
interface NextReads {
  readonly queue: ReadClass
  readonly pool: LanePool
  readonly requestsMax: number
}

/** The queues of the read classes, as the dispatcher has them. */
export interface WaitingReads {
  lengthOf(queue: ReadClass): number
  /**
   * The first request of the queue that is still wanted, of the surface with the lowest rank, if there is one
   * and it is not held back.
   */
  headOf(queue: ReadClass, rankOf: (surface: number) => number): Ticket | undefined
}

export class ReadScheduler {
  readonly #turns: SurfaceTurns
  #searchTasks = 0
  #searches = 0

  /**
   * @param searchesMax the operator's limit of concurrent searches; 0: as many as there are task slots
   * @param surfaces number of surfaces that clients can reach
   */
  constructor(
    readonly searchesMax: number,
    surfaces = 1,
  ) {
    this.#turns = new SurfaceTurns(surfaces)
  }

  /**
   * Returns the class with the head of the surface that was served least recently, of several the oldest,
   * evenly over the free task slots; null if no class has both a request and a lane. Its queue is at that
   * head.
   */
  next(waiting: WaitingReads, pools: LanePools): NextReads | null {
    let found: { readonly queue: ReadClass; readonly pool: LanePool } | null = null
    let leastRank = Infinity
    let oldestAt = Infinity
    for (const queue of READ_CLASSES) {
      const head = waiting.headOf(queue, this.#turns.rankOf)
      if (head === undefined) continue
      const rank = this.#turns.rankOf(head.surface.index)
      if (rank > leastRank || (rank === leastRank && head.queuedAt >= oldestAt)) continue
      const pool = this.poolFor(queue, pools)
      if (pool === null) continue
      found = { queue, pool }
      leastRank = rank
      oldestAt = head.queuedAt
    }
    if (found === null) return null
    const { queue, pool } = found
    return { queue, pool, requestsMax: this.shareOf(queue, waiting.lengthOf(queue), pool.freeTasks) }
  }

  /** Counts the surfaces of a batch as served. The point lane is no reason to wait for a read lane. */
  served(batch: readonly Ticket[], pool: LanePool, pools: LanePools): void {
    if (pool === pools.read) this.#turns.served(batch)
  }

  /** Counts a batch of searches that begins. */
  begin(searches: number): void {
    this.#searchTasks += 1
    this.#searches += searches
  }

  end(searches: number): void {
    this.#searchTasks -= 1
    this.#searches -= searches
  }

  /** Returns the pool for the next batch; null: the class waits. */
  poolFor(queue: ReadClass, pools: LanePools): LanePool | null {
    if (queue === 'point' && this.#searchTasks > 0) return poolBesideSearches(pools)
    const { read } = pools
    const isFull = queue === 'search' && (this.#searchTasks >= read.threads * read.tasksPerThread - 1 || this.searchesLeft() <= 0)
    return read.freeTasks > 0 && !isFull ? read : null
  }

  /**
   * Returns the number of waiting requests that go out in one batch, for the given number of free task slots.
   */
  shareOf(queue: ReadClass, waiting: number, freeTasks: number): number {
    const most = queue === 'search' ? Math.min(SHARE_MAX.search, this.searchesLeft()) : SHARE_MAX[queue]
    return Math.min(most, Math.max(SHARE_MIN[queue], Math.ceil(waiting / freeTasks)))
  }

  /** Returns how many more searches the operator's limit allows. */
  searchesLeft(): number {
    return this.searchesMax === 0 ? BATCH_SEARCHES_MAX : this.searchesMax - this.#searches
  }
}

/**
 * Returns a pool in which no point read waits for a search: the point lane, or a read lane that is idle.
 * Until the point lane has started, any read lane with a free task slot is used.
 */
function poolBesideSearches(pools: LanePools): LanePool | null {
  const point = pools.point()
  if (point === null) return pools.read.freeTasks > 0 ? pools.read : null
  if (point.hasIdleWorker) return point
  if (pools.read.hasIdleWorker) return pools.read
  return point.freeTasks > 0 ? point : null
}

/**
 * Which surface is next on the read lanes. Classes share these lanes, so the order of arrival alone would let
 * a flood of one class on one surface delay another class of another surface: the surface that was served
 * least recently comes first.
 */
class SurfaceTurns {
  /** Number of the last batch with a request of the surface, by its index. */
  readonly #servedAt: number[] = []
  #batches = 0

  /** @param surfaces number of surfaces that clients can reach; a single one has no turns */
  constructor(readonly surfaces: number) {}

  /** Lower: the surface was served less recently. */
  readonly rankOf = (surface: number): number => (this.surfaces > 1 ? (this.#servedAt[surface] ?? 0) : 0)

  served(batch: readonly Ticket[]): void {
    if (this.surfaces <= 1) return
    this.#batches += 1
    for (const { surface } of batch) this.#servedAt[surface.index] = this.#batches
  }
}
