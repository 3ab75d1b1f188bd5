/**
 * The three tables of tracking: histories by document, the leaderboard in its order, and counts by minute of
 * a collection. They are written inside write transactions. Writes are tracked in the transaction of the
 * entry that makes them, so that neither exists without the other. Reads are tracked once the write lane has
 * collected them, without entries of the binlog. Layout: docs/formats/truth-env.md.
 */
import { log } from '../../telemetry/log.js'
import type { Environment } from '../environment.js'
import { counterKey, docidOfKey, documentKey, hotKey, minuteKey, minuteOfKey, prefixEnd } from '../rows/keys.js'
import { noteDamage } from '../rows/noted_damage.js'
import { CorruptRecord, requireIntact } from '../rows/record.js'
import type { EventType, History } from './history.js'
import { addAccesses, addWrite, decodeHistory, emptyHistory, encodeHistory, EVENT_TYPES } from './history.js'

/** Reads of one document in the same second. */
export interface Accesses {
  readonly second: number
  /** Number of reads for the history, and number of reads for the leaderboard. */
  readonly tracked: number
  readonly hot: number
}

export function readHistory({ histories }: Environment, collection: number, docid: number): History | undefined {
  const record = histories.get(documentKey(collection, docid))
  return record === undefined ? undefined : decodeHistory(record, () => `history ${collection}/${docid}`)
}

/** A write must not fail because of a history: a damaged one starts from scratch. */
function historyToChange(environment: Environment, collection: number, docid: number): History | undefined {
  try {
    return readHistory(environment, collection, docid)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    log.error('damaged history record replaced by an empty one', { reason: error })
    return emptyHistory()
  }
}

interface TrackedWrite {
  readonly collection: number
  readonly docid: number
  readonly type: 'create' | 'update'
  /** Unix seconds. */
  readonly second: number
  /** Name of the principal. Null: nobody's. */
  readonly actor: string | null
}

export function trackWrite(environment: Environment, { collection, docid, type, second, actor }: TrackedWrite): void {
  const history = historyToChange(environment, collection, docid) ?? emptyHistory()
  addWrite(history, type, second, actor)
  environment.histories.put(documentKey(collection, docid), encodeHistory(history))
  countMinute(environment, collection, type, second, 1)
}

export function trackAccesses(environment: Environment, collection: number, docid: number, accesses: readonly Accesses[]): void {
  const history = historyToChange(environment, collection, docid) ?? emptyHistory()
  const before = history.hotCount
  for (const { second, tracked, hot } of accesses) {
    if (tracked > 0) {
      addAccesses(history, second, tracked)
    }
    if (hot > 0) {
      history.hotCount += hot
      history.lastHotSecond = Math.max(history.lastHotSecond, second)
    }
  }
  environment.histories.put(documentKey(collection, docid), encodeHistory(history))
  if (history.hotCount === before) return
  if (before > 0) environment.leaderboard.remove(hotKey(collection, before, docid))
  environment.leaderboard.put(hotKey(collection, history.hotCount, docid), NOTHING)
}

const NOTHING = Buffer.alloc(0)

/** Removes the history of a deleted document. The counts of its collection stay. */
export function forgetHistory(environment: Environment, collection: number, docid: number): void {
  const history = historyToChange(environment, collection, docid)
  if (history === undefined) return
  environment.histories.remove(documentKey(collection, docid))
  if (history.hotCount > 0) environment.leaderboard.remove(hotKey(collection, history.hotCount, docid))
}

/** Adds events of a collection to the minute of `second`. */
function countMinute({ eventMinutes }: Environment, collection: number, type: EventType, second: number, count: number): void {
  const key = minuteKey(collection, EVENT_TYPES.indexOf(type), Math.floor(second / 60))
  const value = Buffer.allocUnsafe(4)
  value.writeUInt32LE(Math.min(countOf(eventMinutes.get(key), key) + count, 0xffff_ffff), 0)
  eventMinutes.put(key, value)
}

/** A damaged count starts again from 0. */
function countOf(row: Buffer | undefined, key: Buffer): number {
  if (row === undefined) return 0
  try {
    requireIntact(row, 4, () => `events of minute ${key.toString('hex')}`)
    return row.readUInt32LE(0)
  } catch (error) {
    noteDamage(error)
    return 0
  }
}

/**
 * Reads by collection and minute, accumulated over one transaction: a slice of many documents then changes
 * few rows.
 */
export class MinuteCounts {
  readonly #counts = new Map<string, { readonly collection: number; readonly second: number; count: number }>()

  add(collection: number, second: number, count: number): void {
    const name = `${collection} ${Math.floor(second / 60)}`
    const known = this.#counts.get(name)
    if (known === undefined) this.#counts.set(name, { collection, second, count })
    else known.count += count
  }

  write(environment: Environment): void {
    for (const { collection, second, count } of this.#counts.values()) countMinute(environment, collection, 'access', second, count)
  }
}

/** Minutes with events, ascending. @param begin, end unix minutes, `end` exclusive */
export function* minutesOf(
  { eventMinutes }: Environment,
  collection: number,
  type: EventType,
  begin: number,
  end: number,
): Generator<readonly [minute: number, count: number]> {
  const code = EVENT_TYPES.indexOf(type)
  const range = { start: minuteKey(collection, code, begin), end: minuteKey(collection, code, end) }
  for (const { key, value } of eventMinutes.getRange(range)) yield [minuteOfKey(key), countOf(value, key)]
}

/** Removes minutes before `minute`. @returns the number removed; `rowsMax` if more may be left */
export function forgetMinutes({ eventMinutes }: Environment, collection: number, minute: number, rowsMax: number): number {
  let removed = 0
  for (const code of EVENT_TYPES.keys()) {
    const range = { start: minuteKey(collection, code, 0), end: minuteKey(collection, code, minute), limit: rowsMax - removed }
    for (const key of [...eventMinutes.getKeys(range)]) {
      eventMinutes.remove(key)
      removed++
    }
    if (removed >= rowsMax) break
  }
  return removed
}

/** Docids of a collection, most read first; at most `count`. */
export function* hottest({ leaderboard }: Environment, collection: number, count: number): Generator<number> {
  const start = counterKey(collection)
  for (const key of leaderboard.intactKeys({ start, end: prefixEnd(start), limit: count })) yield docidOfHotKey(key)
}

function docidOfHotKey(key: Uint8Array): number {
  return docidOfKey(key.subarray(8))
}
