/** What a view shows of the binlog. As short-lived as the view. */
import { isMarked, kindOfRecord, openEntry } from '../entries/entry.js'
import type { StoredEntry } from '../entries/entry.js'
import type { PutEntry } from '../entries/put/put_entry.js'
import { PACKED_KEY } from '../environment.js'
import type { Environment } from '../environment.js'
import { lsnKey, lsnOfKey } from '../keys.js'
import { CorruptRecord, DAMAGED_ROW } from '../record.js'

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
   * Of the next `count` entries above `lsn` the puts that left at least two superseded states behind them, ascending.
   * All others are passed over undecoded, and so are damaged ones.
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

  /** LSN of the last entry whose superseded states have been packed. */
  packedLsn(): bigint {
    const packed = this.#environment.settings.get(PACKED_KEY)
    // A damaged one is as good as none: what is packed already is passed over.
    return packed === undefined || packed === DAMAGED_ROW ? 0n : packed.readBigUInt64BE(0)
  }
}
