/**
 * The deliveries of one webhook that are in memory, in the order of the changes. Deliveries about one
 * document keep their order: a later one waits until the earlier one was accepted or given up, others pass
 * it. The deletion of a collection waits for everything before it in the collection, and what follows waits
 * for it. Pure, but for the clock that its callers pass.
 */
import type { DueDelivery, WebhookTarget } from '../../domain/webhooks/due_deliveries.js'

/**
 * Deliveries of one webhook in memory: those that wait for another attempt hold up the others from there on.
 */
export const HELD_OF_HOOK_MAX = 256

export interface Held {
  readonly delivery: DueDelivery
  /** Dropped where it can't be sent at once: it is asked for again. */
  body: Uint8Array | null
  /** `asked`: its payload is being read. `settled`: the store is being told. */
  state: 'waiting' | 'asked' | 'sent' | 'settled'
  attempts: number
  /** Unix milliseconds. */
  dueAt: number
  /** Of the first attempt that this process has made; undefined: it has made none. */
  firstAt: number | undefined
}

export class HookQueue {
  #target: WebhookTarget
  /** Scheme, host and port: deliveries to one receiver share its bounds. */
  receiver: string
  /** By LSN, ascending. */
  readonly #held = new Map<number, Held>()
  /** LSN of the last delivery that was read. */
  after = 0

  constructor(target: WebhookTarget) {
    this.#target = target
    this.receiver = receiverOf(target)
  }

  get target(): WebhookTarget {
    return this.#target
  }

  /** Its secrets or headers may have changed. */
  set target(target: WebhookTarget) {
    this.#target = target
    this.receiver = receiverOf(target)
  }

  get size(): number {
    return this.#held.size
  }

  /** How many more it takes. */
  get space(): number {
    return HELD_OF_HOOK_MAX - this.#held.size
  }

  /** Whether any is being read, sent or settled. */
  get isUnderWay(): boolean {
    return [...this.#held.values()].some(({ state }) => state !== 'waiting')
  }

  /** Bytes of the payloads that are in memory. */
  get bytes(): number {
    let bytes = 0
    for (const { body } of this.#held.values()) bytes += body?.length ?? 0
    return bytes
  }

  dropPayloads(): void {
    for (const held of this.#held.values()) held.body = null
  }

  /** One that is there already may have got its payload. */
  add(delivery: DueDelivery): void {
    const { lsn, body, attempts, dueAt } = delivery
    const held = this.#held.get(lsn)
    // A copy: it is a view of the whole page, which is cloned and kept with it.
    const own = body === null ? null : new Uint8Array(body)
    const facts = { ...delivery, body: null }
    if (held === undefined) this.#held.set(lsn, { delivery: facts, body: own, state: 'waiting', attempts, dueAt, firstAt: undefined })
    else if (held.state === 'asked') Object.assign(held, { body: own, state: 'waiting' })
    this.after = Math.max(this.after, lsn)
  }

  get(lsn: number): Held | undefined {
    return this.#held.get(lsn)
  }

  remove(lsn: number): void {
    this.#held.delete(lsn)
  }

  /** Reads from the first row on again: a delivery was put back. Those in memory stay. */
  rewind(): void {
    this.after = 0
  }

  /** Nothing came: they are asked for again. */
  askAgain(): void {
    for (const held of this.#held.values()) if (held.state === 'asked') held.state = 'waiting'
  }

  /** A delivery that was asked for and did not come is gone from the store. */
  forgetAsked(): void {
    for (const [lsn, { state }] of this.#held) if (state === 'asked') this.#held.delete(lsn)
  }

  /** Those that may be sent now, in order, at most `count`. */
  sendable(count: number, now: number): Held[] {
    const found: Held[] = []
    if (count <= 0) return found
    const documents = new Set<string>()
    const collections = new Set<number>()
    const barriers = new Set<number>()
    for (const held of inOrder(this.#held)) {
      const { document, collection } = held.delivery
      const isBarrier = document === ''
      const isBlocked = barriers.has(collection) || (isBarrier ? collections.has(collection) : documents.has(document))
      if (!isBlocked && held.state === 'waiting' && held.dueAt <= now && found.push(held) >= count) return found
      documents.add(document)
      collections.add(collection)
      if (isBarrier) barriers.add(collection)
    }
    return found
  }

  /** When the next one comes due that is not due yet; Infinity: none. Others wait for an outcome. */
  nextDueAt(now: number): number {
    let next = Infinity
    for (const { state, dueAt } of this.#held.values()) if (state === 'waiting' && dueAt > now) next = Math.min(next, dueAt)
    return next
  }
}

const receiverOf = ({ url }: WebhookTarget): string => new URL(url).origin

/** They are added in order but for those that were put back. */
function inOrder(held: ReadonlyMap<number, Held>): Iterable<Held> {
  let last = -1
  for (const lsn of held.keys()) {
    if (lsn < last) return [...held.values()].sort((one, other) => one.delivery.lsn - other.delivery.lsn)
    last = lsn
  }
  return held.values()
}
