/**
 * What a client of the change feed gets: its filters, and its right to read each collection. Pure; front-end
 * thread only.
 */
import type { Principal } from '../../access/principal.js'
import type { ChangeEvent, FeedAsked } from '../../domain/feed/feed_types.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { JobEvent } from './job_events.js'

export type SentEvent = ChangeEvent | JobEvent

/** Collections of conversations. A feed that names none has nothing of them. */
const MEMORY_PREFIX = 'memory_'

export class FeedFilter {
  /** Equal filters have equal ones. */
  readonly signature: string
  readonly #asked: FeedAsked
  readonly #events: ReadonlySet<string>
  readonly #principal: Principal

  /** @param principal with its rights */
  constructor(asked: FeedAsked, principal: Principal) {
    const { collection, events, key, job } = asked
    this.#asked = asked
    this.#events = new Set(events)
    this.#principal = principal
    this.signature = JSON.stringify([collection, events, key, job, principal.rights?.plain ?? principal.kind])
  }

  /** Whether the collection that the client asks for may be read; true if it asks for none. */
  get isPermitted(): boolean {
    return this.#asked.collection === '' || this.#mayRead(this.#asked.collection)
  }

  admits(event: SentEvent): boolean {
    const { collection, key, job } = this.#asked
    const of = lowerCase(event.collection)
    if (this.#events.size > 0 && !this.#events.has(event.event)) return false
    if (collection === '' ? of.startsWith(MEMORY_PREFIX) : of !== collection) return false
    const isWanted = 'job' in event ? key === '' && (job === '' || event.job === job) : job === '' && isPrefixed(event.key, key)
    return isWanted && this.#mayRead(event.collection)
  }

  #mayRead(collection: string): boolean {
    const { kind, rights } = this.#principal
    return kind === 'anonymous' || rights?.permits('read', collection) === true
  }
}

/** A deleted collection has no key: it concerns all documents. */
function isPrefixed(key: string, prefix: string): boolean {
  return key === '' || lowerCase(key).startsWith(prefix)
}
