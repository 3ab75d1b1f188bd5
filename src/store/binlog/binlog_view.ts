/** The binlog of a view. Valid as long as the view. */
import { readCollection } from '../collections/collection_row.js'
import type { DocumentChange } from '../entries/document_change.js'
import type { StoredEntry } from '../entries/entry.js'
import { isMarked, kindOfRecord, openEntry } from '../entries/entry.js'
import type { Environment } from '../environment.js'
import { type Epoch, epochsOf, readHistory } from '../epochs.js'
import type { Job } from '../jobs.js'
import { lsnKey, lsnOfKey } from '../rows/keys.js'
import { noteDamage } from '../rows/noted_damage.js'
import { CorruptRecord } from '../rows/record.js'
import { readPosition } from './consumer_positions.js'

/** A state of a document, with the LSN of its entry. */
interface AddedState {
  readonly lsn: bigint
  readonly collection: number
  /** The head record as stored. */
  readonly head: Buffer
}

/** What the change feed reports of an entry: one of the two. */
export interface BinlogEvent {
  readonly lsn: bigint
  readonly change?: DocumentChange
  readonly job?: Job
}

export class BinlogView {
  readonly #environment: Environment
  readonly #now: number

  /** @param now unix seconds */
  constructor(environment: Environment, now: number) {
    this.#environment = environment
    this.#now = now
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
   * The states that the next `count` entries above `lsn` have added where their documents had at least two
   * before, ascending. All other entries are skipped without decoding; damaged ones are skipped as well.
   * @returns also the LSN of the last entry looked at; `lsn` if there was none
   */
  supersedingAfter(lsn: bigint, count: number): { readonly states: readonly AddedState[]; readonly lsn: bigint } {
    const { binlog, seals } = this.#environment
    const states: AddedState[] = []
    let last = lsn
    for (const { key, value } of binlog.getRange({ start: lsnKey(lsn + 1n), limit: count })) {
      last = lsnOfKey(key)
      const stateOf = kindOfRecord(value)?.stateOf
      if (stateOf === undefined || !isMarked(value)) continue
      try {
        const entry = openEntry(seals, last, value)
        if (entry.kind !== 'shed') states.push({ lsn: last, collection: entry.collection, head: stateOf(entry) })
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error
      }
    }
    return { states, lsn: last }
  }

  /**
   * Topics of the next `count` entries above `lsn`: what has changed in the server or a collection. Entries
   * of kinds without topics are skipped without decoding.
   * @returns also the LSN of the last entry looked at; `lsn` if there was none
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

  /**
   * The changes of documents that the next `count` entries above `lsn` stand for, ascending. Entries of kinds
   * that change none are skipped without decoding; damaged ones, and those of an encrypted collection that
   * was deleted, are skipped as well. Entries without a time, as earlier versions wrote them, have that of
   * the view.
   * @returns also the LSN of the last entry looked at; `lsn` if there was none
   */
  changesAfter(lsn: bigint, count: number): { readonly changes: readonly DocumentChange[]; readonly lsn: bigint } {
    const changes: DocumentChange[] = []
    const { lsn: last } = this.#eventsAfter(lsn, count, false, ({ change }) => change !== undefined && changes.push(change))
    return { changes, lsn: last }
  }

  /** As `changesAfter`, with the courses of jobs among the changes. */
  eventsAfter(lsn: bigint, count: number): { readonly events: readonly BinlogEvent[]; readonly lsn: bigint } {
    const events: BinlogEvent[] = []
    const { lsn: last } = this.#eventsAfter(lsn, count, true, (event) => events.push(event))
    return { events, lsn: last }
  }

  #eventsAfter(lsn: bigint, count: number, withJobs: boolean, take: (event: BinlogEvent) => void): { readonly lsn: bigint } {
    const { binlog, seals } = this.#environment
    const names = new Map<number, string>()
    let last = lsn
    for (const { key, value } of binlog.getRange({ start: lsnKey(lsn + 1n), limit: count })) {
      last = lsnOfKey(key)
      const kind = kindOfRecord(value)
      if (kind?.changeOf === undefined && !(withJobs && kind?.jobOf !== undefined)) continue
      try {
        const entry = openEntry(seals, last, value)
        if (entry.kind === 'shed') continue
        const change = kind.changeOf?.(entry)
        if (change !== undefined) take({ lsn: last, change: this.#completed(change, names) })
        const job = kind.jobOf?.(entry)
        if (job !== undefined) take({ lsn: last, job })
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error
      }
    }
    return { lsn: last }
  }

  /** The epochs of the store, oldest first, with the last LSN of each. */
  epochs(): readonly Epoch[] {
    return epochsOf(readHistory(this.#environment))
  }

  /**
   * The change with its collection's name as first written, which some entries know in lower case only, and
   * with a time.
   * @param names of collections looked up so far
   */
  #completed(change: DocumentChange, names: Map<number, string>): DocumentChange {
    const { collection, collectionName, timestamp } = change
    const name = names.get(collection) ?? this.#nameOf(collection, collectionName)
    names.set(collection, name)
    return { ...change, collectionName: name, timestamp: timestamp === 0 ? this.#now : timestamp }
  }

  #nameOf(collection: number, name: string): string {
    try {
      const found = readCollection(this.#environment, name)
      return found?.id === collection ? found.name : name
    } catch (error) {
      noteDamage(error)
      return name
    }
  }

  /** The stored position of a consumer; undefined: it has not begun. */
  positionOf(consumer: string): bigint | undefined {
    return readPosition(this.#environment, consumer)
  }
}
