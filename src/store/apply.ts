/**
 * `apply` is the only code that changes the state of the truth env: local writes, replay and followers go
 * through it. Runs on the write lane inside the write transaction; deterministic, and it cannot fail but for
 * I/O or a broken invariant, both of which end the process (writer.ts).
 */
import { removeGarbage, retainBody, writeBody } from './bodies/body_references.js'
import { dropPosition, writePosition } from './binlog/consumer_positions.js'
import { requireNotLost } from './collections/lost_collections.js'
import { purgeRetired } from './collections/purging.js'
import { finishForms } from './collections/sealing_change.js'
import { readCollectionCounters, requireStoreCounters, writeCollectionCounters, writeStoreCounters } from './counters.js'
import type { CollectionCounters, StoreCounters } from './counters.js'
import type { HeadReader } from './documents/heads.js'
import type { RevisionView } from './documents/revisions.js'
import { ANONYMOUS_REQUEST, retainedBytes, storeEntry } from './entries/entry.js'
import type { Entry } from './entries/entry.js'
import type { ApplyTarget } from './entries/entry_kind.js'
import { kindOf } from './entries/kinds.js'
import type { Environment } from './environment.js'
import type { Head } from './head.js'
import { forgetMinutes, MinuteCounts, trackAccesses } from './histories/history_tables.js'
import type { Accesses } from './histories/history_tables.js'
import { markIndex } from './index_mark.js'
import { bodyKey, counterKey, documentKey, expiryKey, lsnKey, lsnOfKey } from './keys.js'
import { forgetReleases, forgetSwept, MEMORY_LOCATION, removeObject, writeObject } from './objects.js'
import type { BodyObject } from './objects.js'
import { CorruptRecord, DAMAGED_ROW } from './record.js'
import { resealBinlog, resealTable } from './resealing/resealing.js'
import type { ResealedRows, ResealedTable } from './resealing/resealing.js'
import { wantScrub } from './resealing/scrubbing.js'
import { upgradeRows } from './row_upgrade.js'
import type { Counted } from './tally.js'
import { View } from './view.js'

/** The body of the older of two superseded states, as the difference from that of the newer one. */
export interface PackedBody {
  readonly older: Head
  readonly newer: Head
  readonly record: Buffer
}

/**
 * The state of one write transaction: the counters it has touched, written once at its end, and the entries
 * it has applied.
 */
export class WriteTransaction implements ApplyTarget {
  readonly view: View
  /** Whether writes are told by the histories of their documents. */
  readonly tracksHistory: boolean
  readonly environment: Environment
  readonly #collections = new Map<number, CollectionCounters>()
  readonly #store: StoreCounters
  readonly #readMinutes = new MinuteCounts()
  /** Who makes the entries that are applied next, where they do not say it themselves. */
  author = ANONYMOUS_REQUEST
  /** An entry is being applied, or its application has thrown. */
  isApplying = false
  /** Ids of objects in process memory that nothing refers to any more once the transaction is on disk. */
  readonly released: Buffer[] = []
  /** Ids of objects that process memory took for the transaction: theirs as soon as it is on disk. */
  readonly kept: Buffer[] = []

  /** @param now unix seconds, the same for everything that the transaction decides. */
  constructor(environment: Environment, now: number, tracksHistory = false) {
    this.environment = environment
    this.tracksHistory = tracksHistory
    this.view = new View(environment, now)
    this.#store = requireStoreCounters(environment)
  }

  get nextLsn(): bigint {
    return this.#store.lastLsn + 1n
  }

  get nextCollection(): number {
    return this.#store.nextCollection
  }

  /** Whether there is a key to seal collections with. */
  get canSeal(): boolean {
    return this.environment.seals.keyring.canSeal
  }

  /** Whether what is written to the collection is sealed. */
  isSealed(collection: number): boolean {
    return this.environment.seals.of(collection)?.state.isSealed === true
  }

  get primaryKeyId(): number {
    return this.environment.seals.keyring.primaryId
  }

  /** LSN of the last change of whether the collection is sealed; 0: it never was. */
  sealingLsn(collection: number): bigint {
    return this.environment.seals.of(collection)?.state.changedLsn ?? 0n
  }

  /** Whether the collection was deleted, and its rows are being removed. */
  isRetired(collection: number): boolean {
    return this.environment.retired.has(counterKey(collection))
  }

  counters(collection: number): CollectionCounters {
    let counters = this.#collections.get(collection)
    if (counters === undefined) {
      counters = readCollectionCounters(this.environment, collection)
      this.#collections.set(collection, counters)
    }
    return counters
  }

