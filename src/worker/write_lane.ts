/**
 * The write lane: the only thread that commits. Commands queue, a group of them is decided and applied in one transaction, published to the index, and answered once it is on disk.
 *
 * A group takes everything that queued while the previous one was being written. A batch gives up its turn after every slice. Answers leave in LSN order.
 */
import { isUnfinishedIngest } from '../domain/bulk_ingest.js'
import { decodeCommand } from '../domain/commands.js'
import { joinBatch } from '../engine/index_batch.js'
import { GROUP_DOCUMENTS_MAX, TRIM_ENTRIES_MAX } from '../limits.js'
import type { WriteTransaction } from '../store/apply.js'
import { unixSeconds } from '../store/truth_store.js'
import type { Writer } from '../store/writer.js'
import { workOf } from './commit_work.js'
import type { GroupEffects, Work } from './commit_work.js'
import type { Answer, LaneContext, WriteLane } from './handler.js'
import { abandonedIngestsWork, ingestChunkWork } from './ingest_work.js'
import { maintenanceWork } from './maintenance.js'
import { trackingWork } from './access_tracking.js'
import { rotationWork } from './rotation.js'

/** One command under way. */
interface Pending {
  readonly work: Work
  readonly finish: (answer: Answer) => void
}

interface GroupResult {
  /** Commands whose last slice was in this group, in LSN order. */
  readonly finished: readonly Pending[]
  readonly indexOps: readonly Uint8Array[]
  readonly sealings: GroupEffects['sealings']
  readonly lastLsn: bigint
}

export interface WriteLaneOptions {
  readonly writer: Writer
  /** The index refused a batch: it no longer equals the store and has to be rebuilt. The write itself stands. */
  readonly onIndexFailure: (error: unknown) => void
  /** What a group has committed can be found from now on. */
  readonly onPublished: () => void
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
  #queue: Pending[] = []
  /** -1 before the first group. */
  #publishedLsn = -1n
  /** Defined exactly while the queue is being worked off. */
  #running: Promise<void> | undefined

  constructor(lane: LaneContext, options: WriteLaneOptions) {
    this.#lane = lane
    this.#options = options
    this.#stopMaintenance = maintenanceWork(lane, (work) => this.#enqueue(work))
    this.#finishTracking = lane.accesses && trackingWork(lane.accesses, (work) => this.#enqueue(work))
    this.#stopRotation = rotationWork(lane, (work) => this.#enqueue(work))
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
    const isLeft = this.#lane.store.read((view) => view.jobs('bulk').some(({ fields }) => isUnfinishedIngest(fields.status)))
    if (isLeft) await this.#enqueue(abandonedIngestsWork())
  }

  async close(): Promise<void> {
    this.#stopMaintenance()
    await this.#finishTracking?.()
    this.#stopRotation()
    while (this.#running !== undefined) await this.#running
    const lastLsn = this.#publishedLsn
    await this.#options.writer.flushed()
    if (lastLsn >= 0n) this.#lane.engine.flushedTo(lastLsn)
  }

  #enqueue(work: Work): Promise<Answer> {
    return new Promise((finish) => {
      this.#queue.push({ work, finish })
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
      this.#settle(result)
      // Answers leave and what has arrived meanwhile is queued before the next slice of a batch.
      if (this.#queue.length > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    this.#running = undefined
  }

  /** Inside the transaction: one slice of each waiting command, in order, until the group is full. */
  #fill(transaction: WriteTransaction): GroupResult {
    const effects: GroupEffects = { indexOps: [], sealings: [] }
    const finished: Pending[] = []
    const again: Pending[] = []
    let room = GROUP_DOCUMENTS_MAX
    let taken = 0
    for (const pending of this.#queue) {
      if (room <= 0) break
      room -= pending.work.weight
      taken++
      if (pending.work.run(transaction, effects)) again.push(pending)
      else finished.push(pending)
    }
    this.#queue = [...this.#queue.slice(taken), ...again]
    transaction.trimBinlog(this.#lane.config.binlogBytesMax, TRIM_ENTRIES_MAX)
    return { finished, ...effects, lastLsn: transaction.nextLsn - 1n }
  }

  /** The clients are told; and the engine, once the group is on disk: no segment or live bit may be stored that knows of an entry which a power cut could take back. */
  #settle({ finished, lastLsn }: GroupResult): void {
    const { writer } = this.#options
    if (writer.isDurable) this.#lane.engine.flushedTo(lastLsn)
    else void writer.flushed().then(() => this.#lane.engine.flushedTo(lastLsn))
    for (const { work, finish } of finished) finish(work.answer())
  }

  /** After the commit and before the acknowledgement, so that a search that starts after a write was answered sees it. */
  #publish({ indexOps, sealings, lastLsn }: GroupResult): void {
    for (const { collection, isSealed } of sealings) this.#lane.engine.setSealed(collection, isSealed)
    // Without ops, too: the index's checkpoint follows the binlog, and the binlog may be trimmed behind it.
    if (lastLsn === this.#publishedLsn) return
    this.#publishedLsn = lastLsn
    try {
      this.#lane.engine.publish(joinBatch(indexOps, lastLsn))
    } catch (error) {
      this.#options.onIndexFailure(error)
    }
    this.#options.onPublished()
  }
}
