/**
 * `apply` is the only code that changes the state of the truth env: local writes, replay and followers all
 * use it. It runs on the write lane inside the write transaction and is deterministic. It fails only on I/O
 * errors or a broken invariant; both end the process (writer.ts).
 */
import { writePosition } from './binlog/consumer_positions.js'
import { removeGarbage, retainBody, writeBody } from './bodies/body_references.js'
import { requireNotLost } from './collections/lost_collections.js'
import { purgeRetired } from './collections/purging.js'
import { finishForms } from './collections/sealing_change.js'
import type { CollectionCounters, StoreCounters } from './counters.js'
import { readCollectionCounters, requireStoreCounters, writeCollectionCounters, writeStoreCounters } from './counters.js'
import type { Delivery } from './deliveries/delivery_record.js'
import { addDelivery, removeDeliveries, suspendHook } from './deliveries/delivery_table.js'
import type { HeadReader } from './documents/heads.js'
import type { RevisionView } from './documents/revisions.js'
import type { Entry } from './entries/entry.js'
import { ANONYMOUS_REQUEST, retainedBytes, storeEntry } from './entries/entry.js'
import type { ApplyTarget, PresentState } from './entries/entry_kind.js'
import { kindOf } from './entries/kinds.js'
import type { Environment } from './environment.js'
import type { Head } from './head.js'
import type { Accesses } from './histories/history_tables.js'
import { forgetMinutes, MinuteCounts, trackAccesses } from './histories/history_tables.js'
import { markIndex } from './index_mark.js'
import type { BodyObject } from './objects.js'
import { forgetReleases, forgetSwept, MEMORY_LOCATION, removeObject, writeObject } from './objects.js'
import type { ResealedRows, ResealedTable } from './resealing/resealing.js'
import { resealBinlog, resealTable } from './resealing/resealing.js'
import { wantScrub } from './resealing/scrubbing.js'
import { bodyKey, counterKey, documentKey, expiryKey, lsnKey, lsnOfKey } from './rows/keys.js'
import { CorruptRecord, DAMAGED_ROW } from './rows/record.js'
import { View } from './view.js'

/** The body of the older of two superseded states, as a delta against the body of the newer one. */
export interface PackedBody {
  readonly older: Head
  readonly newer: Head
  readonly record: Buffer
}

/**
 * The state of one write transaction: the counters that it has read, which are written once at its end, and
 * the entries that it has applied.
 */
export class WriteTransaction implements ApplyTarget {
  readonly view: View
  /** Whether writes are recorded in the histories of their documents. */
  readonly tracksHistory: boolean
  readonly environment: Environment
  readonly #collections = new Map<number, CollectionCounters>()
  readonly #store: StoreCounters
  readonly #readMinutes = new MinuteCounts()
  /** Author of the entries that are applied next, if they do not name their own. */
  author = ANONYMOUS_REQUEST
  /** An entry is being applied, or its application has thrown an error. */
  isApplying = false
  /** Ids of objects in process memory that have no reference once the transaction is on disk. */
  readonly released: Buffer[] = []
  /**
   * Ids of objects that were put into process memory for the transaction. They are referenced once it is on
   * disk.
   */
  readonly kept: Buffer[] = []

  /** @param now unix seconds, the same for everything that the transaction decides. */
  constructor(environment: Environment, now: number, tracksHistory = false) {
    this.environment = environment
    this.tracksHistory = tracksHistory
    environment.named.clear()
    this.view = new View(environment, now, undefined, undefined, environment.named)
    this.#store = requireStoreCounters(environment)
  }

  get nextLsn(): bigint {
    return this.#store.lastLsn + 1n
  }

  get nextCollection(): number {
    return this.#store.nextCollection
  }

  /** Whether the server has a key for sealing collections. */
  get canSeal(): boolean {
    return this.environment.seals.keyring.canSeal
  }

  /** Whether new rows of the collection are sealed. */
  isSealed(collection: number): boolean {
    return this.environment.seals.of(collection)?.state.isSealed === true
  }

