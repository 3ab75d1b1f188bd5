/**
 * Embeds the documents that wait for vectors, in order of arrival, and those named by a reindex. Several
 * slices run in parallel, each with as many texts as the provider accepts in a call. The backlog is in the
 * store; one page of it is in memory here and is lost with the process. If the provider is unavailable,
 * everything waits. Front-end thread only.
 */
import { Chore, type ChoreTools, type Rest } from '../../chore.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor } from '../../dispatch/inner_request.js'
import { EMBEDDING_FAILURES_LOGGED_MS, EMBEDDING_SLICE_DOCUMENTS_MAX, EMBEDDING_SLICES_MAX } from '../../limits/embedding.js'
import { queuedEmbeddings } from '../../operations/server/embedding.js'
import type { EmbeddingProvider } from '../../outbound/embedding/provider.js'
import { log } from '../../telemetry/log.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { NamedDocument, NamedDocuments } from '../../wire/messages/embedding_messages.js'
import type { EmbeddingSlices, Outcome, SliceResult } from './slices.js'

/** Rows of the queue in the memory of the front end: twice the capacity of all slices. */
const EMBEDDING_QUEUE_PAGE = 2 * EMBEDDING_SLICES_MAX * EMBEDDING_SLICE_DOCUMENTS_MAX
/** Interval at which the front end looks for documents to embed while some wait for their vectors. */
const EMBEDDING_POLL_MS = 20
/** Pause of the backlog after the provider could not be reached. It doubles each time. */
const EMBEDDING_WAIT_MS_MIN = 1000
const EMBEDDING_WAIT_MS_MAX = 60_000
/**
 * Attempts for a document that fails while others are embedded. The document itself may crash the provider.
 */
const EMBEDDING_TRIES_MAX = 3
/**
 * Number of slices for which the provider could not be reached, after which a document of them is sent alone.
 * A single failure may be the fault of the provider.
 */
const EMBEDDING_FAILURES_ALONE = 2

/** Returns the active provider. */
export interface CurrentProvider {
  current(): EmbeddingProvider | undefined
}

interface Job {
  named: NamedDocument
  /** Number of times that the provider was unavailable for it while it was available for others. */
  tries: number
  /** Number of slices with this document for which the provider was unavailable. */
  failures: number
  /** Total number of successes when it was last tried. */
  successes: number
  /** For a reindex: receives the outcome. Undefined: the document waits in the store's queue. */
  readonly settle: ((outcome: Outcome) => void) | undefined
}

export class EmbeddingWorker {
  readonly #end = new AbortController()
  readonly #underWay = new Set<string>()
  /**
   * Number of documents in `#underWay` from the store's queue: the others may occupy the slices for hours.
   */
  #ofQueue = 0
  readonly #slices = new Set<Promise<void>>()
  /** Epoch of the store in which the jobs were named. */
  #epoch = ''
  #queued: Job[] = []
  #asked: Job[] = []
  /** LSN of the last job that was taken from the store's queue. */
  #after = 0
  #isTurnOfQueued = false
  #successes = 0
  #settled = 0
  /** Number of consecutive slices for which the provider was unavailable. */
  #failuresInRow = 0
  #waitMs = 0
  #waitUntil = 0
  #loggedAt = -Infinity
  /** Whether the depth of the queue wakes the chore. */
  #isWatching = false
  readonly #chore: Chore

  constructor(
    readonly dispatcher: Dispatcher,
    readonly control: ControlBlock,
    readonly provider: CurrentProvider,
    readonly slices: EmbeddingSlices,
    tools: ChoreTools,
  ) {
    this.#chore = new Chore(tools, { name: 'embedding', failure: 'documents are not embedded yet', round: () => this.#round() })
  }

  /** Called once the lanes are open. */
  start(): void {
    this.#chore.start()
  }

