/**
 * The table of deliveries. A consumer of the binlog adds rows (src/consumers/webhook_planning.ts), entries of
 * kind `deliveries` change and remove them. Any thread reads; only the write lane writes. Layout:
 * docs/formats/truth-env.md.
 */
import type { Environment } from '../environment.js'
import { tolerated } from '../rows/noted_damage.js'
import { DAMAGED_ROW } from '../rows/record.js'
import type { Delivery, DeliveryOutcome, DeliveryState } from './delivery_record.js'
import {
  decodeDelivery,
  decodeSuspension,
  deliveryKey,
  encodeDelivery,
  encodeSuspension,
  hookOfKey,
  suspensionKey,
} from './delivery_record.js'

type StoredState = Exclude<DeliveryState, 'delivered'>

const LSN_MAX = 2n ** 64n - 1n
/** Rows of one hook lie between these keys. */
const rangeOf = (state: StoredState, hook: string, after = 0n): { readonly start: Buffer; readonly end: Buffer } => ({
  start: deliveryKey(state, hook, after + 1n),
  end: deliveryKey(state, hook, LSN_MAX),
})
const HOOK_FIRST = '0'.repeat(16)
const HOOK_LAST = 'f'.repeat(16)

export function addDelivery({ deliveries }: Environment, delivery: Delivery): void {
  deliveries.put(deliveryKey('waiting', delivery.hook, delivery.lsn), encodeDelivery(delivery))
}

/** @param lsn of the first change that is not recorded for the hook */
export function suspendHook({ deliveries }: Environment, hook: string, lsn: bigint): void {
  deliveries.put(suspensionKey(hook), encodeSuspension(lsn))
}

export function resumeHook({ deliveries }: Environment, hook: string): void {
  deliveries.remove(suspensionKey(hook))
}

/** A delivery that is not there any more stays away: its hook was deleted, or it was delivered before. */
export function settleDelivery({ deliveries }: Environment, hook: string, outcome: DeliveryOutcome): void {
  const { lsn, state, ...facts } = outcome
  for (const from of ['waiting', 'dead'] as const) {
    const key = deliveryKey(from, hook, lsn)
    const record = deliveries.get(key)
    if (record === undefined) continue
    deliveries.remove(key)
    const found = state === 'delivered' ? undefined : tolerated(() => decodeDelivery(key, record))
    if (found !== undefined && state !== 'delivered') deliveries.put(deliveryKey(state, hook, lsn), encodeDelivery({ ...found, ...facts }))
  }
}

/**
 * Removes rows of a hook that was deleted.
 * @returns how many were removed; less than `rowsMax`: none is left
 */
export function removeDeliveries({ deliveries }: Environment, hook: string, rowsMax: number): number {
  deliveries.remove(suspensionKey(hook))
  let removed = 0
  for (const state of ['waiting', 'dead'] as const) {
    const keys = [...deliveries.getKeys({ ...rangeOf(state, hook), limit: rowsMax - removed })]
    for (const key of keys) deliveries.remove(key)
    removed += keys.length
    if (removed >= rowsMax) break
  }
  return removed
}

export class DeliveryView {
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Ids of the hooks that have rows in this state, in their order. */
  hooksWith(state: StoredState): string[] {
    const { deliveries } = this.#environment
    const hooks: string[] = []
    const end = deliveryKey(state, HOOK_LAST, LSN_MAX)
    for (let start = deliveryKey(state, HOOK_FIRST, 0n); ;) {
      const [key] = [...deliveries.getKeys({ start, end, limit: 1 })]
      if (key === undefined) return hooks
      const hook = hookOfKey(key)
      hooks.push(hook)
      start = deliveryKey(state, hook, LSN_MAX)
    }
  }

  /** Of a hook, above `after` and in the order of the changes. Damaged rows are left out and noted. */
  of(hook: string, state: StoredState, after: bigint, count: number): Delivery[] {
    const rows = this.#environment.deliveries.getRange({ ...rangeOf(state, hook, after), limit: count })
    return [...rows].map(({ key, value }) => tolerated(() => decodeDelivery(key, value))).filter((delivery) => delivery !== undefined)
  }

  /** Undefined: it was delivered, or there is none. @throws CorruptRecord */
  find(hook: string, lsn: bigint, state: StoredState): Delivery | undefined {
    const key = deliveryKey(state, hook, lsn)
    const record = this.#environment.deliveries.get(key)
    return record === undefined ? undefined : decodeDelivery(key, record)
  }

  count(hook: string, state: StoredState): number {
    return this.#environment.deliveries.getKeysCount(rangeOf(state, hook))
  }

  /** Whether there is a row of the hook: of a delivery, or that it is suspended. */
  holds(hook: string): boolean {
    const has = (state: StoredState): boolean => [...this.#environment.deliveries.getKeys({ ...rangeOf(state, hook), limit: 1 })].length > 0
    return has('waiting') || has('dead') || this.#environment.deliveries.doesExist(suspensionKey(hook))
  }

  /** All rows: those that wait, those that were given up, and suspensions. */
  get total(): number {
    return this.#environment.deliveries.rowCount
  }

  /** LSN of the first change that was not recorded for the hook; undefined: it is not suspended. */
  suspendedAt(hook: string): bigint | undefined {
    const record = this.#environment.deliveries.get(suspensionKey(hook))
    if (record === undefined) return undefined
    return record === DAMAGED_ROW ? 0n : (tolerated(() => decodeSuspension(record)) ?? 0n)
  }
}
