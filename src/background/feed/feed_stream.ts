/**
 * The clients of one form of the change feed: events with the document, or without. One page is read for all
 * that are up to date, after each notice of commits. Whoever resumes, has not read what was sent, or has
 * other rights now, catches up by pages of its own, until it meets the others.
 *
 * Invariant: a client has been sent everything up to its position, and a page begins at or below the position
 * of every client that gets it. So nothing is missing, and nothing comes twice. Front-end thread only.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Principal } from '../../access/principal.js'
import type { FeedPage } from '../../domain/feed/feed_types.js'
import type { ErrorCode } from '../../errors.js'
import { type FeedPosition } from '../../operations/row/feed_position.js'
import { log } from '../../telemetry/log.js'
import type { FeedClient } from './feed_client.js'
import type { FeedPages } from './feed_pages.js'
import { JobEvents } from './job_events.js'
import { SentPage } from './sent_page.js'

/** Milliseconds before a page is read again that a lane has refused, as while a restore is adopted. */
const FEED_RETRY_MS = 100

interface FeedStreamParts {
  readonly pages: FeedPages
  readonly withDocuments: boolean
  readonly accessEpoch: () => number
  /** Looks up the rights of a principal. @returns a code: it may not go on */
  readonly withRights: (principal: Principal) => Principal | Promise<Principal | ErrorCode>
  /** Whether the server ends. */
  readonly isLeaving: () => boolean
}

export class FeedStream {
  readonly #parts: FeedStreamParts
  readonly #clients = new Set<FeedClient>()
  /** Where the clients stand that are up to date. Undefined: there are no clients. */
  #head: FeedPosition | undefined
  #jobs = new JobEvents()
  #isReading = false
  #isDue = false

  constructor(parts: FeedStreamParts) {
    this.#parts = parts
  }

  join(client: FeedClient): void {
    if (this.#clients.size === 0) this.#head = client.asked.present
    this.#clients.add(client)
    void this.#catchUp(client)
    // Commits that came before the consumer of the binlog knew of the client are found by this.
    this.poke()
  }

  /** Does nothing for one that has not joined. */
  leave(client: FeedClient): void {
    this.#clients.delete(client)
    if (this.#clients.size === 0) {
      this.#head = undefined
      this.#jobs = new JobEvents()
    }
  }

  drained(client: FeedClient): void {
    void this.#catchUp(client)
  }

  /** There may be further entries. */
  poke(): void {
    this.#isDue = true
    if (!this.#isReading) void this.#follow()
  }

  /** Looks up the rights of clients whose rights may have changed. */
  recheck(): void {
    for (const client of this.#clients) if (client.state === 'live' && !this.#isCurrent(client)) void this.#check(client)
  }

  /** Never rejects. */
  async #follow(): Promise<void> {
    this.#isReading = true
    while (this.#isDue && this.#head !== undefined) {
      this.#isDue = false
      const page = await this.#readNow(this.#head)
      if (page === undefined) this.#isDue = true
      else if (this.#head !== undefined) this.#deliver(page)
    }
    this.#isReading = false
  }

  #deliver(read: FeedPage): void {
    const page = new SentPage(read, (news) => this.#jobs.of(news))
    this.#head = { lsn: page.lsn, epoch: page.epoch }
    this.#isDue ||= page.isMore
    for (const client of this.#clients) {
      if (client.state !== 'live') continue
      const isThere = client.at.epoch === page.epoch && client.at.lsn >= page.after
      this.#give(client, page, page.isReset && !isThere)
    }
  }

  /** @returns undefined if the page is to be read again */
  async #readNow(from: FeedPosition): Promise<FeedPage | undefined> {
    try {
      return await this.#parts.pages.readNow(from, this.#parts.withDocuments)
    } catch (error) {
      await this.#pause(error)
      return undefined
    }
  }

  /** Reads pages for one client until it stands where the others do. Never rejects. */
  async #catchUp(client: FeedClient): Promise<void> {
    client.state = 'catchingUp'
    while (client.state === 'catchingUp') {
      if (this.#isUpToDate(client)) {
        client.state = 'live'
        return
      }
      try {
        const page = await this.#parts.pages.read(client.at, this.#parts.withDocuments)
        if (isCatchingUp(client)) this.#give(client, page, page.isReset)
      } catch (error) {
        await this.#pause(error)
      }
    }
  }

  #isUpToDate({ at }: FeedClient): boolean {
    return this.#head?.epoch === at.epoch && at.lsn >= this.#head.lsn
  }

  #give(client: FeedClient, page: SentPage, isReset: boolean): void {
    if (this.#isCurrent(client)) client.take(page, isReset)
    else void this.#check(client)
  }

  #isCurrent({ principal, epoch }: FeedClient): boolean {
    return principal.kind !== 'user' || epoch === this.#parts.accessEpoch()
  }

  /** Nothing is sent to the client meanwhile. Never rejects. */
  async #check(client: FeedClient): Promise<void> {
    client.state = 'checking'
    const epoch = this.#parts.accessEpoch()
    const found = await this.#parts.withRights(client.principal)
    if (client.state !== 'checking') return
    if (typeof found === 'string') return client.end()
    client.become(found, epoch)
    if (client.filter.isPermitted) await this.#catchUp(client)
    else client.end()
  }

  async #pause(error: unknown): Promise<void> {
    if (this.#parts.isLeaving()) for (const client of this.#clients) client.end()
    else log.debug('change feed: a page is read again', { reason: error })
    await sleep(FEED_RETRY_MS)
  }
}

function isCatchingUp({ state }: FeedClient): boolean {
  return state === 'catchingUp'
}
