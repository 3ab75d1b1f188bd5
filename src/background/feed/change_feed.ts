/**
 * The change feed: what happens to documents and jobs, pushed to clients of every surface. The clients of one
 * form share one reader of the binlog (feed_stream.ts). While there are none, commits are not even noticed.
 * Front-end thread only. Decision: docs/decisions/interfaces/change-feed.md.
 */
import { addressKey } from '../../access/client_key.js'
import type { Config } from '../../config/config.js'
import { refusal } from '../../dispatch/answers/answers.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import type { Identities } from '../../dispatch/identities.js'
import type { IoTools } from '../../dispatch/io.js'
import type { FeedAsked } from '../../domain/feed/feed_types.js'
import { watchChanges } from '../../operations/documents/change_feed.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import { type ClientHome, FeedClient } from './feed_client.js'
import { FeedPages } from './feed_pages.js'
import { FeedStream } from './feed_stream.js'

/** How often rights of quiet clients are compared with the present ones. Before an event, they always are. */
const FEED_RIGHTS_MS = 1_000

/** Serves the clients of the feed for as long as the dispatcher does. */
export function serveFeed(config: Config, dispatcher: Dispatcher, identities: Identities): void {
  const feed = new ChangeFeed(config, dispatcher, identities)
  feed.begin()
}

class ChangeFeed implements ClientHome {
  readonly #config: Config
  readonly #dispatcher: Dispatcher
  readonly #plain: FeedStream
  readonly #withDocuments: FeedStream
  readonly #clients = new Set<FeedClient>()
  readonly #ofAddress = new Map<string, number>()
  #watch: NodeJS.Timeout | undefined

  constructor(config: Config, dispatcher: Dispatcher, identities: Identities) {
    this.#config = config
    this.#dispatcher = dispatcher
    const { control } = dispatcher
    const shared = {
      pages: new FeedPages(dispatcher),
      accessEpoch: () => control.accessEpoch,
      withRights: identities.withRights.bind(identities),
      isLeaving: () => control.phase === 'draining' || control.phase === 'unhealthy',
    }
    this.#plain = new FeedStream({ ...shared, withDocuments: false })
    this.#withDocuments = new FeedStream({ ...shared, withDocuments: true })
  }

  begin(): void {
    const dispatcher = this.#dispatcher
    dispatcher.onIo<FeedAsked>(watchChanges, (asked, tools) => Promise.resolve(this.#open(asked, tools)), { commits: false })
    // `changes`: entries were committed (src/consumers/change_feed.ts).
    for (const topic of ['changes', 'store']) dispatcher.notices.on(topic, () => this.#poke())
  }

  join(client: FeedClient): void {
    // Set first: a commit after it is noticed, one before it is found by the first page.
    this.#dispatcher.control.isFeedWatched = true
    this.#watch ??= setInterval(() => this.#recheck(), FEED_RIGHTS_MS).unref()
    this.#streamOf(client).join(client)
  }

  leave(client: FeedClient): void {
    if (!this.#clients.delete(client)) return
    this.#streamOf(client).leave(client)
    const left = (this.#ofAddress.get(client.address) ?? 0) - 1
    if (left > 0) this.#ofAddress.set(client.address, left)
    else this.#ofAddress.delete(client.address)
    this.#count()
    if (this.#clients.size > 0) return
    this.#dispatcher.control.isFeedWatched = false
    clearInterval(this.#watch)
    this.#watch = undefined
  }

  drained(client: FeedClient): void {
    this.#streamOf(client).drained(client)
  }

  #open(asked: FeedAsked, { principal, clientAddress }: IoTools): OutgoingAnswer {
    const address = addressKey(clientAddress() ?? '')
    if (this.#isFull(address)) return refusal('tooManyStreams')
    const push = new FeedClient(this, asked, principal, this.#dispatcher.control.accessEpoch, address)
    // Counted from here on: it is attached or detached.
    this.#clients.add(push)
    this.#ofAddress.set(address, (this.#ofAddress.get(address) ?? 0) + 1)
    this.#count()
    return { code: null, contentType: 'text/event-stream', facts: [], isCompressed: false, body: '', push }
  }

  #streamOf({ asked }: FeedClient): FeedStream {
    return asked.withDocuments ? this.#withDocuments : this.#plain
  }

  #isFull(address: string): boolean {
    const { sseClientsMax, sseClientsOfAddressMax } = this.#config
    return this.#clients.size >= sseClientsMax || (this.#ofAddress.get(address) ?? 0) >= sseClientsOfAddressMax
  }

  #poke(): void {
    this.#plain.poke()
    this.#withDocuments.poke()
  }

  #recheck(): void {
    this.#plain.recheck()
    this.#withDocuments.recheck()
  }

  #count(): void {
    this.#dispatcher.telemetry.set('feed_clients', this.#clients.size)
  }
}
