/**
 * Records the deliveries that each change owes to webhooks: a row of the store for a webhook and an entry, in
 * the transaction that stores this consumer's position. So none is lost by a crash, and its id is the same in
 * a replay. What waits for a webhook is bounded: above that it is suspended, with the LSN from which on
 * nothing was recorded. Runs on the write lane; src/background/webhooks sends. Decision:
 * docs/decisions/interfaces/webhooks.md.
 */
import { HookIndex } from '../domain/webhooks/hook_index.js'
import type { WriteTransaction } from '../store/apply.js'
import type { Delivery } from '../store/deliveries/delivery_record.js'
import type { DocumentChange } from '../store/entries/document_change.js'
import { ENTRY_FLAGS } from '../store/entries/entry_kind.js'
import type { View } from '../store/view.js'
import { log } from '../telemetry/log.js'
import { threadTelemetry } from '../telemetry/registry.js'
import type { BinlogConsumer, ConsumerTools } from './consumer.js'

/** Entries of one slice: with ten webhooks 2 560 rows, some 10 ms of a transaction. */
const PLANNED_ENTRIES_MAX = 256
/** Rows of deleted webhooks that one slice removes: about 2 ms. */
const REMOVED_ROWS_MAX = 1000
/** Milliseconds from a commit to the slice: its transaction may join that of the next group. */
const PLANNING_DELAY_MS = 2
/** Topic of the notice that there are new deliveries. */
const DELIVERIES_TOPIC = 'deliveries'
/** Its name, under which its position is stored. */
const CONSUMER = 'webhooks'

export function webhookPlanning({ notify, backlogMax }: ConsumerTools): BinlogConsumer {
  const planner = new Planner(backlogMax)
  let isToldLater = false
  return {
    name: CONSUMER,
    position: 'stored',
    begins: 'last',
    writesUnasked: false,
    delayMs: PLANNING_DELAY_MS,
    pauseMs: 0,
    next: (view, after) => {
      // What the slice before has recorded is committed now.
      if (isToldLater) notify([DELIVERIES_TOPIC])
      isToldLater = false
      const { lsn, change, weight } = planner.plan(view, after)
      if (change === undefined) return { lsn, isMore: lsn < view.lastLsn() }
      isToldLater = true
      return { lsn, isMore: true, change, weight }
    },
    onLost: () => (planner.isLost = true),
  }
}

interface Plan {
  readonly lsn: bigint
  readonly change?: (transaction: WriteTransaction) => void
  readonly weight: number
}

class Planner {
  readonly #hooks = new HookIndex()
  /** Rows that wait, or were given up, by webhook, as counted and added here: never less than there are. */
  readonly #waiting = new Map<string, number>()
  readonly #suspended = new Set<string>()
  /** Webhooks whose rows were counted for the transaction that is being made. */
  readonly #counted = new Set<string>()
  /** Entries were trimmed that were not seen. */
  isLost = false

  constructor(readonly backlogMax: { readonly ofHook: number; readonly ofAll: number }) {}