  get primaryKeyId(): number {
    return this.environment.seals.keyring.primaryId
  }

  /** LSN of the last change of the collection's sealing; 0: it was never sealed. */
  sealingLsn(collection: number): bigint {
    return this.environment.seals.of(collection)?.state.changedLsn ?? 0n
  }

  /** Whether the collection was deleted and its rows are still being removed. */
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
   * Reads the rows that `apply` depends on, because `apply` can't refuse an entry.
   * @throws CorruptRecord if a row is damaged, the document would overwrite another, or the collection may be
   * a lost one
   */
  requireIntact(entry: Entry): void {
    const { collection, docid } = entry
    const { makesCollection, stateOf } = kindOf(entry)
    if (collection >= this.nextCollection && 'collectionName' in entry && makesCollection)
      requireNotLost(this.environment, entry.collectionName)
    if (docid === 0) return
    const { nextDocid } = this.counters(collection)
    const isTaken = stateOf !== undefined && docid >= nextDocid && this.environment.heads.doesExist(documentKey(collection, docid))
    if (isTaken) throw new CorruptRecord(`counters of collection ${collection}`, `document ${docid} exists, but is the next number`)
  }

  /**
   * @param body the record that comes with the entry: the body of a put that brings a new body (bodyLsn =
   * lsn), the body that a move entry stores in the env, or the vectors that are set; else undefined
   * @param present what the decision has read of the document; nothing may have been applied since
   */
  apply(entry: Entry, body: Buffer | undefined, present?: PresentState): void {
    const environment = this.environment
    this.isApplying = true
    const kind = kindOf(entry)
    const apply = (): void => kind.apply(this, entry, body, present)
    if (kind.isCounted) this.#correctingTally(entry.collection, entry.docid, apply)
    else apply()
    const record = storeEntry(environment.seals, entry, kind.keepsBody ? (body?.length ?? 0) : 0, this.author)
    environment.binlog.put(lsnKey(entry.lsn), record)
    this.#store.binlogBytes += retainedBytes(record)
    this.#store.lastLsn = entry.lsn
    if (entry.collection >= this.#store.nextCollection) this.#store.nextCollection = entry.collection + 1
    this.isApplying = false
  }

  /** Runs a change of a document's counted values. If its collection is being counted, the tally follows. */
  #correctingTally(collection: number, docid: number, change: () => void): void {
    const { tallies } = this.environment
    const before = tallies.running?.collection === collection ? { ...this.counters(collection) } : undefined
    change()
    if (before !== undefined) tallies.running?.correct(docid, before, this.counters(collection))
  }

