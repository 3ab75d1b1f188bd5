/**
 * A page of the change feed as clients get it: the bytes for each combination of filter and rights are made
 * once, however many clients have it. Front-end thread only.
 */
import type { FeedPage, JobNews } from '../../domain/feed/feed_types.js'
import { printPosition } from '../../operations/row/feed_position.js'
import type { FeedFilter, SentEvent } from './feed_filter.js'
import type { JobEvent } from './job_events.js'

const NOTHING = Buffer.alloc(0)

export class SentPage {
  readonly lsn: number
  readonly after: number
  readonly epoch: string
  readonly isReset: boolean
  /** Whether there are further entries. */
  readonly isMore: boolean
  readonly #events: readonly SentEvent[]
  readonly #reset: Buffer
  readonly #bytes = new Map<string, Buffer>()

  /** @param eventsOf makes the events of what is known of a job */
  constructor(page: FeedPage, eventsOf: (news: JobNews) => readonly JobEvent[]) {
    const { lsn, after, epoch, isReset, last } = page
    this.lsn = lsn
    this.after = after
    this.epoch = epoch
    this.isReset = isReset
    this.isMore = lsn < last
    this.#events = page.events.flatMap((event): readonly SentEvent[] => ('status' in event ? eventsOf(event) : [event]))
    this.#reset = Buffer.from(resetEvent(page))
  }

  /**
   * What a client gets of the page; empty: nothing.
   * @param from LSN up to which the client has all
   */
  bytesFor(filter: FeedFilter, from: number, isReset: boolean): Uint8Array {
    const begin = Math.max(from, this.after)
    const signature = `${begin} ${isReset ? 1 : 0} ${filter.signature}`
    let bytes = this.#bytes.get(signature)
    if (bytes === undefined) {
      const text = this.#events.filter((event) => event.lsn > begin && filter.admits(event)).map((event) => event.text)
      bytes = text.length === 0 ? NOTHING : Buffer.from(text.join(''))
      if (isReset) bytes = Buffer.concat([this.#reset, bytes])
      this.#bytes.set(signature, bytes)
    }
    return bytes
  }
}

/** Its id is the position from which the stream goes on. */
function resetEvent({ after, epoch, last }: FeedPage): string {
  const data = JSON.stringify({ event: 'reset', oldestLsn: after + 1, lastLsn: last })
  return `id: ${printPosition({ lsn: after, epoch })}\nevent: reset\ndata: ${data}\n\n`
}