  /**
   * Vectors that the provider has returned are stored first. The backlog stays for the next start. Reindexes
   * are notified that they failed.
   */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#chore.stop()
    await Promise.all(this.#slices)
    for (const job of this.#asked.splice(0)) job.settle?.({ kind: 'failed', reason: 'the server shuts down' })
  }

  isUnderWay(named: NamedDocument): boolean {
    return this.#underWay.has(nameOf(named))
  }

  /** Called when the provider was replaced or removed. */
  changed(): void {
    this.#waitUntil = 0
    this.#chore.wake()
  }

  /** Number of documents settled so far, as a measure of progress. */
  get settled(): number {
    return this.#settled
  }

  /** Embeds documents before those that wait. @returns their outcomes, in order */
  async embed({ epoch, documents }: NamedDocuments): Promise<Outcome[]> {
    if (this.#end.signal.aborted) return documents.map(() => ({ kind: 'failed', reason: 'the server shuts down' }))
    this.#takeEpoch(epoch)
    const settled = documents.map(
      (named) => new Promise<Outcome>((settle) => this.#asked.push({ named, tries: 0, failures: 0, successes: this.#successes, settle })),
    )
    this.#chore.wake()
    return await Promise.all(settled)
  }

  /** Drops the jobs that were named in another store. */
  #takeEpoch(epoch: string): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#queued = []
    this.#after = 0
    for (const job of this.#asked.splice(0)) job.settle?.({ kind: 'failed', reason: 'the store was restored meanwhile' })
  }

  async #round(): Promise<Rest> {
    try {
      while (this.#slices.size < EMBEDDING_SLICES_MAX && (await this.#begin()));
    } catch (error) {
      this.#backOff(error instanceof Error ? error.message : String(error))
    }
    return this.#rest()
  }

  /** Idle until the provider is replaced, a slice ends, a reindex asks, or the depth of the queue is set. */
  #rest(): Rest {
    if (this.provider.current() === undefined) return 'idle'
    const depth = this.control.embeddingDepth
    if (depth > this.#ofQueue || this.#queued.length > 0 || this.#asked.length > 0) return EMBEDDING_POLL_MS
    if (!this.#isWatching) {
      this.#isWatching = true
      void this.control.embeddingDepthSet(depth).then(() => {
        this.#isWatching = false
        this.#chore.wake()
      })
    }
    return 'idle'
  }

  /** @returns whether a slice was started */
  async #begin(): Promise<boolean> {
    if (this.#present() === undefined || this.#end.signal.aborted || performance.now() < this.#waitUntil) return false
    await this.#fill()
    // The provider may have changed during the fetch.
    const provider = this.#present()
    const jobs = provider === undefined ? [] : this.#take(provider)
    if (provider === undefined || jobs.length === 0) return false
    const slice = this.#slice(provider, this.#epoch, jobs).finally(() => {
      this.#slices.delete(slice)
      this.#chore.wake()
    })
    this.#slices.add(slice)
    return true
  }

  /** Without a provider, the documents of reindexes fail at once. */
  #present(): EmbeddingProvider | undefined {
    const provider = this.provider.current()
    if (provider === undefined) this.#failAsked('no embedding provider configured')
    return provider
  }

