/**
 * Sends what waits for webhooks. The backlog is in the store; a window of it is in memory here and is lost
 * with the process. What a receiver has accepted leaves the store after that, so that a crash in between
 * sends it again, under the same id. Each receiver has its own share of the posts under way, so that one that
 * is slow or away holds up no other. Front-end thread only. Decision: docs/decisions/interfaces/webhooks.md.
 */
import { setTimeout } from 'node:timers/promises'
import { Chore, type ChoreTools, type Rest } from '../../chore.js'
import type { Config } from '../../config/config.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { ask } from '../../dispatch/inner_request.js'
import type { SettledDeliveries } from '../../domain/settings/webhook_commands.js'
import { dueDeliveries, settleDeliveries } from '../../operations/settings/webhooks.js'
import type { Service } from '../../services.js'
import type { DeliveryOutcome } from '../../store/deliveries/delivery_record.js'
import { log } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import { textOf } from '../../wire/answer.js'
import { decodeMessage, encodeMessage } from '../../wire/messages/messages.js'
import type { DueDeliveries, WebhookOutcome, WebhookPost } from '../../wire/messages/webhook_messages.js'
import { nextAttemptAt, WAIT_MS_MAX } from './attempts.js'
import { Circuits } from './circuit.js'
import { type Held, HookQueue } from './hook_queue.js'
import { WebhookThread } from './webhook_thread.js'

/** Deliveries in memory, without their payloads: 2 MB. */
const DELIVERIES_HELD_MAX = 8192
/** Posts under way at a time: to all receivers, and to one. */
const POSTS_MAX = 256
const POSTS_OF_RECEIVER_MAX = 8
/** Bytes of payloads under way above which no more are read. */
const POSTED_BYTES_MAX = 32 * 1024 * 1024
/** Bytes of payloads that wait to be sent, beside one page of them. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024
/** Deliveries of one page. */
const PAGE_DELIVERIES_MAX = 512
/** Outcomes that one command has stored. */
const SETTLED_MAX = 1024
/** Pause after a lane could not answer, or the store refused outcomes. */
const RETRY_MS = 500

/** Topics of notices after which rows are read that lie behind, and those after which targets are. */
const PUT_BACK = ['deliveries/again', 'store'] as const
const CHANGED = ['setting/webhook', 'setting/webhook-secret', 'setting/user', 'setting/group', 'setting/group-members', 'store'] as const

interface Sent {
  readonly hook: string
  readonly lsn: number
  readonly epoch: string
  readonly receiver: string
  readonly bytes: number
  /** Attempts before this one. */
  readonly attempts: number
  readonly firstAt: number
  readonly startedAt: number
}

/** What the store is to be told. */
interface Noted {
  readonly hook: string
  readonly outcome: DeliveryOutcome
}

export class Webhooks implements Service {
  readonly name = 'webhooks'
  readonly #dispatcher: Dispatcher
  readonly #telemetry: Telemetry
  readonly #waitPercent: number
  readonly #chore: Chore
  readonly #thread: WebhookThread
  readonly #queues = new Map<string, HookQueue>()
  readonly #circuits: Circuits
  readonly #end = new AbortController()
  /** Posts under way, by number, and how many of each receiver. */
  readonly #sent = new Map<number, Sent>()
  readonly #ofReceiver = new Map<string, number>()
  #numbers = 0
  #sentBytes = 0
  #held = 0
  /** Outcomes that the store is to be told. */
  #outcomes: Noted[] = []
  #settling: Promise<void> | undefined
  #epoch = ''
  /** There may be rows that were not read. */
  #mayHaveMore = true
  #isChanged = false
  /** Rows were put back that lie behind what was read. */
  #isPutBack = false
  /** Webhooks whose receivers are left alone, out of memory, and until when. */
  readonly #parked = new Map<string, number>()
  /** A failure was logged, and nothing has succeeded since. */
  #isWarned = false

