/**
 * A client of the change feed: who asks for what, how far it has come, and the push to which its events are
 * written. Front-end thread only.
 */
import type { Principal } from '../../access/principal.js'
import type { FeedAsked } from '../../domain/feed/feed_types.js'
import { type FeedPosition, printPosition } from '../../operations/row/feed_position.js'
import type { BodyPush, PushedBody } from '../../wire/body_streams.js'
import { FeedFilter } from './feed_filter.js'
import type { SentPage } from './sent_page.js'

/**
 * Milliseconds after which clients come again when the server ends: not before, and within this time of each
 * other, so that a thousand do not come at once.
 */
const RETRY_MS_MIN = 1_000
const RETRY_MS_SPREAD = 4_000
/**
 * Entries after which a client that got no event of them is told its position, so that it does not resume
 * from entries that are long trimmed.
 */
const FEED_SILENT_ENTRIES_MAX = 1_024

const PULSE = Buffer.from(':\n\n')

/** Where a client is served. */
export interface ClientHome {
  join(client: FeedClient): void
  leave(client: FeedClient): void
  drained(client: FeedClient): void
}

/**
 * `live`: it gets the pages that are read for all. `catchingUp`: pages are read for it. `behind`: it has not
 * read what was sent. `checking`: its rights may have changed.
 */
type FeedState = 'catchingUp' | 'live' | 'behind' | 'checking' | 'gone'

export class FeedClient implements PushedBody {
  readonly pulse = PULSE
  readonly farewell = Buffer.from(`retry: ${RETRY_MS_MIN + Math.floor(Math.random() * RETRY_MS_SPREAD)}\n\n`)
  state: FeedState = 'catchingUp'
  at: FeedPosition
  filter: FeedFilter
  /** The access epoch in which its rights were looked up. */
  epoch: number
  #push: BodyPush | undefined
  /** The last position that the client was told. */
  #toldLsn: number

  constructor(
    readonly home: ClientHome,
    readonly asked: FeedAsked,
    public principal: Principal,
    accessEpoch: number,
    /** Under which its address is counted; empty: it is not known. */
    readonly address: string,
  ) {
    this.at = asked.since ?? asked.present
    this.#toldLsn = this.at.lsn
    this.filter = new FeedFilter(asked, principal)
    this.epoch = accessEpoch
  }

  attach(push: BodyPush): void {
    this.#push = push
    // Without it, a client that resumes before its first event would miss what happened in between.
    if (this.asked.since === null) push.write(Buffer.from(`id: ${printPosition(this.at)}\n\n`))
    this.home.join(this)
  }

  detach(): void {
    this.state = 'gone'
    this.home.leave(this)
  }

  drained(): void {
    if (this.state === 'behind') this.home.drained(this)
  }

  /** The rights of the caller have been looked up again. */
  become(principal: Principal, accessEpoch: number): void {
    this.principal = principal
    this.epoch = accessEpoch
    this.filter = new FeedFilter(this.asked, principal)
  }

  /** @param isReset whether the client misses what was before the page */
  take(page: SentPage, isReset: boolean): void {
    const from = isReset ? page.after : this.at.lsn
    const bytes = page.bytesFor(this.filter, from, isReset)
    this.at = { lsn: Math.max(from, page.lsn), epoch: page.epoch }
    if (bytes.length > 0) this.#write(bytes)
    else if (this.at.lsn - this.#toldLsn > FEED_SILENT_ENTRIES_MAX) this.#write(Buffer.from(`id: ${printPosition(this.at)}\n\n`))
  }

  /** Ends the stream in order. */
  end(): void {
    this.state = 'gone'
    this.#push?.end()
    this.home.leave(this)
  }

  #write(bytes: Uint8Array): void {
    this.#toldLsn = this.at.lsn
    // It may detach within the call.
    if (this.#push?.write(bytes) !== true && this.state !== 'gone') this.state = 'behind'
  }
}
