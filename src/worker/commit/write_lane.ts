/**
 * The write lane: the only thread that commits. Commands queue, a group of them is decided and applied in one
 * transaction, published to the index, and answered once it is on disk.
 *
 * A group takes everything that queued while the previous one was being written. A batch gives up its turn
 * after every slice. Answers leave in LSN order. While the disk is full what grows the store is refused or
 * waits, and what frees space goes on in small groups.
 */
import { isUnfinishedIngest } from '../../domain/bulk_ingest.js'
import type { NamedDocument } from '../../wire/embedding_messages.js'
import { decodeCommand } from '../../domain/commands.js'
import { joinBatch } from '../../engine/index_batch.js'
import { encodeVectorBatch } from '../../engine/vector_bytes.js'
import type { VectorChange } from '../../engine/vector_types.js'
import { serviceError } from '../../errors.js'
import { GROUP_DOCUMENTS_MAX, TRIM_ENTRIES_MAX } from '../../limits/commit.js'
import { FULL_DISK_BINLOG_BYTES, FULL_DISK_GROUP_DOCUMENTS } from '../../limits/disk.js'
import type { Service } from '../../services.js'
import type { WriteTransaction } from '../../store/apply.js'
import { unixSeconds } from '../../store/truth_store.js'
import { NoSpace, type Writer } from '../../store/writer.js'
import { logCommand } from './command_log.js'
import { workOf } from './command_work.js'
import { refused } from './commit_work.js'
import type { GroupEffects, OnFullDisk, Work } from './commit_work.js'
import type { CommitAnswer, LaneContext, WriteLane } from '../request/handler.js'
import { abandonedIngestsWork, ingestChunkWork } from './ingest_work.js'
import { lostBodiesWork } from './lost_bodies.js'
import { indexMarkWork } from './index_mark_work.js'
import type { SpaceGuard } from './space_guard.js'

/** One command under way. */
interface Pending {
  readonly work: Work
  /** Of the command; 0 for what the lane does unasked. */
  readonly bytes: number
  /** Name of the principal that asked for it; empty: it has none. */
  readonly actor: string
  readonly finish: (answer: CommitAnswer) => void
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
  readonly space: SpaceGuard
  /**
   * The index refused a batch: it no longer equals the store and has to be rebuilt. The write itself stands.
   */
  readonly onIndexFailure: (error: unknown) => void
  /** The same of the vector engine. */
  readonly onVectorFailure: (error: unknown) => void
  /**
   * What the lane does unasked: begins with the lane and ends before it.
   * @param enqueue puts work into the commit queue and resolves when it is on disk
   */
  readonly chores: (enqueue: (work: Work) => Promise<unknown>) => readonly Service[]
  /** Consumers of the binlog: it keeps what they have not seen. */
  readonly readers: () => BinlogReaders | undefined
  /** What a group has committed can be found from now on. */
  readonly onPublished: () => void
  /** So many documents wait for vectors. */
  readonly onQueueDepth: (depth: number) => void
}

/** What follows the binlog (src/worker/background/binlog_consumers.ts). */
export interface BinlogReaders {
  /** LSN of the newest entry that all have seen; undefined: there are none. */
  readonly floor: bigint | undefined
  /** What they may keep beyond the size that the binlog may have anyway. */
  readonly lagBytesMax: number
  /** Those that have not seen this entry begin anew. */
  loseBelow(transaction: WriteTransaction, lsn: bigint): void
  /** Entries were committed. */
  wake(): void
}

/** Told by the guard of the space. */
export interface SpaceListener {
  /** There is space again. */
  onSpace(): void
  onStillFull(): void
}

export function createWriteLane(lane: LaneContext, options: WriteLaneOptions): WriteLane & SpaceListener {
  return new CommitQueue(lane, options)
}

class CommitQueue implements WriteLane, SpaceListener {
  readonly #lane: LaneContext
  readonly #options: WriteLaneOptions
  readonly #chores: readonly Service[]
  #queue: Pending[] = []
  /** -1 before the first group. */
  #publishedLsn = -1n
  /** Documents that wait for vectors. */
  #depth = 0
  /** What keeps until there is space. */
  #waiting: Pending[] = []
  /** The group under way. */
  #group: readonly Pending[] = []
  #transaction: WriteTransaction | undefined
  #isClosing = false
  #isTrimming = false
  /** Defined exactly while the queue is being worked off. */
  #running: Promise<void> | undefined