  constructor(config: Config, dispatcher: Dispatcher, telemetry: Telemetry, tools: ChoreTools) {
    this.#dispatcher = dispatcher
    this.#telemetry = telemetry
    this.#waitPercent = config.limits.WEBHOOK_WAIT_PERCENT
    this.#circuits = new Circuits(this.#waitPercent)
    this.#thread = new WebhookThread(config, (outcomes) => this.#hear(outcomes))
    this.#chore = new Chore(tools, { name: this.name, failure: 'nothing is sent to webhooks', round: () => this.#round() })
    dispatcher.notices.on('deliveries', () => this.#wake())
    const putBack = (): void => {
      this.#isPutBack = true
      this.#wake()
    }
    for (const topic of PUT_BACK) dispatcher.notices.on(topic, putBack)
    const changed = (): void => {
      this.#isChanged = true
      this.#wake()
    }
    for (const topic of CHANGED) dispatcher.notices.on(topic, changed)
  }

  start(): void {
    this.#chore.start()
  }

  /** Outcomes that have come are stored. What is under way is sent again by the next start. */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#chore.stop()
    await this.#thread.stop()
    while (this.#settling !== undefined) await this.#settling
  }

  #wake(): void {
    this.#mayHaveMore = true
    this.#chore.wake()
  }

