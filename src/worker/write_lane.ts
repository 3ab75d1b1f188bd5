/**
 * The write lane: the only thread that commits. Commands queue, a group of them is decided and applied in one transaction, published to the index, and answered once it is on disk.
 *
 * A group takes everything that queued while the previous one was being written. A batch gives up its turn after every slice. Answers leave in LSN order.
 */
import { isUnfinishedIngest } from '../domain/bulk_ingest.js'
import type { NamedDocument } from '../dispatch/embedding_codec.js'
import { decodeCommand } from '../domain/commands.js'
import { joinBatch } from '../engine/index_batch.js'
import { encodeVectorBatch } from '../engine/vector_bytes.js'
import type { VectorChange } from '../engine/vector_types.js'
import { GROUP_DOCUMENTS_MAX, TRIM_ENTRIES_MAX } from '../limits.js'
import type { WriteTransaction } from '../store/apply.js'
import { unixSeconds } from '../store/truth_store.js'
import type { Writer } from '../store/writer.js'
import { workOf } from './commit_work.js'
import type { GroupEffects, Work } from './commit_work.js'
import type { Answer, LaneContext, WriteLane } from './handler.js'
import { abandonedIngestsWork, ingestChunkWork } from './ingest_work.js'
import { lostBodiesWork } from './lost_bodies.js'
import { maintenanceWork } from './maintenance.js'
import { trackingWork } from './access_tracking.js'
import { rotationWork } from './rotation.js'
import { indexMarkWork, unindexedWork } from './unindexed.js'

/** One command under way. */
interface Pending {
  readonly work: Work
  readonly finish: (answer: Answer) => void
  /** Its documents that want vectors. */
  readonly queued: NamedDocument[]
}

interface GroupResult {
  /** Commands whose last slice was in this group, in LSN order. */
  readonly finished: readonly Pending[]
  readonly indexOps: readonly Uint8Array[]
  readonly vectorOps: readonly VectorChange[]
  readonly sealings: GroupEffects['sealings']
  /** Ids of objects in memory that nothing refers to any more. */
  readonly released: readonly Buffer[]
  readonly lastLsn: bigint
  readonly isQueueChanged: boolean
}

export interface WriteLaneOptions {
  readonly writer: Writer
  /** The index refused a batch: it no longer equals the store and has to be rebuilt. The write itself stands. */
  readonly onIndexFailure: (error: unknown) => void
  /** The same of the vector engine. */
  readonly onVectorFailure: (error: unknown) => void
  /** Whether the index is being built as a whole. */
  readonly isIndexBuilding: () => boolean
  /** What a group has committed can be found from now on. */
  readonly onPublished: () => void
  /** So many documents wait for vectors. */
  readonly onQueueDepth: (depth: number) => void
}

export function createWriteLane(lane: LaneContext, options: WriteLaneOptions): WriteLane {
  return new CommitQueue(lane, options)
}

class CommitQueue implements WriteLane {
  readonly #lane: LaneContext
  readonly #options: WriteLaneOptions
  readonly #stopMaintenance: () => void
  readonly #finishTracking: (() => Promise<void>) | undefined
  readonly #stopRotation: () => void
  readonly #stopIndexing: () => void
  #queue: Pending[] = []
  /** -1 before the first group. */
  #publishedLsn = -1n
  /** Documents that wait for vectors. */
  #depth = 0
  /** Defined exactly while the queue is being worked off. */
  #running: Promise<void> | undefined

  constructor(lane: LaneContext, options: WriteLaneOptions) {
    this.#lane = lane
    this.#options = options
    this.#countQueued()
    this.#stopMaintenance = maintenanceWork(lane, (work) => this.#enqueue(work))
    this.#finishTracking = lane.accesses && trackingWork(lane.accesses, (work) => this.#enqueue(work))
    this.#stopRotation = rotationWork(lane, (work) => this.#enqueue(work))
    this.#stopIndexing = unindexedWork(lane, options.isIndexBuilding, (work) => this.#enqueue(work))
  }