  /** Reads the next page of the store's queue once all documents of the current page are in progress. */
  async #fill(): Promise<void> {
    if (this.#queued.length > 0 || this.control.embeddingDepth <= this.#ofQueue) return
    const input = { after: this.#after, count: EMBEDDING_QUEUE_PAGE }
    const { epoch, documents } = await askFor<NamedDocuments>(this.dispatcher, queuedEmbeddings, input)
    this.#takeEpoch(epoch)
    for (const named of documents) this.#queued.push({ named, tries: 0, failures: 0, successes: this.#successes, settle: undefined })
    // After the last page, the queue is read from its start again once none of its documents is in progress:
    // documents whose embedding failed are still in it.
    this.#after = documents.at(-1)?.queued ?? (this.#ofQueue === 0 ? 0 : this.#after)
  }

  /**
   * Takes from the queue and from reindexes in turn. A document is in one slice at a time. A document that
   * was in two failed slices gets a slice of its own.
   */
  #take({ batchMax }: EmbeddingProvider): Job[] {
    const taken: Job[] = []
    const most = Math.min(batchMax, EMBEDDING_SLICE_DOCUMENTS_MAX)
    const takeFrom = (jobs: Job[]): Job[] =>
      jobs.filter((job) => {
        const isFree = !this.#underWay.has(nameOf(job.named))
        const isFull = taken.length >= most || taken.some(isSuspect) || (isSuspect(job) && taken.length > 0)
        if (isFull || !isFree) return true
        this.#underWay.add(nameOf(job.named))
        if (job.settle === undefined) this.#ofQueue++
        taken.push(job)
        return false
      })
    this.#isTurnOfQueued = !this.#isTurnOfQueued
    if (this.#isTurnOfQueued) this.#queued = takeFrom(this.#queued)
    if (taken.length === 0) this.#asked = takeFrom(this.#asked)
    if (taken.length === 0) this.#queued = takeFrom(this.#queued)
    return taken
  }

  /** Never rejects. */
  async #slice(provider: EmbeddingProvider, epoch: string, jobs: readonly Job[]): Promise<void> {
    try {
      const result = await this.slices.run(provider, { epoch, documents: jobs.map(({ named }) => named) }, this.#end.signal)
      // Calls fail when their provider is closed, which is no failure of the provider that replaced it.
      const isReplaced = provider !== this.provider.current()
      if (result.isOther) this.#lose(jobs, epoch)
      else await this.#settle(epoch, jobs, isReplaced ? { ...result, unavailable: undefined } : result)
    } catch (error) {
      this.#putBack(jobs)
      this.#backOff(error instanceof Error ? error.message : String(error))
    } finally {
      for (const { named, settle } of jobs) {
        this.#underWay.delete(nameOf(named))
        if (settle === undefined) this.#ofQueue--
      }
    }
  }

  #lose(jobs: readonly Job[], epoch: string): void {
    if (epoch === this.#epoch) this.#takeEpoch('')
    for (const job of jobs) job.settle?.({ kind: 'failed', reason: 'the store was restored meanwhile' })
  }

  async #settle(epoch: string, jobs: readonly Job[], { outcomes, unavailable, unread }: SliceResult): Promise<void> {
    const again: Job[] = []
    const inVain: Job[] = []
    const lost: Job[] = []
    const before = this.#successes
    const isStuck = jobs.every((job) => job.successes === before)
    for (const [at, job] of jobs.entries()) {
      const outcome = outcomes[at]
      if (outcome === undefined || outcome.kind === 'partly') {
        // A forced reindex must not embed again the texts that it has just embedded.
        if (outcome !== undefined) job.named = { ...job.named, force: false }
        const isTried = (unavailable !== undefined || unread !== undefined) && at < outcomes.length && outcome === undefined
        if (!isTried) again.push(job)
        else if (this.#isHopeless(job)) lost.push(job)
        else inVain.push(job)
        continue
      }
      this.#done(job, outcome)
    }
    this.#putBack(again)
    // Moved to the end of the queue: documents that cannot be embedded now must not block the others.
    for (const job of inVain) (job.settle === undefined ? this.#queued : this.#asked).push(job)
    const reason = unavailable?.message ?? unread
    if (lost.length > 0 && reason !== undefined) await this.#giveUp(epoch, lost, reason)
    if (this.#end.signal.aborted) return
    this.#failuresInRow = unavailable === undefined ? 0 : this.#failuresInRow + 1
    if (unavailable !== undefined) {
      this.#backOff(unavailable.message, unavailable.retryAfterMs)
      if (this.#failuresInRow >= EMBEDDING_TRIES_MAX) this.#failAsked(unavailable.message)
    }
    if (unavailable === undefined && unread === undefined) this.#waitMs = 0
    if (unread !== undefined && isStuck) this.#backOff(unread)
  }

  #done(job: Job, outcome: Outcome): void {
    this.#settled++
    if (outcome.kind === 'embedded') this.#successes++
    if (outcome.kind === 'failed') this.#report(job, outcome.reason)
    job.settle?.(outcome)
  }

  /** A reindex does not wait until a provider becomes available again. */
  #failAsked(reason: string): void {
    for (const job of this.#asked.splice(0)) this.#done(job, { kind: 'failed', reason })
  }

  /** Whether it was tried often enough while others were embedded. */
  #isHopeless(job: Job): boolean {
    job.failures++
    if (this.#successes > job.successes || job.settle !== undefined) job.tries++
    job.successes = this.#successes
    return job.tries >= EMBEDDING_TRIES_MAX
  }

  async #giveUp(epoch: string, jobs: readonly Job[], reason: string): Promise<void> {
    await this.slices.giveUp({ epoch, documents: jobs.map(({ named }) => named) }, this.#end.signal)
    for (const job of jobs) this.#done(job, { kind: 'failed', reason })
  }

  /** Puts jobs back in front of the waiting ones, in order. */
  #putBack(jobs: readonly Job[]): void {
    this.#asked = [...jobs.filter(({ settle }) => settle !== undefined), ...this.#asked]
    this.#queued = [...jobs.filter(({ settle }) => settle === undefined), ...this.#queued]
  }

  #backOff(reason: string, retryAfterMs = 0): void {
    if (this.#waitMs === 0) log.warn('embedding waits', { reason })
    this.#waitMs = Math.min(Math.max(EMBEDDING_WAIT_MS_MIN, this.#waitMs * 2), EMBEDDING_WAIT_MS_MAX)
    this.#waitUntil = performance.now() + Math.min(Math.max(this.#waitMs, retryAfterMs), EMBEDDING_WAIT_MS_MAX)
  }

  /** Logs at most one line per interval: if a whole collection is refused, the counters show the extent. */
  #report({ named }: Job, reason: string): void {
    if (performance.now() - this.#loggedAt < EMBEDDING_FAILURES_LOGGED_MS) return
    this.#loggedAt = performance.now()
    log.error(`not embedded: document ${nameOf(named)}`, { reason })
  }
}

/** Such a document may be the cause of the failures of its slices, so it gets a slice of its own. */
function isSuspect({ failures }: Job): boolean {
  return failures >= EMBEDDING_FAILURES_ALONE
}

function nameOf({ collection, docid }: NamedDocument): string {
  return `${collection}/${docid}`
}
