/**
 * `apply` is the only code that changes the state of the truth env: local writes, replay and followers go through it. Runs on the write lane inside the write transaction; deterministic,
 * and it cannot fail but for I/O or a broken invariant, both of which end the process (writer.ts).
 */
import { applyPlace, referBody } from './body_places.js'
import { releaseBody, removeGarbage, retainBody, writeBody } from './body_references.js'
import { createCollection, removeCollection } from './collection_row.js'
import { countersBefore } from './comparison/tally.js'
import { readCollectionCounters, requireStoreCounters, writeCollectionCounters, writeStoreCounters } from './counters.js'
import type { CollectionCounters, StoreCounters } from './counters.js'
import { retainedBytes, storeEntry } from './entry.js'
import type { DeleteEntry, DropEntry, Entry, ExpiryEntry, PutEntry, SealingEntry, SettingEntry, TrimEntry } from './entry.js'
import { PACKED_KEY } from './environment.js'
import type { Environment } from './environment.js'
import { moveExpiry } from './expiry_rows.js'
import { decodeHead, HEAD_FLAGS } from './head.js'
import type { Head } from './head.js'
import { removeIdentity, removeSpellings, writeIdentity, writeSpelling } from './identities.js'
import { requireNotLost } from './lost_collections.js'
import { markIndex } from './index_mark.js'
import { applyJob } from './jobs.js'
import { bodyKey, counterKey, documentKey, expiryKey, garbageKey, lsnKey, lsnOfKey, prefixEnd, revisionKey } from './keys.js'
import { forgetHistory, forgetMinutes, MinuteCounts, trackAccesses, trackWrite } from './history_tables.js'
import type { Accesses } from './history_tables.js'
import { bodiesWithObjects, forgetReleases, forgetSwept, MEMORY_LOCATION, removeObject, writeObject } from './objects.js'
import type { BodyObject } from './objects.js'
import { purgeRetired } from './purging.js'
import { upgradeRows } from './row_upgrade.js'
import { CLEAR, statePlace } from './sealing/collection_seal.js'
import { resealBinlog, resealTable } from './sealing/resealing.js'
import type { ResealedRows, ResealedTable } from './sealing/resealing.js'
import { wantScrub } from './sealing/scrubbing.js'
import { changeSealing, finishForms } from './sealing/sealing_change.js'
import { CorruptRecord, DAMAGED_ROW } from './record.js'
import { SERVER_SETTINGS } from './settings.js'
import { writeSetting } from './stored_settings.js'
import { applyVectors, forgetVectors } from './vector_tables.js'
import { View } from './view.js'

const NOTHING = Buffer.alloc(0)

/** The body of the older of two superseded states, as the difference from that of the newer one. */
export interface PackedBody {
  readonly older: Head
  readonly newer: Head
  readonly record: Buffer
}

/** The state of one write transaction: the counters it has touched, written once at its end, and the entries it has applied. */
export class WriteTransaction {
  readonly view: View
  /** Whether writes are told by the histories of their documents. */
  readonly tracksHistory: boolean
  readonly #environment: Environment
  readonly #collections = new Map<number, CollectionCounters>()
  readonly #store: StoreCounters
  readonly #readMinutes = new MinuteCounts()
  /** An entry is being applied, or its application has thrown. */
  isApplying = false
  /** Ids of objects in process memory that nothing refers to any more once the transaction is on disk. */
  readonly released: Buffer[] = []
  /** Ids of objects that process memory took for the transaction: theirs as soon as it is on disk. */
  readonly kept: Buffer[] = []

  /** @param now unix seconds, the same for everything that the transaction decides. */
  constructor(environment: Environment, now: number, tracksHistory = false) {
    this.#environment = environment
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
    return this.#environment.seals.keyring.canSeal
  }

  /** Whether what is written to the collection is sealed. */
  isSealed(collection: number): boolean {
    return this.#environment.seals.of(collection)?.state.isSealed === true
  }

  get primaryKeyId(): number {
    return this.#environment.seals.keyring.primaryId
  }