  /**
   * Reads the rows that `apply` builds on, because `apply` can't refuse.
   * @throws CorruptRecord where one is damaged, the document would overwrite another, or the collection may
   * be a
   * lost one
   */
  requireIntact(entry: Entry): void {
    const { kind, collection, docid } = entry
    if (collection >= this.nextCollection && 'collectionName' in entry && kindOf(entry).makesCollection)
      requireNotLost(this.environment, entry.collectionName)
    if (docid === 0) return
    const { nextDocid } = this.counters(collection)
    const isTaken = kind === 'put' && docid >= nextDocid && this.environment.heads.doesExist(documentKey(collection, docid))
    if (isTaken) throw new CorruptRecord(`counters of collection ${collection}`, `document ${docid} is there, and is to be the next`)
  }

  /**
   * @param body the body record of a put that brings a new body (bodyLsn = lsn), the record of vectors that
   * are set, else undefined.
   */
  apply(entry: Entry, body: Buffer | undefined): void {
    const environment = this.environment
    this.isApplying = true
    const kind = kindOf(entry)
    const before = this.#countedBefore(kind.isCounted, entry)
    kind.apply(this, entry, body)
    if (before !== undefined) environment.tallies.running?.correct(entry.docid, before, this.counters(entry.collection))
    const record = storeEntry(environment.seals, entry, kind.keepsBody ? (body?.length ?? 0) : 0, this.author)
    environment.binlog.put(lsnKey(entry.lsn), record)
    this.#store.binlogBytes += retainedBytes(record)
    this.#store.lastLsn = entry.lsn
    if (entry.collection >= this.#store.nextCollection) this.#store.nextCollection = entry.collection + 1
    this.isApplying = false
  }

  /** Counters of a collection that is being counted, before an entry that may change them. */
  #countedBefore(isCounted: boolean, { collection }: Entry): Counted | undefined {
    return isCounted && this.environment.tallies.running?.collection === collection ? { ...this.counters(collection) } : undefined
  }

  /** The collection is gone. */
  forgetCounters(collection: number): void {
    const { tallies } = this.environment
    if (tallies.running?.collection === collection) tallies.running = undefined
    this.#collections.delete(collection)
  }

  get heads(): HeadReader {
    return this.view.heads
  }

  get revisions(): RevisionView {
    return this.view.revisions
  }