  plan(view: View, after: bigint): Plan {
    this.#hooks.refresh(view, (hook) => this.#meet(view, hook))
    for (const hook of this.#suspended) if (view.deliveries.suspendedAt(hook) === undefined) this.#suspended.delete(hook)
    threadTelemetry().set('webhooks_suspended', this.#suspended.size)
    const gone = this.#nextGone(view)
    if (gone !== undefined)
      return { lsn: after, change: (transaction) => void transaction.removeDeliveries(gone, REMOVED_ROWS_MAX), weight: REMOVED_ROWS_MAX }
    const untold = this.#untold()
    if (untold.length > 0) {
      // The stored position is still the one from before the loss.
      const lsn = (view.binlog.positionOf(CONSUMER) ?? after) + 1n
      return { lsn: view.lastLsn(), change: (transaction) => this.#suspendAll(transaction, untold, lsn), weight: REMOVED_ROWS_MAX }
    }
    if (this.#hooks.isEmpty) return { lsn: view.lastLsn(), weight: 0 }
    const { changes, lsn } = view.binlog.changesAfter(after, PLANNED_ENTRIES_MAX)
    const rows = changes.flatMap((change) => this.#rowsOf(view, change))
    if (rows.length === 0) return { lsn, weight: 0 }
    return { lsn, change: (transaction) => this.#record(transaction, rows), weight: Math.max(1, Math.ceil(rows.length / 8)) }
  }

  /** A webhook that this lane has not seen: it may have been suspended before. */
  #meet(view: View, hook: string): void {
    if (view.deliveries.suspendedAt(hook) !== undefined) this.#suspended.add(hook)
  }

  #rowsOf(view: View, change: DocumentChange): Delivery[] {
    if ((change.flags & ENTRY_FLAGS.skipsWebhooks) !== 0) return []
    return this.#hooks.of(change).map((hook) => deliveryOf(hook, change, view))
  }

  #record(transaction: WriteTransaction, rows: readonly Delivery[]): void {
    this.#counted.clear()
    for (const row of rows) {
      if (this.#suspended.has(row.hook)) continue
      if (this.#isFull(transaction.view, row.hook)) this.#suspend(transaction, row)
      else transaction.addDelivery(row)
    }
  }

  /** Counted again where the sum of what was added has reached the bound. */
  #isFull({ deliveries }: View, hook: string): boolean {
    const { ofHook, ofAll } = this.backlogMax
    const counted = (): number => deliveries.count(hook, 'waiting') + deliveries.count(hook, 'dead')
    let waiting = this.#waiting.get(hook)
    // Once in a transaction, which settles nothing.
    if (waiting === undefined || (waiting >= ofHook && !this.#counted.has(hook))) {
      waiting = counted()
      this.#counted.add(hook)
    }
    this.#waiting.set(hook, waiting + 1)
    return waiting >= ofHook || deliveries.total >= ofAll
  }

  #suspend(transaction: WriteTransaction, { hook, lsn }: Delivery): void {
    transaction.suspendHook(hook, lsn)
    this.#suspended.add(hook)
    log.warn(`webhook ${hook} is suspended from LSN ${lsn} on: too much waits for its receiver`)
  }

  /** A webhook that was deleted and has rows still. */
  #nextGone(view: View): string | undefined {
    for (const hook of this.#hooks.gone) {
      if (view.deliveries.holds(hook)) return hook
      this.#hooks.forget(hook)
      this.#waiting.delete(hook)
      this.#suspended.delete(hook)
    }
    return undefined
  }

  /** Webhooks that do not say yet that deliveries are missing. Asked again until the store says it of all. */
  #untold(): readonly string[] {
    const untold = this.isLost ? [...this.#hooks.ids].filter((hook) => !this.#suspended.has(hook)) : []
    if (untold.length === 0) this.isLost = false
    return untold
  }

  #suspendAll(transaction: WriteTransaction, hooks: readonly string[], lsn: bigint): void {
    for (const hook of hooks) {
      transaction.suspendHook(hook, lsn)
      this.#suspended.add(hook)
    }
    log.warn(`webhooks are suspended from LSN ${lsn} on: changes were trimmed before they were recorded`)
  }
}

function deliveryOf(hook: string, change: DocumentChange, view: View): Delivery {
  const { lsn, event, collection, collectionName, docid, key, lang, timestamp } = change
  // Of an encrypted collection, nothing is stored that is not encrypted.
  const identity = view.isSealed(collection) ? { key: null, lang: null } : { key, lang }
  return {
    hook,
    lsn,
    event,
    collection,
    collectionName,
    docid,
    ...identity,
    at: timestamp,
    attempts: 0,
    dueAt: 0,
    httpStatus: 0,
    error: '',
  }
}