  constructor(lane: LaneContext, options: WriteLaneOptions) {
    this.#lane = lane
    this.#options = options
    this.#countQueued()
    this.#chores = options.chores((work) => this.#enqueue(work))
    for (const chore of this.#chores) void chore.start()
  }

  async commit(commands: Parameters<WriteLane['commit']>[0]): Promise<void> {
    await Promise.all(
      commands.map(async ({ bytes, actor, reply }) => {
        const command = decodeCommand(bytes)
        const work = command.kind === 'ingestChunk' ? ingestChunkWork(this.#lane, command) : workOf(this.#lane, command)
        const answer = await this.#enqueue(work, bytes.length, actor)
        logCommand(command, answer)
        reply(answer)
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
    this.#isClosing = true
    this.#takeUpWaiting()
    await Promise.all(this.#chores.map((chore) => chore.stop()))
    while (this.#running !== undefined) await this.#running
    const { space } = this.#options
    await space.stop()
    // For the index, and for the note of the orderly end.
    if (space.isFull) space.makeRoom()
    const lastLsn = this.#publishedLsn
    await this.#options.writer.flushed()
    if (lastLsn >= 0n) this.#lane.engine.flushedTo(lastLsn)
  }

  onSpace(): void {
    this.#takeUpWaiting()
  }

  /**
   * The pages of old entries of the binlog take new documents. Those stay that a start would need for the
   * index.
   */
  onStillFull(): void {
    const { trimmedLsn, binlogBytes } = this.#lane.store.read((view) => view.storeCounters())
    const { checkpoint } = this.#lane.engine.stats()
    if (this.#isTrimming || this.#isClosing || trimmedLsn >= checkpoint || binlogBytes <= FULL_DISK_BINLOG_BYTES) return
    this.#isTrimming = true
    void this.#enqueue(this.#trimWork(checkpoint)).then(() => (this.#isTrimming = false))
  }

  #enqueue(work: Work, bytes = 0, actor = ''): Promise<CommitAnswer> {
    return new Promise((finish) => {
      this.#queue.push({ work, bytes, actor, finish, queued: [] })
      this.#running ??= this.#run()
    })
  }

  #takeUpWaiting(): void {
    if (this.#waiting.length === 0) return
    this.#queue = [...this.#waiting, ...this.#queue]
    this.#waiting = []
    this.#running ??= this.#run()
  }

  /**
   * Ends in the same turn in which it finds the queue empty, so that whatever is queued later starts a run of
   * its own: were there an `await` in between, a command that comes meanwhile would be left until the next
   * one.
   */
  async #run(): Promise<void> {
    // It may find that nothing can be written, and must not have ended before whoever started it has noted
    // that it runs.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      this.#makeSpace()
      if (this.#queue.length > 0) await this.#writeGroup()
      // Answers leave and what has arrived meanwhile is queued before the next slice of a batch.
      if (this.#queue.length > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    this.#running = undefined
  }

  async #writeGroup(): Promise<void> {
    try {
      const result = await this.#options.writer.group(unixSeconds, (transaction) => this.#fill(transaction))
      this.#publish(result)
      // Afterwards: where nothing waits any more, a search finds everything.
      if (result.isQueueChanged) this.#countQueued()
      this.#settle(result)
    } catch (error) {
      if (!(error instanceof NoSpace)) throw error
      this.#undo()
    }
  }

  /** Before a group: what grows the store stays only where there is space for it. */
  #makeSpace(): void {
    const { space } = this.#options
    // A command has body and analysed text; the store gets the body, its rows and the pages that are copied
    // for them.
    const bytes = this.#queue.reduce((sum, { bytes: of, work }) => sum + of / (work.slices ?? 1), 0)
    if (space.admits(bytes)) return
    const queue = this.#queue
    this.#queue = []
    for (const pending of queue) {
      const fate = this.#fateOf(pending)
      if (fate === 'runs') this.#queue.push(pending)
      else if (fate === 'waits') this.#waiting.push(pending)
      else pending.finish(refused(serviceError('diskFull')))
    }
    if (this.#queue.length > 0) space.makeRoom()
  }

  /** An orderly end stores what the lane has counted, in what is reserved. A request does not outlive it. */
  #fateOf({ work, bytes }: Pending): OnFullDisk {
    if (!this.#isClosing || work.onFullDisk !== 'waits') return work.onFullDisk
    return bytes > 0 ? 'refused' : 'runs'
  }

  /**
   * The group was refused for want of space, and nothing of it is there. Its stamps are given again, so
   * nothing may be remembered by them.
   */
  #undo(): void {
    const group = this.#group
    for (const id of this.#transaction?.kept ?? []) this.#lane.held.remove(id)
    this.#lane.settings.forget()
    // What has more slices has been queued again.
    this.#queue = this.#queue.filter((pending) => !group.includes(pending))
    for (const pending of group) {
      pending.queued.length = 0
      if (pending.work.onFullDisk === 'waits' && !this.#isClosing) {
        pending.work.undo?.()
        this.#waiting.push(pending)
      } else pending.finish(refused(serviceError('diskFull')))
    }
    this.#options.space.onRefused()
  }

  #trimWork(lsnMax: bigint): Work {
    return {
      onFullDisk: 'runs',
      weight: FULL_DISK_GROUP_DOCUMENTS,
      run: (transaction) => {
        const { rowsMax } = this.#options.space
        const isMore = rowsMax !== undefined && transaction.trimBinlog(FULL_DISK_BINLOG_BYTES, rowsMax, lsnMax)
        this.#options.readers()?.loseBelow(transaction, transaction.trimmedLsn)
        return isMore
      },
      answer: () => ({ body: '' }),
    }
  }

  /** Inside the transaction: one slice of each waiting command, in order, until the group is full. */
  #fill(transaction: WriteTransaction): GroupResult {
    const effects: GroupEffects = { indexOps: [], vectorOps: [], sealings: [], queued: [], isQueueChanged: false }
    const finished: Pending[] = []
    const again: Pending[] = []
    const { isFull, rowsMax } = this.#options.space
    let room = isFull ? FULL_DISK_GROUP_DOCUMENTS : GROUP_DOCUMENTS_MAX
    let taken = 0
    this.#transaction = transaction
    for (const pending of this.#queue) {
      if (room <= 0) break
      room -= pending.work.weight
      taken++
      const before = effects.queued.length
      transaction.author = { origin: pending.work.origin ?? 'request', actor: pending.actor === '' ? null : pending.actor }
      if (pending.work.run(transaction, effects)) again.push(pending)
      else finished.push(pending)
      for (const named of effects.queued.slice(before)) pending.queued.push(named)
    }
    this.#group = this.#queue.slice(0, taken)
    this.#queue = [...this.#queue.slice(taken), ...again]
    this.#trim(transaction, rowsMax ?? TRIM_ENTRIES_MAX)
    const isQueueChanged = effects.isQueueChanged || effects.queued.length > 0
    return { finished, ...effects, isQueueChanged, released: transaction.released, lastLsn: transaction.nextLsn - 1n }
  }

  /** Down to the size that is configured, but for what consumers have not seen; that is bounded, too. */
  #trim(transaction: WriteTransaction, entriesMax: number): void {
    const { binlogBytesMax } = this.#lane.config
    const readers = this.#options.readers()
    const floor = readers?.floor
    transaction.trimBinlog(binlogBytesMax, entriesMax, undefined, floor)
    if (readers === undefined || floor === undefined || transaction.binlogBytes <= binlogBytesMax + readers.lagBytesMax) return
    if (transaction.trimmedLsn >= floor) readers.loseBelow(transaction, floor + 1n)
  }

  /**
   * The clients are told; and the engine, once the group is on disk: no segment or live bit may be stored
   * that knows of an entry which a power cut could take back.
   */
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

  /**
   * After the commit and before the acknowledgement, so that a search that starts after a write was answered
   * sees it.
   */
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
    this.#options.readers()?.wake()
  }
}