  /**
   * Trims the binlog from its old end while it holds more than `bytesMax`, at most `entriesMax` entries, and
   * with it the bodies that nothing else refers to. Local: not an entry.
   * @param lsnMax the newest entry that may go; then bodies that were left over go as well. Default: all but
   * the last
   * @param floor the newest entry that no consumer needs any more. Default: none does
   * @returns whether more may be left
   */
  trimBinlog(bytesMax: number, entriesMax: number, lsnMax?: bigint, floor?: bigint): boolean {
    const isEnough = (): boolean => this.#store.binlogBytes <= bytesMax
    if (isEnough() && lsnMax === undefined) return false
    const { binlog, garbage } = this.environment
    const before = this.#store.trimmedLsn
    for (const { key, value } of isEnough() ? [] : [...binlog.getRange({ limit: entriesMax })]) {
      const lsn = lsnOfKey(key)
      if (isEnough() || lsn > (lsnMax ?? this.#store.lastLsn - 1n) || (floor !== undefined && lsn > floor)) break
      binlog.remove(key)
      this.#store.binlogBytes -= retainedBytes(value)
      this.#store.trimmedLsn = lsn
    }
    const released = [...garbage.getRange({ end: lsnKey(this.#store.trimmedLsn + 1n), limit: entriesMax })]
    for (const { key, value } of released) {
      // A row that can't be believed may name a body that is in use: the one that it stood for stays.
      if (value === DAMAGED_ROW) garbage.remove(key)
      else removeGarbage(this.environment, this.view, key, this.#store.trimmedLsn)
    }
    return this.#store.trimmedLsn !== before || released.length > 0
  }

  /**
   * Stores the body of a superseded state as the difference from that of a later one, which is kept from now
   * on as long as the former. Local: not an entry.
   * @returns false where one of the two states is gone meanwhile, or the body is a difference already
   */
  packBody({ older, newer, record }: PackedBody): boolean {
    const { collection, docid } = older
    if (this.isRetired(collection)) return false
    for (const state of [older, newer]) {
      if (this.view.revisions.at(collection, docid, state.revision)?.bodyLsn !== state.bodyLsn) return false
    }
    if (!this.view.isWhole(older)) return false
    retainBody(this.environment, bodyKey(collection, docid, newer.bodyLsn))
    writeBody(this.environment, collection, bodyKey(collection, docid, older.bodyLsn), record)
    return true
  }

  /** The consumer of the binlog has done all entries up to this one. Local: not an entry. */
  setPosition(consumer: string, lsn: bigint): void {
    writePosition(this.environment, consumer, lsn)
  }

  /** The consumer begins anew. Local: not an entry. */
  dropPosition(consumer: string): void {
    dropPosition(this.environment, consumer)
  }

  /** Bytes of the entries in the binlog, with the bodies that they brought. */
  get binlogBytes(): number {
    return this.#store.binlogBytes
  }

  /** Entries up to this one are gone from the binlog. */
  get trimmedLsn(): bigint {
    return this.#store.trimmedLsn
  }

  /**
   * Removes up to `rowsMax` rows of deleted collections, which no reader sees any more. Local: not an entry.
   * @returns true when rows are left.
   */
  purgeRetired(rowsMax: number): boolean {
    return purgeRetired(this.environment, rowsMax, (body) => this.dropObject(body))
  }

  /** The body has an object from here on, in place of the one that it had. */
  setObject(body: Buffer, record: Buffer): void {
    this.#release(writeObject(this.environment, body, record, this.view.now))
  }

  /** The body has no object any more. */
  dropObject(body: Buffer): void {
    this.#release(removeObject(this.environment, body, this.view.now))
  }

  /**
   * A step through the releases of objects (objects.ts), and those of objects that have been removed. Local:
   * not an entry.
   */
  forgetReleases(before: number, from: Buffer | undefined, count: number): Buffer | undefined {
    return forgetReleases(this.environment, before, from, count)
  }

  forgetSwept(rows: readonly Uint8Array[]): void {
    forgetSwept(this.environment, rows)
  }

  #release(object: BodyObject | undefined): void {
    if (object?.location === MEMORY_LOCATION) this.released.push(object.id)
  }

  /** Reads of a document, which may be gone by now. Local: not an entry. */
  trackAccesses(collection: number, docid: number, accesses: readonly Accesses[]): void {
    if (!this.environment.heads.doesExist(documentKey(collection, docid))) return
    trackAccesses(this.environment, collection, docid, accesses)
    for (const { second, tracked } of accesses) {
      if (tracked > 0) this.#readMinutes.add(collection, second, tracked)
    }
  }

  /**
   * Removes counts by minute from before `minute`, at most `rowsMax`. Local: not an entry. @returns how many
   */
  forgetMinutes(collection: number, minute: number, rowsMax: number): number {
    return forgetMinutes(this.environment, collection, minute, rowsMax)
  }

  /**
   * A step of bringing rows into the form that their collections have now (sealing/resealing.ts). Local: not
   * an entry. @param table undefined: the binlog
   */
  reseal(collection: number | undefined, table: ResealedTable | undefined, from: Buffer | undefined, rowsMax: number): ResealedRows {
    const isBinlog = table === undefined || collection === undefined
    const rows = isBinlog
      ? resealBinlog(this.environment, collection, from, rowsMax)
      : resealTable(this.environment, collection, table, from, rowsMax)
    this.#store.binlogBytes += rows.grownBytes
    // What was overwritten may still be read in free pages: the next start writes the store anew.
    if (rows.resealed > 0) wantScrub(this.environment)
    return rows
  }

  /**
   * Rows of format 1 get their checksums: row_upgrade.ts. Local: not an entry. @returns whether rows are left
   */
  upgradeRows(rowsMax: number, bytesMax: number): boolean {
    return upgradeRows(this.environment, this.view, rowsMax, bytesMax)
  }

  /** Whether documents may be missing from the index for want of objects. Local: not an entry. */
  markIndex(isIncomplete: boolean): void {
    markIndex(this.environment, isIncomplete)
  }

  /** Every row of the collection lies in its present form. */
  finishForms(collection: number): void {
    finishForms(this.environment, collection)
  }

  /** Removes an expiry row whose document is gone or expires at another time. */
  forgetExpiry(expiresAt: number, collection: number, docid: number): void {
    this.environment.expiries.remove(expiryKey(expiresAt, collection, docid))
  }

  /** Writes the counters. To be called last. */
  finish(): void {
    this.#readMinutes.write(this.environment)
    for (const [collection, counters] of this.#collections) writeCollectionCounters(this.environment, collection, counters)
    writeStoreCounters(this.environment, this.#store)
  }
}
