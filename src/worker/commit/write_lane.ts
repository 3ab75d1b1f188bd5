/**
 * The write lane: the only thread that commits. Commands are queued. A group of them is decided and applied
 * in one transaction, published to the index, and answered once it is on disk.
 *
 * A group takes everything that was queued while the previous group was being written. A batch yields after
 * every slice. Answers are sent in LSN order. While the disk is full, work that grows the store is refused or
 * waits, and work that frees space continues in small groups.
 */
import { isNoSpace } from '../../base/free_space.js'
import { isAbandoned } from '../../domain/bulk_ingest.js'
import type { Command } from '../../domain/commands.js'
import { joinBatch } from '../../engine/search/index_batch.js'
import { encodeVectorBatch } from '../../engine/vectors/vector_bytes.js'
import type { VectorChange } from '../../engine/vectors/vector_types.js'
import { serviceError } from '../../errors.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import { MIB } from '../../limits/units.js'
import { mayWriteUnasked, type RoleSource } from '../../role.js'
import type { Service } from '../../services.js'
import type { WriteTransaction } from '../../store/apply.js'
import { unixSeconds } from '../../store/truth_store.js'
import { NoSpace, type Writer } from '../../store/writer.js'
import { log } from '../../telemetry/log.js'
import type { NamedDocument } from '../../wire/messages/embedding_messages.js'
import type { CommitAnswer, LaneContext, WriteLane } from '../request/handler.js'
import { logCommand } from './command_log.js'
import { workOf } from './command_work.js'
import type { GroupEffects, OnFullDisk, Work } from './commit_work.js'
import { refused } from './commit_work.js'
import { indexMarkWork } from './index_mark_work.js'
import { abandonedIngestsWork, ingestChunkWork } from './ingest_work.js'
import { lostBodiesWork } from './lost_bodies.js'
import type { SpaceGuard } from './space_guard.js'
import { importPagesWork } from './wiki_work.js'

/** Documents that one transaction writes: four batch slices, or as many single writes; about 4 ms of work. */
const GROUP_DOCUMENTS_MAX = 4 * COMMIT_SLICE_DOCUMENTS_MAX
/**
 * Binlog entries and unreferenced bodies that one group may trim: twice what it can add, so that trimming
 * keeps up.
 */
const TRIM_ENTRIES_MAX = 2 * GROUP_DOCUMENTS_MAX
/**
 * Documents of a group while the disk is full: few, so that the pages that it copies fit into the reserve; 64
 * documents are about 1 MB.
 */
const FULL_DISK_GROUP_DOCUMENTS = 64
/**
 * Binlog that is kept then, unless the index on disk needs more. The pages of the rest take new documents.
 */
const FULL_DISK_BINLOG_BYTES = MIB

/** One command in progress. */
interface Pending {
  readonly work: Work
  /** About what its command adds to the store; 0 for background work. */
  readonly bytes: number
  /** Name of the requesting principal; empty if there is none. */
  readonly actor: string
  readonly finish: (answer: CommitAnswer) => void
  /** Its documents that are queued for vectors. */
  readonly queued: NamedDocument[]
}

interface GroupResult {
  /** Commands whose last slice was in this group, in LSN order. */
  readonly finished: readonly Pending[]
  readonly indexOps: readonly Uint8Array[]
  readonly vectorOps: readonly VectorChange[]
  readonly sealings: GroupEffects['sealings']
  readonly endedSessions: readonly string[]
  /** Ids of in-memory objects that are no longer referenced. */
  readonly released: readonly Buffer[]
  readonly lastLsn: bigint
  readonly isQueueChanged: boolean
  readonly isAccessChanged: boolean
}

interface WriteLaneOptions {
  readonly role: RoleSource
  readonly writer: Writer
  readonly space: SpaceGuard
  /**
   * The index refused a batch: it no longer equals the store and must be rebuilt. The write itself is valid.
   */
  readonly onIndexFailure: (error: unknown) => void
  /** The vector engine refused a batch. */
  readonly onVectorFailure: (error: unknown) => void
  /**
   * Background work of the lane: starts with the lane and ends before it.
   * @param enqueue puts work into the commit queue and resolves when it is on disk
   */
  readonly chores: (enqueue: (work: Work) => Promise<CommitAnswer>) => readonly Service[]
  /** Consumers of the binlog. The binlog keeps the entries that they have not seen. */
  readonly readers: () => BinlogReaders | undefined
  /** Called when the changes of a group are searchable. */
  readonly onPublished: () => void
  /** Called with the sessions of conversational memory that a group has deleted, once that is searchable. */
  readonly onSessionsEnded: (ids: readonly string[]) => void
  /** Called after each group that was stored. */
  readonly onCommitted: () => void
  /** Called when rights of principals may have changed, before anything of the group is acknowledged. */
  readonly onAccessChanged: () => void
  /** Receives the number of documents that wait for vectors. */
  readonly onQueueDepth: (depth: number) => void
}

