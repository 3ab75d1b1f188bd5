/** What a view shows of the binlog. As short-lived as the view. */
import { isMarked, kindOfRecord, openEntry } from '../entries/entry.js'
import type { StoredEntry } from '../entries/entry.js'
import type { PutEntry } from '../entries/put/put_entry.js'
import type { Environment } from '../environment.js'
import { lsnKey, lsnOfKey } from '../keys.js'
import { CorruptRecord } from '../record.js'
import { readPosition, readPositions } from './consumer_positions.js'

export class BinlogView {
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Entries with an LSN above `lsn`, ascending, at most `count`. @throws CorruptRecord */
  entriesAfter(lsn: bigint, count: number): StoredEntry[] {
    const { binlog, seals } = this.#environment
    const found: StoredEntry[] = []
    for (const { key, value } of binlog.getRange({ start: lsnKey(lsn + 1n), limit: count })) {
      found.push(openEntry(seals, lsnOfKey(key), value))
    }
    return found
  }

  /**
   * Of the next `count` entries above `lsn` the puts that left at least two superseded states behind them,
   * ascending. All others are passed over undecoded, and so are damaged ones.
   * @returns with the LSN of the last entry looked at, which is `lsn` where there was none
   */
  supersedingAfter(lsn: bigint, count: number): { readonly puts: readonly PutEntry[]; readonly lsn: bigint } {
    const { binlog, seals } = this.#environment
    const puts: PutEntry[] = []
    let last = lsn
    for (const { key, value } of binlog.getRange({ start: lsnKey(lsn + 1n), limit: count })) {
      last = lsnOfKey(key)
      if (!isMarked(value) || kindOfRecord(value)?.name !== 'put') continue
      try {
        const entry = openEntry(seals, last, value)
        if (entry.kind === 'put') puts.push(entry)
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error
      }
    }
    return { puts, lsn: last }
  }

  /**
   * Topics of the next `count` entries above `lsn`: what of the server or of a collection has changed.
   * Entries of kinds without topics are passed over undecoded.
   * @returns with the LSN of the last entry looked at, which is `lsn` where there was none
   */
  topicsAfter(lsn: bigint, count: number): { readonly topics: Set<string>; readonly lsn: bigint } {
    const { binlog, seals } = this.#environment
    const topics = new Set<string>()
    let last = lsn
    for (const { key, value } of binlog.getRange({ start: lsnKey(lsn + 1n), limit: count })) {
      last = lsnOfKey(key)
      const kind = kindOfRecord(value)
      if (kind?.topicOf === undefined) continue
      try {
        const entry = openEntry(seals, last, value)
        if (entry.kind !== 'shed') topics.add(kind.topicOf(entry))
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error
      }
    }
    return { topics, lsn: last }
  }

  /** How far a consumer has come; undefined: it has not begun. */
  positionOf(consumer: string): bigint | undefined {
    return readPosition(this.#environment, consumer)
  }

  /** Of all consumers with stored positions, by name. */
  positions(): (readonly [name: string, lsn: bigint])[] {
    return readPositions(this.#environment)
  }
}