  async #round(): Promise<Rest> {
    this.#unpark()
    this.#send()
    if (this.#held >= DELIVERIES_HELD_MAX) this.#park()
    const isFull = this.#held >= DELIVERIES_HELD_MAX || this.#sentBytes >= POSTED_BYTES_MAX || this.#sent.size >= POSTS_MAX
    const asked = this.#askedAgain()
    if ((this.#mayHaveMore && !isFull) || asked.length > 0 || this.#isChanged) {
      if (!(await this.#read(asked, isFull))) return RETRY_MS
      this.#send()
      this.#dropPayloads()
      return this.#mayHaveMore && !isFull ? 0 : this.#rest()
    }
    return this.#rest()
  }

  /**
   * Until the next attempt is due, or a receiver is tried again. Outcomes and notices wake the chore before.
   */
  #rest(): Rest {
    const now = Date.now()
    let next = Math.min(Infinity, ...this.#parked.values())
    for (const queue of this.#queues.values()) {
      const pausedUntil = this.#circuits.pausedUntil(queue.receiver)
      next = Math.min(next, pausedUntil > now ? pausedUntil : queue.nextDueAt(now))
    }
    return next === Infinity ? 'idle' : Math.min(Math.max(next - now, 1), WAIT_MS_MAX)
  }

  /** @returns false: it could not be read now */
  async #read(again: readonly (readonly [string, number])[], isFull: boolean): Promise<boolean> {
    const isChanged = this.#isChanged
    this.#isChanged = false
    if (this.#isPutBack) for (const queue of this.#queues.values()) queue.rewind()
    this.#isPutBack = false
    const queues = [...this.#queues]
    const full = queues.filter(([, queue]) => queue.space <= 0 || !this.#isOpen(queue)).map(([id]) => id)
    const skip = [...full, ...this.#parked.keys()]
    const after = Object.fromEntries(queues.map(([id, queue]) => [id, queue.after]))
    const count = isFull ? 0 : Math.min(PAGE_DELIVERIES_MAX, DELIVERIES_HELD_MAX - this.#held)
    this.#mayHaveMore &&= isFull
    const answer = await ask(this.#dispatcher, dueDeliveries, { message: encodeMessage({ after, skip, again, isChanged, count }) })
    if (answer.code !== null) {
      this.#warn('webhooks: what is due could not be read', textOf(answer))
      this.#isChanged ||= isChanged
      this.#mayHaveMore = true
      for (const [, queue] of queues) queue.askAgain()
      return false
    }
    this.#isWarned = false
    this.#take(decodeMessage<DueDeliveries>(answer.body as Uint8Array), count)
    return true
  }

  #take({ epoch, targets, gone, deliveries }: DueDeliveries, count: number): void {
    if (epoch !== this.#epoch) this.#forgetAll(epoch)
    for (const target of targets) {
      const queue = this.#queues.get(target.hook)
      if (queue === undefined) this.#queues.set(target.hook, new HookQueue(target))
      else queue.target = target
    }
    for (const delivery of deliveries) this.#queues.get(delivery.hook)?.add(delivery)
    for (const queue of this.#queues.values()) queue.forgetAsked()
    for (const hook of gone) {
      const queue = this.#queues.get(hook)
      if (queue !== undefined) this.#circuits.accepted(queue.receiver)
      this.#queues.delete(hook)
    }
    for (const [hook, { size }] of this.#queues) if (size === 0) this.#queues.delete(hook)
    this.#mayHaveMore ||= count > 0 && deliveries.length > 0
    this.#count()
  }

  /** Makes space: receivers that are away must not keep the deliveries of others from being read. */
  #park(): void {
    const now = Date.now()
    for (const [hook, queue] of this.#queues) {
      const pausedUntil = this.#circuits.pausedUntil(queue.receiver)
      if (pausedUntil <= now || queue.isUnderWay) continue
      this.#parked.set(hook, pausedUntil)
      this.#queues.delete(hook)
    }
    this.#count()
  }

  #unpark(): void {
    const now = Date.now()
    for (const [hook, until] of this.#parked) {
      if (until > now) continue
      this.#parked.delete(hook)
      this.#mayHaveMore = true
    }
  }

  /** Once until something has succeeded again. */
  #warn(text: string, reason: string): void {
    if (!this.#isWarned) log.warn(text, { reason })
    this.#isWarned = true
  }

  /** Another store is served: what is in memory does not concern it. */
  #forgetAll(epoch: string): void {
    this.#epoch = epoch
    this.#queues.clear()
    this.#parked.clear()
    this.#outcomes = []
  }

  #isOpen({ receiver }: HookQueue): boolean {
    return this.#circuits.allowed(receiver, POSTS_OF_RECEIVER_MAX, Date.now()) > 0
  }

  /** Deliveries whose payloads were dropped and that may be sent now. */
  #askedAgain(): (readonly [hook: string, lsn: number])[] {
    const asked: (readonly [string, number])[] = []
    if (this.#sentBytes >= POSTED_BYTES_MAX) return asked
    for (const [hook, held] of this.#sendable()) {
      if (held.body !== null) continue
      held.state = 'asked'
      asked.push([hook, held.delivery.lsn])
    }
    return asked
  }

  *#sendable(): Generator<readonly [hook: string, held: Held]> {
    const now = Date.now()
    for (const [hook, queue] of this.#queues) {
      const { receiver } = queue
      const underWay = this.#ofReceiver.get(receiver) ?? 0
      const free = Math.min(this.#circuits.allowed(receiver, POSTS_OF_RECEIVER_MAX, now) - underWay, POSTS_MAX - this.#sent.size)
      for (const held of queue.sendable(free, now)) yield [hook, held]
    }
  }

  #send(): void {
    const posts: WebhookPost[] = []
    for (const [hook, held] of this.#sendable()) {
      const queue = this.#queues.get(hook) as HookQueue
      const { body, delivery } = held
      if (body === null) continue
      const number = ++this.#numbers
      held.state = 'sent'
      held.body = null
      held.firstAt ??= Date.now()
      const { receiver } = queue
      const { lsn } = delivery
      const { attempts, firstAt } = held
      const startedAt = Date.now()
      this.#sent.set(number, { hook, lsn, epoch: this.#epoch, receiver, bytes: body.length, attempts, firstAt, startedAt })
      this.#ofReceiver.set(receiver, (this.#ofReceiver.get(receiver) ?? 0) + 1)
      this.#sentBytes += body.length
      posts.push({ number, id: `${hook}:${delivery.lsn}`, event: delivery.event, target: queue.target, body })
    }
    this.#thread.send(posts)
    // The others come first the next time.
    for (const hook of new Set(posts.map(({ target }) => target.hook))) {
      const queue = this.#queues.get(hook) as HookQueue
      this.#queues.delete(hook)
      this.#queues.set(hook, queue)
    }
  }

  /** They are asked for again when their deliveries may be sent. */
  #dropPayloads(): void {
    let bytes = 0
    for (const queue of this.#queues.values()) {
      bytes += queue.bytes
      if (bytes > KEPT_BYTES_MAX) queue.dropPayloads()
    }
  }

  #hear(outcomes: readonly WebhookOutcome[]): void {
    for (const outcome of outcomes) this.#settle(outcome)
    this.#store()
    this.#chore.wake()
  }

  #settle({ number, httpStatus, error }: WebhookOutcome): void {
    const sent = this.#sent.get(number)
    if (sent === undefined) return
    this.#sent.delete(number)
    this.#sentBytes -= sent.bytes
    const left = (this.#ofReceiver.get(sent.receiver) ?? 1) - 1
    if (left === 0) this.#ofReceiver.delete(sent.receiver)
    else this.#ofReceiver.set(sent.receiver, left)
    if (error === '') this.#circuits.accepted(sent.receiver)
    else this.#circuits.failed(sent.receiver, Date.now())
    this.#telemetry.add(error === '' ? 'webhook_deliveries' : 'webhook_failures', 1)
    // Of another store, it concerns another change.
    if (sent.epoch === this.#epoch) this.#note(sent, httpStatus, error)
  }

  /** Its queue may be gone meanwhile: the store is told nevertheless. */
  #note(sent: Sent, httpStatus: number, error: string): void {
    const { hook, lsn } = sent
    const attempts = sent.attempts + 1
    const dueAt = error === '' ? 0 : this.#dueAgain(attempts, sent)
    const state = error === '' ? 'delivered' : dueAt === undefined ? 'dead' : 'waiting'
    if (state === 'dead') log.warn(`a delivery to a webhook was given up: ${hook}:${lsn}`, { reason: error })
    const held = this.#queues.get(hook)?.get(lsn)
    if (held !== undefined) Object.assign(held, { attempts, dueAt: dueAt ?? 0, state: 'settled' })
    const outcome: DeliveryOutcome = { lsn: BigInt(lsn), state, attempts, dueAt: dueAt ?? 0, httpStatus, error }
    this.#outcomes.push({ hook, outcome })
  }

  /** Undefined: it is given up. */
  #dueAgain(attempts: number, { firstAt, startedAt }: Sent): number | undefined {
    const at = nextAttemptAt(attempts, firstAt, startedAt, Math.random())
    return at === undefined ? undefined : Math.round(startedAt + ((at - startedAt) * this.#waitPercent) / 100)
  }

  /** One command at a time, so that outcomes gather while it is committed. */
  #store(): void {
    if (this.#settling !== undefined || this.#outcomes.length === 0) return
    const taken = this.#outcomes.splice(0, SETTLED_MAX)
    const epoch = this.#epoch
    this.#settling = this.#storeAll(epoch, taken).finally(() => {
      this.#settling = undefined
      this.#store()
      this.#chore.wake()
    })
  }

  /** Never rejects. */
  async #storeAll(epoch: string, taken: readonly Noted[]): Promise<void> {
    const byHook = new Map<string, DeliveryOutcome[]>()
    for (const { hook, outcome } of taken) {
      const outcomes = byHook.get(hook)
      if (outcomes === undefined) byHook.set(hook, [outcome])
      else outcomes.push(outcome)
    }
    const settled: SettledDeliveries[] = [...byHook].map(([hook, outcomes]) => ({ hook, outcomes }))
    const answer = await ask(this.#dispatcher, settleDeliveries, { message: encodeMessage({ epoch, settled }) })
    if (answer.code === null) for (const { hook, outcome } of taken) this.#forget(hook, outcome)
    else await this.#storeLater(epoch, taken, textOf(answer))
    this.#count()
  }

  /** Until they are stored, none of them is sent again by this process. The next start sends them. */
  async #storeLater(epoch: string, taken: readonly Noted[], reason: string): Promise<void> {
    this.#warn('webhooks: outcomes could not be stored yet', reason)
    await setTimeout(RETRY_MS, undefined, { signal: this.#end.signal }).catch(() => undefined)
    if (!this.#end.signal.aborted && epoch === this.#epoch) this.#outcomes.unshift(...taken)
  }

  #forget(hook: string, { lsn, state }: DeliveryOutcome): void {
    const queue = this.#queues.get(hook)
    const held = queue?.get(Number(lsn))
    if (queue === undefined || held === undefined) return
    if (state === 'waiting') held.state = 'waiting'
    else queue.remove(Number(lsn))
    if (queue.size === 0) this.#queues.delete(hook)
    // Rows of a webhook whose window was full were left in the store.
    this.#mayHaveMore = true
  }

  #count(): void {
    this.#held = [...this.#queues.values()].reduce((sum, { size }) => sum + size, 0)
    this.#telemetry.set('webhook_deliveries_held', this.#held)
    this.#telemetry.set('webhook_circuits_open', this.#circuits.open)
  }
}