  /** Drops the counters of a deleted collection. */
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
   * Trims the binlog from its old end while it contains more than `bytesMax`, by at most `entriesMax`
   * entries. Bodies without other references are removed with it. Local: writes no entry.
   * @param lsnMax the newest entry that may be removed. If given, bodies left over from earlier trims are
   * removed, too. Default: all entries but the last may be removed
   * @param floor the newest entry that no consumer needs any more. Default: no consumer needs any entry
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
      // A damaged row may name a body that is in use. Its own body therefore stays.
      if (value === DAMAGED_ROW) garbage.remove(key)
      else removeGarbage(this.environment, this.view, key, this.#store.trimmedLsn)
    }
    return this.#store.trimmedLsn !== before || released.length > 0
  }

  /**
   * Stores the body of a superseded state as a delta against the body of a later one. The later body is then
   * kept at least as long as the delta. Local: writes no entry.
   * @returns false if one of the two states no longer exists, or the body is already a delta
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

  /** Records a delivery to a webhook. Local: writes no entry. */
  addDelivery(delivery: Delivery): void {
    addDelivery(this.environment, delivery)
  }

  /** Nothing is recorded for the webhook from this LSN on. Local: writes no entry. */
  suspendHook(hook: string, lsn: bigint): void {
    suspendHook(this.environment, hook, lsn)
  }

  /**
   * Removes deliveries of a webhook that was deleted. Local: writes no entry.
   * @returns how many were removed; less than `rowsMax`: none is left
   */
  removeDeliveries(hook: string, rowsMax: number): number {
    return removeDeliveries(this.environment, hook, rowsMax)
  }

  /** Stores that the consumer has processed all entries up to this one. Local: writes no entry. */
  setPosition(consumer: string, lsn: bigint): void {
    writePosition(this.environment, consumer, lsn)
  }

  /** Bytes of the entries in the binlog, including the bodies that came with them. */
  get binlogBytes(): number {
    return this.#store.binlogBytes
  }

  /** LSN of the newest entry that was trimmed from the binlog. */
  get trimmedLsn(): bigint {
    return this.#store.trimmedLsn
  }

  /**
   * Removes up to `rowsMax` rows of deleted collections, which are no longer visible to readers. Local:
   * writes no entry.
   * @returns whether rows are left
   */
  purgeRetired(rowsMax: number): boolean {
    return purgeRetired(this.environment, rowsMax, (body) => this.dropObject(body))
  }

  /** Sets the object of a body. It replaces an earlier one. */
  setObject(body: Buffer, record: Buffer): void {
    this.#release(writeObject(this.environment, body, record, this.view.now))
  }

  /** Removes the object of a body. */
  dropObject(body: Buffer): void {
    this.#release(removeObject(this.environment, body, this.view.now))
  }

  /**
   * One step through the releases of objects (objects.ts), including those of objects that have been removed.
   * Local: writes no entry.
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

  /** Records reads of a document, which may have been deleted since. Local: writes no entry. */
  trackAccesses(collection: number, docid: number, accesses: readonly Accesses[]): void {
    if (!this.environment.heads.doesExist(documentKey(collection, docid))) return
    trackAccesses(this.environment, collection, docid, accesses)
    for (const { second, tracked } of accesses) {
      if (tracked > 0) this.#readMinutes.add(collection, second, tracked)
    }
  }

  /**
   * Removes counts of minutes before `minute`, at most `rowsMax`. Local: writes no entry.
   * @returns the number of removed rows
   */
  forgetMinutes(collection: number, minute: number, rowsMax: number): number {
    return forgetMinutes(this.environment, collection, minute, rowsMax)
  }

  /**
   * One step of rewriting rows in the form that their collections have now (resealing/resealing.ts). Local:
   * writes no entry.
   * @param table undefined: the binlog
   */
  reseal(collection: number | undefined, table: ResealedTable | undefined, from: Buffer | undefined, rowsMax: number): ResealedRows {
    const isBinlog = table === undefined || collection === undefined
    const rows = isBinlog
      ? resealBinlog(this.environment, collection, from, rowsMax)
      : resealTable(this.environment, collection, table, from, rowsMax)
    this.#store.binlogBytes += rows.grownBytes
    // Overwritten data may still be readable in free pages: the next start rewrites the store.
    if (rows.resealed > 0) wantScrub(this.environment)
    return rows
  }

  /**
   * Stores whether documents may be missing from the index because objects were unavailable. Local: writes no
   * entry.
   */
  markIndex(isIncomplete: boolean): void {
    markIndex(this.environment, isIncomplete)
  }

  /** To be called once every row of the collection is stored in the present form. */
  finishForms(collection: number): void {
    finishForms(this.environment, collection)
  }

  /** Removes an expiry row whose document was deleted or expires at another time. */
  forgetExpiry(expiresAt: number, collection: number, docid: number): void {
    this.environment.expiries.remove(expiryKey(expiresAt, collection, docid))
  }

  /** Writes the counters. Must be called last. */
  finish(): void {
    this.#readMinutes.write(this.environment)
    for (const [collection, counters] of this.#collections) writeCollectionCounters(this.environment, collection, counters)
    writeStoreCounters(this.environment, this.#store)
  }
}
