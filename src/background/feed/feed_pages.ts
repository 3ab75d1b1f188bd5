/**
 * Reads pages of the change feed on the lanes. Clients that stand at the same position share a page, and few
 * pages are read at a time, so that a thousand clients that resume together do not occupy the lanes.
 * Front-end thread only.
 */
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor } from '../../dispatch/inner_request.js'
import type { FeedPage } from '../../domain/feed/feed_types.js'
import { changePage } from '../../operations/documents/change_feed.js'
import { type FeedPosition } from '../../operations/row/feed_position.js'
import { endOfJob } from './job_events.js'
import { SentPage } from './sent_page.js'

/** Pages for clients that catch up that are read at a time: other requests use the lanes as well. */
const FEED_READS_MAX = 2

export class FeedPages {
  readonly #dispatcher: Dispatcher
  readonly #reading = new Map<string, Promise<SentPage>>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher
  }

  /** For those that get what happens now. Waits for no other page. @throws Refused */
  async readNow(from: FeedPosition, withDocuments: boolean): Promise<FeedPage> {
    return await askFor<FeedPage>(this.#dispatcher, changePage, { ...from, withDocuments })
  }

  /** For clients that catch up: of jobs, it has only how they have ended. @throws Refused */
  read(from: FeedPosition, withDocuments: boolean): Promise<SentPage> {
    const key = `${from.lsn} ${from.epoch} ${withDocuments ? 1 : 0}`
    const known = this.#reading.get(key)
    if (known !== undefined) return known
    const page = this.#readInTurn(from, withDocuments).finally(() => this.#reading.delete(key))
    this.#reading.set(key, page)
    return page
  }

  async #readInTurn(from: FeedPosition, withDocuments: boolean): Promise<SentPage> {
    if (this.#running >= FEED_READS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running++
    try {
      return new SentPage(await this.readNow(from, withDocuments), endOfJob)
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }
}
