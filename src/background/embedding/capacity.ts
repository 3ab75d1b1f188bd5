/**
 * Backpressure of embedding. After its commit, a write waits here until its documents fit into the queue of
 * documents that wait for vectors. It waits as long as there is progress, and without progress for the
 * configured time. Documents that do not fit by then are dropped: they are stored without vectors. The answer
 * reports this where it can, and a reindex adds the vectors later. Front-end thread only.
 */
import { Chore, type ChoreTools, type Rest } from '../../chore.js'
import type { Config } from '../../config/config.js'
import type { Ticket } from '../../dispatch/ticket.js'
import { log } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { NamedDocument, NamedDocuments } from '../../wire/messages/embedding_messages.js'
import type { CapacityFirst } from '../../wire/messages/messages.js'

/**
 * Interval of the checks whether the queue has capacity for waiting writes: a quarter of the shortest wait
 * that is worth setting.
 */
const EMBEDDING_CAPACITY_POLL_MS = 25
/** A write that waits for capacity is answered this long before its deadline. */
const EMBEDDING_CAPACITY_MARGIN_MS = 2_000

/** Operations whose answers count the documents that are stored without vectors. */
const COUNTING: readonly string[] = ['addBatch', 'ingest']

/** Progress of the embedding worker. */
interface Progress {
  readonly settled: number
  isUnderWay(named: NamedDocument): boolean
}

/**
 * Removes documents from those that wait.
 * @param job id of a bulk ingest, whose record counts the dropped documents; empty: none
 * @returns the number of documents that were still waiting
 */
type Drop = (named: NamedDocuments, job: string) => Promise<number>

interface Waiter {
  readonly named: NamedDocuments
  /** Milliseconds, monotonic. */
  readonly deadlineAt: number
  /** Time of the last settled document, as observed by this waiter. */
  progressAt: number
  settled: number
  /** @param without the newest documents, those that do not fit */
  readonly resolve: (without: readonly NamedDocument[]) => void
}

export class EmbeddingCapacity {
  readonly #waiters = new Set<Waiter>()
  readonly #chore: Chore
  #isEnded = false

  constructor(
    readonly config: Pick<Config, 'embeddingQueueSize' | 'embeddingQueueWaitMs'>,
    readonly control: ControlBlock,
    readonly progress: Progress,
    readonly drop: Drop,
    readonly telemetry: Telemetry,
    tools: ChoreTools,
  ) {
    this.#chore = new Chore(tools, {
      name: 'embedding-capacity',
      first: 'idle',
      failure: 'writes wait for the queue of embeddings',
      round: () => this.#tick(),
    })
    this.#chore.start()
  }

  /**
   * Returns the answer of a write when its documents fit into the queue or have been dropped. Never rejects.
   */
  readonly wait = async ({ operation, deadlineAt }: Ticket, { code, body, named }: CapacityFirst): Promise<OutgoingAnswer> => {
    const answer = { code, contentType: null, facts: [], isCompressed: false, body }
    const without = await this.#fit(named, deadlineAt - EMBEDDING_CAPACITY_MARGIN_MS)
    if (without.length === 0) return answer
    const record = parsed(body)
    const isJob = operation.name === 'ingestChunk'
    const dropped = await this.#drop({ epoch: named.epoch, documents: without }, isJob && typeof record.id === 'string' ? record.id : '')
    if (dropped === 0 || (!COUNTING.includes(operation.name) && !isJob)) return answer
    const before = typeof record.embeddingDropped === 'number' ? record.embeddingDropped : 0
    return { ...answer, body: JSON.stringify({ ...record, embeddingDropped: before + dropped }) }
  }

  /** Releases all waiters. Nothing is dropped: the waiting documents are in the store. */
  end(): void {
    this.#isEnded = true
    this.#tick()
    void this.#chore.stop()
  }

  #waiting({ named }: Waiter): NamedDocument[] {
    return named.documents.filter((document) => !this.progress.isUnderWay(document))
  }

  /** @returns the documents that do not fit */
  async #fit(named: NamedDocuments, deadlineAt: number): Promise<readonly NamedDocument[]> {
    return await new Promise((resolve) => {
      this.#waiters.add({ named, deadlineAt, progressAt: performance.now(), settled: this.progress.settled, resolve })
      if (this.#tick() !== 'idle') this.#chore.wake(EMBEDDING_CAPACITY_POLL_MS)
    })
  }

  async #drop(named: NamedDocuments, job: string): Promise<number> {
    try {
      const dropped = await this.drop(named, job)
      this.telemetry.add('embeddings_dropped', dropped)
      return dropped
    } catch (error) {
      // They stay in the queue and get their vectors.
      log.error('not dropped', { reason: error })
      return 0
    }
  }

  /** Answers the waiters whose documents fit, or that have waited long enough. */
  #tick(): Rest {
    const now = performance.now()
    // Documents that are being embedded count until they are settled, and are not dropped.
    let excess = this.control.embeddingDepth - this.config.embeddingQueueSize
    for (const waiter of this.#waiters) {
      if (this.progress.settled !== waiter.settled) Object.assign(waiter, { settled: this.progress.settled, progressAt: now })
      const isOver = now - waiter.progressAt >= this.config.embeddingQueueWaitMs || now >= waiter.deadlineAt
      if (excess > 0 && !isOver && !this.#isEnded) continue
      const without = this.#isEnded || excess <= 0 ? [] : this.#waiting(waiter).slice(-excess)
      excess -= without.length
      this.#waiters.delete(waiter)
      waiter.resolve(without)
    }
    return this.#waiters.size > 0 ? EMBEDDING_CAPACITY_POLL_MS : 'idle'
  }
}

function parsed(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}