  async commit(commands: readonly { readonly bytes: Uint8Array; readonly reply: (answer: Answer) => void }[]): Promise<void> {
    await Promise.all(
      commands.map(async ({ bytes, reply }) => {
        const command = decodeCommand(bytes)
        reply(await this.#enqueue(command.kind === 'ingestChunk' ? ingestChunkWork(this.#lane, command) : workOf(this.#lane, command)))
      }),
    )
  }

  async settleJobs(): Promise<void> {
    const lost = lostBodiesWork(this.#lane)
    if (lost !== undefined) await this.#enqueue(lost)
    const isLeft = this.#lane.store.read((view) => view.jobs('bulk').some(({ fields }) => isUnfinishedIngest(fields.status)))
    if (isLeft) await this.#enqueue(abandonedIngestsWork())
  }

  async noteUnindexed(): Promise<void> {
    await this.#enqueue(indexMarkWork(true))
  }

  async close(): Promise<void> {
    this.#stopMaintenance()
    await this.#finishTracking?.()
    this.#stopRotation()
    this.#stopIndexing()
    while (this.#running !== undefined) await this.#running
    const lastLsn = this.#publishedLsn
    await this.#options.writer.flushed()
    if (lastLsn >= 0n) this.#lane.engine.flushedTo(lastLsn)
  }

  #enqueue(work: Work): Promise<Answer> {
    return new Promise((finish) => {
      this.#queue.push({ work, finish, queued: [] })
      this.#running ??= this.#run()
    })
  }

  /**
   * Ends in the same turn in which it finds the queue empty, so that whatever is queued later starts a run of its own: were there an `await` in between, a command that comes meanwhile would
   * be left until the next one.
   */
  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const result = await this.#options.writer.group(unixSeconds, (transaction) => this.#fill(transaction))
      this.#publish(result)
      // Afterwards: where nothing waits any more, a search finds everything.
      if (result.isQueueChanged) this.#countQueued()
      this.#settle(result)
      // Answers leave and what has arrived meanwhile is queued before the next slice of a batch.
      if (this.#queue.length > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    this.#running = undefined
  }

  /** Inside the transaction: one slice of each waiting command, in order, until the group is full. */
  #fill(transaction: WriteTransaction): GroupResult {
    const effects: GroupEffects = { indexOps: [], vectorOps: [], sealings: [], queued: [], isQueueChanged: false }
    const finished: Pending[] = []
    const again: Pending[] = []
    let room = GROUP_DOCUMENTS_MAX
    let taken = 0
    for (const pending of this.#queue) {
      if (room <= 0) break
      room -= pending.work.weight
      taken++
      const before = effects.queued.length
      if (pending.work.run(transaction, effects)) again.push(pending)
      else finished.push(pending)
      for (const named of effects.queued.slice(before)) pending.queued.push(named)
    }
    this.#queue = [...this.#queue.slice(taken), ...again]
    transaction.trimBinlog(this.#lane.config.binlogBytesMax, TRIM_ENTRIES_MAX)
    const isQueueChanged = effects.isQueueChanged || effects.queued.length > 0
    return { finished, ...effects, isQueueChanged, released: transaction.released, lastLsn: transaction.nextLsn - 1n }
  }

  /** The clients are told; and the engine, once the group is on disk: no segment or live bit may be stored that knows of an entry which a power cut could take back. */
  #settle({ finished, released, lastLsn }: GroupResult): void {
    const { writer } = this.#options
    if (writer.isDurable) this.#lane.engine.flushedTo(lastLsn)
    else void writer.flushed().then(() => this.#lane.engine.flushedTo(lastLsn))
    // A reader whose snapshot is older finds that they are gone, and begins anew.
    for (const id of released) this.#lane.held.remove(id)
    const isFull = this.#depth > this.#lane.config.embeddingQueueSize
    for (const { work, finish, queued } of finished) finish(isFull && queued.length > 0 ? { ...work.answer(), queued } : work.answer())
  }

  #countQueued(): void {
    this.#depth = this.#lane.store.read((view) => view.vectors.queueDepth)
    this.#options.onQueueDepth(this.#depth)
  }

  /** After the commit and before the acknowledgement, so that a search that starts after a write was answered sees it. */
  #publish({ indexOps, vectorOps, sealings, lastLsn }: GroupResult): void {
    for (const { collection, isSealed } of sealings) {
      this.#lane.engine.setSealed(collection, isSealed)
      this.#lane.vectorEngine.setSealed(collection, isSealed)
    }
    // Without ops, too: the index's checkpoint follows the binlog, and the binlog may be trimmed behind it.
    if (lastLsn === this.#publishedLsn) return
    this.#publishedLsn = lastLsn
    try {
      this.#lane.engine.publish(joinBatch(indexOps, lastLsn))
    } catch (error) {
      this.#options.onIndexFailure(error)
    }
    try {
      if (vectorOps.length > 0) this.#lane.vectorEngine.apply(encodeVectorBatch(vectorOps))
    } catch (error) {
      this.#options.onVectorFailure(error)
    }
    this.#options.onPublished()
  }
}