/** Readers that follow the binlog (src/worker/background/binlog_consumers.ts). */
export interface BinlogReaders {
  /** LSN of the newest entry that all of them have seen; undefined if there are none. */
  readonly floor: bigint | undefined
  /** Bytes that may be kept for them beyond the configured size of the binlog. */
  readonly lagBytesMax: number
  /**
   * Called at the end of every group, in its transaction. Readers that have seen the trimmed entries store
   * that; those below `lostBelow` restart with the last entry once the group is stored.
   */
  afterTrim(transaction: WriteTransaction, lostBelow: bigint): void
  /** The group is stored. */
  onStored(): void
  /** Nothing of the group is stored. */
  onUndone(): void
  /** Called when entries were committed. */
  wake(): void
}

/** Notified by the space guard. */
export interface SpaceListener {
  /** Space is available again. */
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
  /** Number of documents that wait for vectors. */
  #depth = 0
  /** Work kept until there is space. */
  #waiting: Pending[] = []
  /** The group in progress. */
  #group: readonly Pending[] = []
  #transaction: WriteTransaction | undefined
  #isClosing = false
  #isTrimming = false
  /** Defined exactly while the queue is being processed. */
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
      commands.map(async ({ command, bytes, actor, reply }) => {
        const work = this.#workOf(command)
        const answer = await this.#enqueue(work, bytes, actor)
        logCommand(command, answer)
        reply(answer)
      }),
    )
  }

  #workOf(command: Command): Work {
    if (command.kind === 'ingestChunk') return ingestChunkWork(this.#lane, command)
    if (command.kind === 'importPages') return importPagesWork(this.#lane, command, this.#lane.config.wikiPagesMax)
    return workOf(this.#lane, command)
  }

  async settleJobs(): Promise<void> {
    // A follower receives these changes from its leader.
    if (!mayWriteUnasked(this.#options.role)) return
    const lost = lostBodiesWork(this.#lane)
    if (lost !== undefined) await this.#enqueue(lost)
    const isLeft = this.#lane.store.read((view) => view.jobs('bulk').some(({ fields }) => isAbandoned(fields)))
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
    // For the index, and for the record of the clean shutdown.
    if (space.isFull) space.reclaimSpace()
    const lastLsn = this.#publishedLsn
    await this.#options.writer.flushed()
    if (lastLsn >= 0n) this.#lane.engine.flushedTo(lastLsn)
  }

  onSpace(): void {
    this.#takeUpWaiting()
  }

  /**
   * Trims old entries of the binlog, whose pages then store new documents. Entries that a start would need
   * for the index are kept.
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
   * Finishes in the same turn in which it finds the queue empty, so that later commands start a run of their
   * own. With an `await` in between, a command that arrives meanwhile would stay queued until the next one.
   */
  async #run(): Promise<void> {
    // The run may find that nothing can be written. It must not finish before the caller has assigned
    // `#running`.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      this.#makeSpace()
      if (this.#queue.length > 0) await this.#writeGroup()
      // Answers are sent, and commands that have arrived are queued, before the next slice of a batch.
      if (this.#queue.length > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    this.#running = undefined
  }

  async #writeGroup(): Promise<void> {
    try {
      const result = await this.#options.writer.group(unixSeconds, (transaction) => this.#fill(transaction))
      this.#options.readers()?.onStored()
      this.#publish(result)
      // Counted after publishing: once the queue is empty, a search finds everything.
      if (result.isQueueChanged) this.#countQueued()
      this.#settle(result)
      if (result.endedSessions.length > 0) this.#options.onSessionsEnded(result.endedSessions)
      this.#options.onCommitted()
    } catch (error) {
      if (!(error instanceof NoSpace)) throw error
      // If it repeats, the disk may be damaged rather than full.
      if (!isNoSpace(error.cause)) log.warn('a commit was refused with an I/O error while little is free: treated as a full disk')
      this.#undo()
    }
  }

  /** Runs before a group: work that grows the store stays queued only if there is space for it. */
  #makeSpace(): void {
    const { space } = this.#options
    // A command contains the body and the analysed text. The store receives the body, its rows and the pages
    // copied for them.
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
    if (this.#queue.length > 0) space.reclaimSpace()
  }

  /**
   * A clean shutdown stores the background work that waits, in the reserved space. A waiting request is
   * refused: it does not outlive the process.
   */
  #fateOf({ work, bytes }: Pending): OnFullDisk {
    if (!this.#isClosing || work.onFullDisk !== 'waits') return work.onFullDisk
    return bytes > 0 ? 'refused' : 'runs'
  }

  /**
   * The group was refused for lack of space, and nothing of it is stored. Its LSNs are assigned again, so
   * nothing may stay cached under them.
   */
  #undo(): void {
    const group = this.#group
    for (const id of this.#transaction?.kept ?? []) this.#lane.sharedBodies.remove(id)
    this.#lane.settings.forget()
    this.#options.readers()?.onUndone()
    // Work with more slices has been queued again.
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
        return rowsMax !== undefined && transaction.trimBinlog(FULL_DISK_BINLOG_BYTES, rowsMax, lsnMax)
      },
      answer: () => ({ body: '' }),
    }
  }

  /** Runs inside the transaction: one slice of each waiting command, in order, until the group is full. */
  #fill(transaction: WriteTransaction): GroupResult {
    const effects: GroupEffects = {
      ...{ indexOps: [], vectorOps: [], sealings: [], queued: [], endedSessions: [] },
      ...{ isQueueChanged: false, isAccessChanged: false },
    }
    const finished: Pending[] = []
    const again: Pending[] = []
    const { isFull, rowsMax } = this.#options.space
    let budget = isFull ? FULL_DISK_GROUP_DOCUMENTS : GROUP_DOCUMENTS_MAX
    let taken = 0
    this.#transaction = transaction
    for (const pending of this.#queue) {
      if (budget <= 0) break
      budget -= pending.work.weight
      taken++
      const before = effects.queued.length
      const { actor, work } = pending
      transaction.author = { origin: work.origin ?? 'request', actor: actor === '' ? null : actor }
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

  /**
   * Trims down to the configured size, except for entries that consumers have not seen. That exception is
   * bounded, too.
   */
  #trim(transaction: WriteTransaction, entriesMax: number): void {
    const { binlogBytesMax } = this.#lane.config
    const readers = this.#options.readers()
    const floor = readers?.floor
    transaction.trimBinlog(binlogBytesMax, entriesMax, undefined, floor)
    if (readers === undefined) return
    const { trimmedLsn, binlogBytes } = transaction
    const isInTheWay = trimmedLsn === floor && binlogBytes > binlogBytesMax + readers.lagBytesMax
    // On a full disk, entries above the floor are trimmed as well.
    readers.afterTrim(transaction, isInTheWay ? trimmedLsn + 1n : trimmedLsn)
  }

  /**
   * Answers the clients. The engine is notified once the group is on disk: no stored segment or live bit may
   * depend on an entry that a power failure could lose.
   */
  #settle({ finished, released, lastLsn }: GroupResult): void {
    const { writer } = this.#options
    if (writer.isDurable) this.#lane.engine.flushedTo(lastLsn)
    else void writer.flushed().then(() => this.#lane.engine.flushedTo(lastLsn))
    // A reader with an older snapshot finds that they are gone and retries.
    for (const id of released) this.#lane.sharedBodies.remove(id)
    const isFull = this.#depth > this.#lane.config.embeddingQueueSize
    for (const { work, finish, queued } of finished) finish(isFull && queued.length > 0 ? { ...work.answer(), queued } : work.answer())
  }

  #countQueued(): void {
    this.#depth = this.#lane.store.read((view) => view.vectors.queueDepth)
    this.#options.onQueueDepth(this.#depth)
  }

  /**
   * Runs after the commit and before the acknowledgement, so that a search that starts after a write was
   * answered sees it.
   */
  #publish({ indexOps, vectorOps, sealings, isAccessChanged, lastLsn }: GroupResult): void {
    if (isAccessChanged) this.#options.onAccessChanged()
    for (const { collection, isSealed } of sealings) {
      this.#lane.engine.setSealed(collection, isSealed)
      this.#lane.vectorEngine.setSealed(collection, isSealed)
    }
    // Also without ops: the index's checkpoint follows the binlog, and the binlog may be trimmed up to the
    // checkpoint.
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