  /** LSN of the last change of whether the collection is sealed; 0: it never was. */
  sealingLsn(collection: number): bigint {
    return this.#environment.seals.of(collection)?.state.changedLsn ?? 0n
  }

  /** Whether the collection was deleted, and its rows are being removed. */
  isRetired(collection: number): boolean {
    return this.#environment.retired.has(counterKey(collection))
  }

  counters(collection: number): CollectionCounters {
    let counters = this.#collections.get(collection)
    if (counters === undefined) {
      counters = readCollectionCounters(this.#environment, collection)
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
    if (collection >= this.nextCollection) requireNotLost(this.#environment, entry)
    if (docid === 0) return
    const { nextDocid } = this.counters(collection)
    const isTaken = kind === 'put' && docid >= nextDocid && this.#environment.heads.doesExist(documentKey(collection, docid))
    if (isTaken) throw new CorruptRecord(`counters of collection ${collection}`, `document ${docid} is there, and is to be the next`)
  }

  /** @param body the body record of a put that brings a new body (bodyLsn = lsn), the record of vectors that are set, else undefined. */
  apply(entry: Entry, body: Buffer | undefined): void {
    const environment = this.#environment
    this.isApplying = true
    const before = countersBefore(environment.tallies, entry, () => this.counters(entry.collection))
    switch (entry.kind) {
      case 'put':
        applyPut(environment, this, entry, body)
        break
      case 'expiry':
        applyExpiry(environment, this, entry)
        break
      case 'delete':
        applyDelete(environment, this, entry)
        break
      case 'drop':
        applyDrop(environment, entry)
        this.#collections.delete(entry.collection)
        break
      case 'setting':
        applySetting(environment, entry)
        break
      case 'job':
        applyJob(environment, entry)
        break
      case 'sealing':
        applySealing(environment, entry)
        break
      case 'trim':
        applyTrim(environment, this, entry)
        break
      case 'place':
        applyPlace(environment, this, entry, body)
        break
      case 'vectors':
        applyVectors(environment, entry, body)
        break
    }
    if (before !== undefined) environment.tallies.running?.correct(entry.docid, before, this.counters(entry.collection))
    // Vectors are not kept for the readers of the binlog: the next entry of their document overwrites them.
    const record = storeEntry(environment.seals, entry, entry.kind === 'vectors' ? 0 : (body?.length ?? 0))
    environment.binlog.put(lsnKey(entry.lsn), record)
    this.#store.binlogBytes += retainedBytes(record)
    this.#store.lastLsn = entry.lsn
    if (entry.collection >= this.#store.nextCollection) this.#store.nextCollection = entry.collection + 1
    this.isApplying = false
  }

  /**
   * Trims the binlog from its old end while it holds more than `bytesMax`, at most `entriesMax` entries, and with it the bodies that nothing else refers to. Local: not an entry.
   * @param lsnMax the newest entry that may go; then bodies that were left over go as well. Default: all but the last
   * @returns whether more may be left
   */
  trimBinlog(bytesMax: number, entriesMax: number, lsnMax?: bigint): boolean {
    const isEnough = (): boolean => this.#store.binlogBytes <= bytesMax
    if (isEnough() && lsnMax === undefined) return false
    const { binlog, garbage } = this.#environment
    const before = this.#store.trimmedLsn
    for (const { key, value } of isEnough() ? [] : [...binlog.getRange({ limit: entriesMax })]) {
      const lsn = lsnOfKey(key)
      if (isEnough() || lsn > (lsnMax ?? this.#store.lastLsn - 1n)) break
      binlog.remove(key)
      this.#store.binlogBytes -= retainedBytes(value)
      this.#store.trimmedLsn = lsn
    }
    const released = [...garbage.getRange({ end: lsnKey(this.#store.trimmedLsn + 1n), limit: entriesMax })]
    for (const { key, value } of released) {
      // A row that can't be believed may name a body that is in use: the one that it stood for stays.
      if (value === DAMAGED_ROW) garbage.remove(key)
      else removeGarbage(this.#environment, this.view, key, this.#store.trimmedLsn)
    }
    return this.#store.trimmedLsn !== before || released.length > 0
  }

  /**
   * Stores the body of a superseded state as the difference from that of a later one, which is kept from now on as long as the former. Local: not an entry.
   * @returns false where one of the two states is gone meanwhile, or the body is a difference already
   */
  packBody({ older, newer, record }: PackedBody): boolean {
    const { collection, docid } = older
    if (this.isRetired(collection)) return false
    for (const state of [older, newer]) {
      if (this.view.revision(collection, docid, state.revision)?.bodyLsn !== state.bodyLsn) return false
    }
    if (!this.view.isWhole(older)) return false
    retainBody(this.#environment, bodyKey(collection, docid, newer.bodyLsn))
    writeBody(this.#environment, collection, bodyKey(collection, docid, older.bodyLsn), record)
    return true
  }

  /** The superseded states of all entries up to this one have been packed. */
  setPackedLsn(lsn: bigint): void {
    this.#environment.settings.put(PACKED_KEY, lsnKey(lsn))
  }

  /**
   * Removes up to `rowsMax` rows of deleted collections, which no reader sees any more. Local: not an entry.
   * @returns true when rows are left.
   */
  purgeRetired(rowsMax: number): boolean {
    return purgeRetired(this.#environment, rowsMax, (body) => this.dropObject(body))
  }

  /** The body has an object from here on, in place of the one that it had. */
  setObject(body: Buffer, record: Buffer): void {
    this.#release(writeObject(this.#environment, body, record, this.view.now))
  }

  /** The body has no object any more. */
  dropObject(body: Buffer): void {
    this.#release(removeObject(this.#environment, body, this.view.now))
  }

  /** A step through the releases of objects (objects.ts), and those of objects that have been removed. Local: not an entry. */
  forgetReleases(before: number, from: Buffer | undefined, count: number): Buffer | undefined {
    return forgetReleases(this.#environment, before, from, count)
  }

  forgetSwept(rows: readonly Uint8Array[]): void {
    forgetSwept(this.#environment, rows)
  }

  #release(object: BodyObject | undefined): void {
    if (object?.location === MEMORY_LOCATION) this.released.push(object.id)
  }

  /** Reads of a document, which may be gone by now. Local: not an entry. */
  trackAccesses(collection: number, docid: number, accesses: readonly Accesses[]): void {
    if (!this.#environment.heads.doesExist(documentKey(collection, docid))) return
    trackAccesses(this.#environment, collection, docid, accesses)
    for (const { second, tracked } of accesses) {
      if (tracked > 0) this.#readMinutes.add(collection, second, tracked)
    }
  }

  /** Removes counts by minute from before `minute`, at most `rowsMax`. Local: not an entry. @returns how many */
  forgetMinutes(collection: number, minute: number, rowsMax: number): number {
    return forgetMinutes(this.#environment, collection, minute, rowsMax)
  }

  /** A step of bringing rows into the form that their collections have now (sealing/resealing.ts). Local: not an entry. @param table undefined: the binlog */
  reseal(collection: number | undefined, table: ResealedTable | undefined, from: Buffer | undefined, rowsMax: number): ResealedRows {
    const isBinlog = table === undefined || collection === undefined
    const rows = isBinlog
      ? resealBinlog(this.#environment, collection, from, rowsMax)
      : resealTable(this.#environment, collection, table, from, rowsMax)
    this.#store.binlogBytes += rows.grownBytes
    // What was overwritten may still be read in free pages: the next start writes the store anew.
    if (rows.resealed > 0) wantScrub(this.#environment)
    return rows
  }

  /** Rows of format 1 get their checksums: row_upgrade.ts. Local: not an entry. @returns whether rows are left */
  upgradeRows(rowsMax: number, bytesMax: number): boolean {
    return upgradeRows(this.#environment, this.view, rowsMax, bytesMax)
  }

  /** Whether documents may be missing from the index for want of objects. Local: not an entry. */
  markIndex(isIncomplete: boolean): void {
    markIndex(this.#environment, isIncomplete)
  }

  /** Every row of the collection lies in its present form. */
  finishForms(collection: number): void {
    finishForms(this.#environment, collection)
  }

  /** Removes an expiry row whose document is gone or expires at another time. */
  forgetExpiry(expiresAt: number, collection: number, docid: number): void {
    this.#environment.expiries.remove(expiryKey(expiresAt, collection, docid))
  }

  /** Writes the counters. To be called last. */
  finish(): void {
    this.#readMinutes.write(this.#environment)
    for (const [collection, counters] of this.#collections) writeCollectionCounters(this.#environment, collection, counters)
    writeStoreCounters(this.#environment, this.#store)
  }
}

function applyPut(environment: Environment, transaction: WriteTransaction, entry: PutEntry, body: Buffer | undefined): void {
  const { collection, docid, lsn } = entry
  const head = decodeHead(entry.head, collection, () => `head of entry ${lsn}`)
  const old = transaction.view.headEvenExpired(collection, docid)
  const counters = transaction.counters(collection)
  if (docid >= counters.nextDocid) counters.nextDocid = docid + 1
  createCollection(environment, entry)

  referBody(environment, head, lsn, body)
  if (old === undefined) {
    counters.documents++
  } else {
    supersede(environment, old, lsn)
    if (old.bodyLsn !== head.bodyLsn) transaction.dropObject(bodyKey(collection, docid, old.bodyLsn))
    uncount(counters, old)
  }
  if (entry.object !== null) transaction.setObject(bodyKey(collection, docid, head.bodyLsn), entry.object)
  if ((head.flags & HEAD_FLAGS.revision) !== 0) counters.revisions++
  counters.metaTriples += head.metaTriples
  counters.checksum = (counters.checksum ^ head.contentHash) >>> 0
  letGoBelow(environment, transaction, entry)

  writeHead(environment, collection, docid, entry.head)
  moveExpiry(environment, collection, docid, old?.expiresAt ?? 0, head.expiresAt)
  if (entry.wantsVectors) environment.embedQueue.put(lsnKey(lsn), documentKey(collection, docid))
  spell(environment, transaction.view, entry)
  if (transaction.tracksHistory) trackWrite(environment, collection, docid, old === undefined ? 'create' : 'update', head.updatedAt)
}

/** As the collection's records lie on disk: sealed or in clear. */
function writeHead(environment: Environment, collection: number, docid: number, record: Buffer): void {
  const seal = environment.seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  environment.heads.put(documentKey(collection, docid), isSealed ? seal.seal(statePlace(collection, docid), record) : record)
}

/** The state before a put: a revision, counted when it was written, is kept as it was; otherwise its body is let go. */
function supersede(environment: Environment, old: Head, lsn: bigint): void {
  if ((old.flags & HEAD_FLAGS.revision) !== 0) {
    environment.revisions.put(revisionKey(old.collection, old.docid, old.revision), old.record)
  } else {
    releaseBody(environment, bodyKey(old.collection, old.docid, old.bodyLsn), lsn)
  }
}

function uncount(counters: CollectionCounters, head: Head): void {
  counters.metaTriples -= head.metaTriples
  counters.checksum = (counters.checksum ^ head.contentHash) >>> 0
}

/** Keeps the identity row at the latest spelling, and every other spelling that was ever written in a row of its own. */
function spell(environment: Environment, view: View, entry: PutEntry): void {
  const { collection, docid, key, lang } = entry
  const known = view.identity(collection, key, lang)
  if (known !== undefined && known.docid === docid) {
    if (known.key === key && known.lang === lang) return
    writeSpelling(environment, collection, docid, known.key, known.lang)
    writeSpelling(environment, collection, docid, key, lang)
  }
  writeIdentity(environment, collection, { docid, key, lang })
}

function applyExpiry(environment: Environment, transaction: WriteTransaction, entry: ExpiryEntry): void {
  const { collection, docid } = entry
  const head = decodeHead(entry.head, collection, () => `head of entry ${entry.lsn}`)
  const old = transaction.view.headEvenExpired(collection, docid)
  writeHead(environment, collection, docid, entry.head)
  moveExpiry(environment, collection, docid, old?.expiresAt ?? 0, head.expiresAt)
}

function applyTrim(environment: Environment, transaction: WriteTransaction, entry: TrimEntry): void {
  const { collection, docid } = entry
  const old = transaction.view.headEvenExpired(collection, docid)
  if (old === undefined) return
  const head = decodeHead(entry.head, collection, () => `head of entry ${entry.lsn}`)
  const counters = transaction.counters(collection)
  if ((old.flags & HEAD_FLAGS.revision) !== 0 && (head.flags & HEAD_FLAGS.revision) === 0) counters.revisions--
  writeHead(environment, collection, docid, entry.head)
  letGoBelow(environment, transaction, entry)
}

/** Removes superseded states with their references to bodies. How many there are was bounded when the entry was decided. */
function letGoBelow(
  environment: Environment,
  transaction: WriteTransaction,
  { collection, docid, trimBelow, lsn }: PutEntry | TrimEntry,
): void {
  if (trimBelow === 0) return
  const counters = transaction.counters(collection)
  for (const { revision, bodyLsn } of transaction.view.revisionsBelow(collection, docid, trimBelow)) {
    // A damaged row names no body: it goes all the same, and the body goes with the document.
    if (bodyLsn !== undefined) releaseBody(environment, bodyKey(collection, docid, bodyLsn), lsn)
    environment.revisions.remove(revisionKey(collection, docid, revision))
    counters.revisions--
  }
}

function applyDelete(environment: Environment, transaction: WriteTransaction, entry: DeleteEntry): void {
  const { collection, docid, lsn } = entry
  const head = transaction.view.headEvenExpired(collection, docid)
  if (head === undefined) return
  const counters = transaction.counters(collection)
  const prefix = documentKey(collection, docid)
  const range = { start: prefix, end: prefixEnd(prefix) }
  counters.documents--
  if ((head.flags & HEAD_FLAGS.revision) !== 0) counters.revisions--
  uncount(counters, head)
  environment.heads.remove(prefix)
  for (const key of [...environment.revisions.getKeys(range)]) {
    counters.revisions--
    environment.revisions.remove(key)
  }
  for (const key of [...environment.bodies.getKeys(range)]) environment.garbage.put(garbageKey(lsn, key), NOTHING)
  for (const key of [...environment.bodyCounts.getKeys(range)]) environment.bodyCounts.remove(key)
  for (const key of bodiesWithObjects(environment, prefix)) transaction.dropObject(key)
  removeSpellings(environment, collection, docid)
  removeIdentity(environment, collection, { docid, key: entry.key, lang: entry.lang })
  moveExpiry(environment, collection, docid, head.expiresAt, 0)
  forgetHistory(environment, collection, docid)
  forgetVectors(environment, collection, docid)
}

/** The collection is gone at once; its rows are removed in slices by `purgeRetired`. */
function applyDrop(environment: Environment, entry: DropEntry): void {
  removeCollection(environment, entry)
  environment.retired.put(counterKey(entry.collection), lsnKey(entry.lsn))
  // With the salt go the keys: what was sealed can't be opened any more, wherever a copy of it lies.
  environment.sealings.remove(counterKey(entry.collection))
}

/** The stamp tells readers that what they remember of the collection's settings is old. */
function applySetting(environment: Environment, entry: SettingEntry): void {
  const { collection, setting, id, value, lsn } = entry
  if (collection !== SERVER_SETTINGS) createCollection(environment, entry)
  writeSetting(environment, collection, setting, id, value)
  environment.collectionSettings.put(counterKey(collection), lsnKey(lsn))
}

function applySealing(environment: Environment, entry: SealingEntry): void {
  createCollection(environment, entry)
  changeSealing(environment, entry)
}
