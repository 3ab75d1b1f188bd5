/**
 * Reindexes of vectors. Page by page, a lane returns the documents that lack current vectors, and the worker
 * embeds them beside those that wait. The request is answered when all are done, which may take hours. The
 * work continues if its client disconnects, as long as whoever asked for it may write. A crash ends it. A new
 * request resumes where it stopped, because current vectors are skipped. Front-end thread only.
 */
import { setTimeout } from 'node:timers/promises'
import { outgoing, refusal } from '../../dispatch/answers/answers.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor, Refused } from '../../dispatch/inner_request.js'
import type { Io } from '../../dispatch/io.js'
import { isUnavailable } from '../../errors.js'
import { BATCH_ERRORS_MAX } from '../../limits/documents.js'
import { EMBEDDING_STORE_RETRY_MS } from '../../limits/embedding.js'
import { unembedded, vectorReindex } from '../../operations/server/embedding.js'
import type { EmbeddingProvider } from '../../outbound/embedding/provider.js'
import type { NamedDocuments, ReindexMessage } from '../../wire/messages/embedding_messages.js'
import type { Outcome } from './slices.js'
import type { CurrentProvider, EmbeddingWorker } from './worker.js'

/** Reindexes of vectors at the same time. Each keeps two pages in memory. */
const REINDEXES_MAX = 8

interface Page extends NamedDocuments {
  readonly ids: readonly string[]
  readonly skipped: number
  /** Docid to continue with; 0: that was the last page. */
  readonly next: number
}

class Tally {
  embedded = 0
  skipped = 0
  failed = 0
  totalChunks = 0
  readonly errors: string[] = []

  count(outcome: Outcome, name: string): void {
    if (outcome.kind === 'embedded') {
      this.embedded++
      this.totalChunks += outcome.chunks
    } else if (outcome.kind === 'failed') this.fail(1, `${name}: ${outcome.reason}`)
    else this.skipped++
  }

  fail(count: number, error: string): void {
    this.failed += count
    if (this.errors.length < BATCH_ERRORS_MAX) this.errors.push(error)
  }
}

export class EmbeddingReindexes {
  #running = 0

  constructor(
    readonly dispatcher: Dispatcher,
    readonly worker: EmbeddingWorker,
    readonly provider: CurrentProvider,
  ) {}

  /** Registers the handler of the operation. */
  offer(): void {
    this.dispatcher.onIo(vectorReindex, this.#reindex, { commits: false })
  }

  readonly #reindex: Io<ReindexMessage> = async (wanted) => {
    const provider = this.provider.current()
    if (provider === undefined) return refusal('noEmbeddingProvider')
    if (this.#running >= REINDEXES_MAX) return refusal('overloaded')
    this.#running++
    try {
      const { embedded, skipped, failed, errors, totalChunks } = await this.#run(wanted, provider)
      return outgoing({ body: JSON.stringify({ embedded, skipped, failed, errors, totalChunks }) })
    } finally {
      this.#running--
    }
  }

  async #run(wanted: ReindexMessage, provider: EmbeddingProvider): Promise<Tally> {
    const { collection, documents } = wanted
    const tally = new Tally()
    const giveUp = (reason: string): Tally => {
      const left = documents - tally.embedded - tally.skipped - tally.failed
      if (left > 0) tally.fail(left, reason)
      return tally
    }
    // The next page is started before this one is done, so that the provider is never idle.
    let before = Promise.resolve(true)
    for (let docid = collection === 0 ? 0 : 1; docid > 0;) {
      // The provider may have changed: vectors of the previous one are not current for it.
      const page = await this.#page(wanted, docid, this.provider.current() ?? provider)
      if (page === null) {
        await before
        return giveUp('forbidden: the others were not tried')
      }
      tally.skipped += page.skipped
      const embedding = this.#embed(page, tally)
      if (!(await before)) {
        await embedding
        return giveUp('the others were not tried')
      }
      before = embedding
      docid = page.next
    }
    await before
    return tally
  }

  /** @returns false if none of them could be embedded, because the next ones could not be embedded either */
  async #embed(page: Page, tally: Tally): Promise<boolean> {
    const outcomes = await this.worker.embed(page)
    outcomes.forEach((outcome, at) => tally.count(outcome, page.ids[at] ?? ''))
    return outcomes.length === 0 || outcomes.some(({ kind }) => kind !== 'failed')
  }

  /** @returns null if the submitter may not write any more */
  async #page(
    { collection, name, force, submitter }: ReindexMessage,
    docid: number,
    { variant, dimensions }: EmbeddingProvider,
  ): Promise<Page | null> {
    for (;;) {
      try {
        return await askFor<Page>(this.dispatcher, unembedded, { collection, docid, force, variant, dimensions, name, submitter })
      } catch (error) {
        if (error instanceof Refused && error.code === 'forbidden') return null
        if (!(error instanceof Refused) || !isUnavailable(error.code)) throw error
        await setTimeout(EMBEDDING_STORE_RETRY_MS)
      }
    }
  }
}
