/**
 * What one read sees: a consistent snapshot of the truth env, for as long as a synchronous piece of code runs. Inside the write transaction the same functions see the transaction's own
 * writes. Never held across an `await`: a long snapshot pins pages and the file grows.
 */
import { ByteWriter } from './byte_writer.js'
import { BodyReader } from './body_reader.js'
import type { BodyOf } from './body_reader.js'
import { readCollection, readCollections, type Collection } from './collection_row.js'
import { readStoreCounters, requireCollectionCounters, STORE_COUNTERS } from './counters.js'
import type { CollectionCounters, StoreCounters } from './counters.js'
import type { DocumentCache, Mark, StoredDocument } from './document_cache.js'
import { openEntry } from './entry.js'
import { countRevisions, revisionAfter, revisionsBelow } from './revision_rows.js'
import type { RevisionRow } from './revision_rows.js'
import { putsSuperseding } from './superseding.js'
import type { PutEntry, StoredEntry } from './entry.js'
import { isUpgradeWanted, PACKED_KEY } from './environment.js'
import type { Environment } from './environment.js'
import { hottest, minutesOf, readHistory } from './history_tables.js'
import { dueRows } from './expiry_rows.js'
import type { EventType, History } from './history.js'
import { decodeHead, isSpelled } from './head.js'
import type { Head } from './head.js'
import { hasSpelling, readDocidsOfKey, readIdentity } from './identities.js'
import type { Identity } from './identities.js'
import { collectionOfKey, counterKey, docidOfKey, documentKey, lsnKey, lsnOfKey, prefixEnd, revisionKey } from './keys.js'
import type { ExpiryRow } from './keys.js'
import { readJob, readJobs, type Job, type JobKind } from './jobs.js'
import { ObjectView } from './object_view.js'
import { CorruptRecord, DAMAGED_ROW, requireIntact } from './record.js'
import { statePlace } from './sealing/collection_seal.js'
import type { CollectionSeal } from './sealing/collection_seal.js'
import { keyIdOf } from './sealing/sealed_record.js'
import { isScrubWanted } from './sealing/scrubbing.js'
import type { SettingKind } from './settings.js'
import { countSettings, readSetting, readSettings } from './stored_settings.js'
import { VectorView } from './vector_tables.js'

const CONTENT_BEGIN = Buffer.from(',"contentMd":"')
const CONTENT_END = Buffer.from('"}')
const NO_COUNTERS = Buffer.alloc(0)
// Of this thread: one text at a time.
const passing = new ByteWriter()

export type { Identity } from './identities.js'

export class View {
  readonly #environment: Environment
  /** What several requests that share the view all ask for is looked up once. */
  readonly #known = new Map<string, Collection | undefined>()
  /** Unix seconds: documents that expire at or before are not there. */
  readonly now: number
  readonly #cache: DocumentCache | undefined
  #mark: Mark | undefined
  readonly #bodies: BodyReader
  readonly objects: ObjectView
  readonly vectors: VectorView
  #seal: CollectionSeal | undefined
  #sealCollection = 0

  /** @param cache of this thread; absent inside a write transaction, whose state nobody else has seen yet */
  constructor(environment: Environment, now: number, cache?: DocumentCache) {
    this.#environment = environment
    this.now = now
    this.#cache = cache
    const sealOf = (collection: number): CollectionSeal | undefined => this.#sealOf(collection)
    this.#bodies = new BodyReader(environment, sealOf)
    this.objects = new ObjectView(environment, this.#bodies, sealOf)
    this.vectors = new VectorView(environment)
  }

  collection(name: string): Collection | undefined {
    // A transaction must see its own writes.
    if (this.#cache === undefined) return readCollection(this.#environment, name)
    if (!this.#known.has(name)) this.#known.set(name, readCollection(this.#environment, name))
    return this.#known.get(name)
  }

  /** How the collection is sealed, looked up once a snapshot for requests that follow each other. A transaction must see its own writes. */
  #sealOf(collection: number): CollectionSeal | undefined {
    if (this.#cache === undefined) return this.#environment.seals.of(collection)
    if (this.#sealCollection !== collection) {
      this.#seal = this.#environment.seals.of(collection)
      this.#sealCollection = collection
    }
    return this.#seal
  }

  /** Every collection whose row can be believed, ordered by its lower-cased name. */
  collections(): Collection[] {
    return readCollections(this.#environment.collections)
  }

  collectionCounters(collection: number): CollectionCounters {
    return requireCollectionCounters(this.#environment, collection)
  }

  storeCounters(): StoreCounters {
    return readStoreCounters(this.#environment)
  }

  /** LSN of the last change of the collection's settings; 0: it never had any. */
  settingsLsn(collection: number): bigint {
    const stamp = this.#environment.collectionSettings.peek(counterKey(collection))
    if (stamp === undefined) return 0n
    requireIntact(stamp, 8, () => `stamp of the settings of collection ${collection}`)
    return stamp.readBigUInt64BE(0)
  }

  /** The parsed JSON of a setting. */
  setting(collection: number, kind: SettingKind, id = ''): unknown {
    return readSetting(this.#environment, collection, kind, id)
  }

  /** All settings of a kind, by id. @param unreadable is given the ids of those that can't be opened, instead of an error */
  settings(collection: number, kind: SettingKind, unreadable?: string[]): (readonly [id: string, value: unknown])[] {
    return readSettings(this.#environment, collection, kind, unreadable)
  }

  countSettings(collection: number, kind: SettingKind): number {
    return countSettings(this.#environment, collection, kind)
  }

  job(kind: JobKind, id: string): Job | undefined {
    return readJob(this.#environment.jobs, kind, id)
  }

  /** All jobs of a kind, newest first. */
  jobs(kind: JobKind): Job[] {
    return readJobs(this.#environment.jobs, kind)
  }

  /** Docids of the documents with this key in any language, whatever the spelling, by language; at most `count`. */
  docidsOfKey(collection: number, key: string, count: number): number[] {
    return readDocidsOfKey(this.#environment, this.#sealOf(collection), collection, key, count)
  }

  /** Whose identity (key, lang) is, whatever the spelling. */
  identity(collection: number, key: string, lang: string): Identity | undefined {
    return readIdentity(this.#environment, this.#sealOf(collection), collection, key, lang)
  }

  /**
   * The document of an identity, expired or not.
   * @throws CorruptRecord also where it is another: a row that points astray must neither show nor change
   * that one
   */
  headOf(collection: number, { docid, key, lang }: Identity): Head | undefined {
    const head = this.headEvenExpired(collection, docid)
    if (head !== undefined && !isSpelled(head, key, lang))
      throw new CorruptRecord(`identity of document ${collection}/${docid}`, 'it leads to another document')
    return head
  }

  /** The document that was at some point written under just this spelling (service-1, identity rule 3). */
  find(collection: number, key: string, lang: string): Head | undefined {
    const identity = this.identity(collection, key, lang)
    if (identity === undefined) return undefined
    const spelledSo = identity.key === key && identity.lang === lang
    if (!spelledSo && !hasSpelling(this.#environment, this.#sealOf(collection), collection, identity.docid, key, lang)) return undefined
    const head = this.headOf(collection, identity)
    return head === undefined || isExpired(head, this.now) ? undefined : head
  }

  /** Undefined when there is none or it has expired. */
  head(collection: number, docid: number): Head | undefined {
    const head = this.headEvenExpired(collection, docid)
    return head === undefined || isExpired(head, this.now) ? undefined : head
  }

  headEvenExpired(collection: number, docid: number): Head | undefined {
    const record = this.#environment.heads.get(documentKey(collection, docid))
    return record === undefined ? undefined : this.#decodeState(record, collection, docid, () => `head ${collection}/${docid}`)
  }

  /** The state in a row of heads or revisions. @throws CorruptRecord */
  stateOf(record: Buffer, collection: number, docid: number): Head {
    return this.#decodeState(record, collection, docid, () => `state ${collection}/${docid}`)
  }

  /** A state as stored, in clear or sealed. */
  #decodeState(record: Buffer, collection: number, docid: number, name: () => string): Head {
    const head = this.#openState(record, collection, docid, name)
    if (head.docid !== docid) throw new CorruptRecord(name(), `it is of document ${head.docid}`)
    return head
  }

  #openState(record: Buffer, collection: number, docid: number, name: () => string): Head {
    if (keyIdOf(record) === 0) return decodeHead(record, collection, name)
    const seal = this.#sealOf(collection)
    if (seal === undefined) throw new CorruptRecord(name(), 'sealed, in a collection that is not')
    return { ...decodeHead(seal.open(statePlace(collection, docid), record, name), collection, name), record }
  }

  /** LSN of the last entry that this snapshot shows. */
  lastLsn(): bigint {
    return this.#cache === undefined ? this.storeCounters().lastLsn : this.#markOf(this.#cache).lastLsn
  }

  /**
   * The document with its content. Undefined when there is none or it has expired.
   * @param isKept false: it is not remembered, and its text is valid until the next read only. For pages so long that they would drive out everything else and leave as much garbage.
   */
  document(collection: number, docid: number, isKept = true): StoredDocument | undefined {
    const cached = this.#cache?.get(collection, docid)
    if (this.#cache !== undefined && cached !== undefined && cached.mark === this.#markOf(this.#cache)) {
      return cached.expiresAt > 0 && cached.expiresAt <= this.now ? undefined : cached
    }
    const head = this.head(collection, docid)
    return head === undefined ? undefined : this.#documentOf(head, cached, isKept)
  }

  #documentOf(head: Head, cached: StoredDocument | undefined, isKept: boolean): StoredDocument {
    const { collection, docid, lsn, indexedLsn, expiresAt } = head
    const mark = this.#cache === undefined ? { lastLsn: lsn, soonestExpiry: undefined } : this.#markOf(this.#cache)
    if (cached !== undefined && cached.lsn === lsn) {
      cached.mark = mark
      return cached
    }
    const json = isKept ? this.#textOf(head) : this.#passingTextOf(head)
    const document: StoredDocument = { collection, docid, lsn, indexedLsn, expiresAt, json, mark }
    if (isKept && this.#cache?.takes(json.length) === true) this.#cache.put(document)
    return document
  }

  #textOf(head: Head): Buffer {
    const content = this.escapedContent(head)
    const json = Buffer.allocUnsafeSlow(head.json.length + CONTENT_BEGIN.length + content.length + CONTENT_END.length)
    let at = head.json.copy(json)
    at += CONTENT_BEGIN.copy(json, at)
    at += content.copy(json, at)
    CONTENT_END.copy(json, at)
    return json
  }

  #passingTextOf(head: Head): Buffer {
    this.#writeWhole(head, passing.begin())
    return passing.view()
  }

  #markOf(cache: DocumentCache): Mark {
    if (this.#mark === undefined) {
      const counters = this.#environment.counters.peek(counterKey(STORE_COUNTERS)) ?? NO_COUNTERS
      this.#mark = cache.mark(counters, () => this.storeCounters().lastLsn)
    }
    return this.#mark
  }

  /** Docids of a collection from `docidFirst` on, ascending, expired documents included, at most `count`. */
  docidsFrom(collection: number, docidFirst: number, count: number): number[] {
    const start = documentKey(collection, docidFirst)
    return [...this.#environment.heads.getKeys({ start, end: prefixEnd(start.subarray(0, 4)), limit: count })].map((key) => docidOfKey(key))
  }

  /** Heads of all documents that have not expired, by docid; each valid until the next. */
  heads(collection: number): Generator<Head> {
    const prefix = counterKey(collection)
    return this.#headsWithin(prefix, prefixEnd(prefix), collection)
  }

  /** Heads of documents that have not expired with docids from `docidFirst` to below `docidEnd`, by docid; each valid until the next. */
  headsFrom(collection: number, docidFirst: number, docidEnd: number): Generator<Head> {
    return this.#headsWithin(documentKey(collection, docidFirst), documentKey(collection, docidEnd), collection)
  }

  *#headsWithin(start: Buffer, end: Buffer, collection: number): Generator<Head> {
    for (const { key, value } of this.#environment.heads.getRange({ start, end })) {
      const docid = docidOfKey(key)
      const head = this.#decodeState(value, collection, docid, () => `head ${collection}/${docid}`)
      if (!isExpired(head, this.now)) yield head
    }
  }

  /** The JSON-escaped content, valid until the next read. */
  escapedContent(head: Head): Buffer {
    return this.#bodies.content(head)
  }

  /** The body's record, in clear, in a buffer of its own. @throws CorruptRecord, BodiesWanted */
  bodyRecord(head: Head): Buffer {
    return this.#bodies.record(head)
  }

  /** Appends the JSON-escaped content. */
  writeContent(head: Head, out: ByteWriter): void {
    this.#bodies.append(head, out)
  }

  /** Whether the content lies in the env, whole, and not as the difference from another. */
  isWhole(head: Head): boolean {
    return this.#bodies.isWhole(head)
  }

  /** Reads the body's record, and that of the one that it is the difference from. @throws CorruptRecord where either can't be believed */
  checkBody(body: BodyOf): void {
    this.#bodies.check(body)
  }

  /** LSN of the body that this one is the difference from. Undefined for a whole one, and for one that is not there or can't be read. */
  baseOf(body: BodyOf): bigint | undefined {
    return this.#bodies.baseOf(body)
  }

  /** The key id (0: in clear) of every state, present and superseded. */
  *keyIdsOfStates(collection: number): Generator<number> {
    const prefix = counterKey(collection)
    const range = { start: prefix, end: prefixEnd(prefix) }
    for (const table of [this.#environment.heads, this.#environment.revisions])
      for (const { value } of table.getRange(range)) yield keyIdOf(value)
  }

  /** Whether rows may be left that have no checksum yet. */
  isUpgradeWanted(): boolean {
    return isUpgradeWanted(this.#environment)
  }

  /** Whether bytes of before a rotation may be left in the files until the next start, which writes them anew. */
  isScrubWanted(): boolean {
    return isScrubWanted(this.#environment)
  }

  /** Superseded states of a document, newest first, without the current one. */
  *revisions(collection: number, docid: number): Generator<Head> {
    const prefix = documentKey(collection, docid)
    const range = { start: prefixEnd(prefix), end: prefix, reverse: true }
    for (const { value } of this.#environment.revisions.getRange(range))
      yield this.#decodeState(value, collection, docid, () => `revision ${collection}/${docid}`)
  }

  /** Numbers of the superseded states below `below`, ascending, each with the body that it shows; undefined where its row is damaged. */
  revisionsBelow(collection: number, docid: number, below: number): RevisionRow[] {
    const open = (record: Buffer): Head => this.stateOf(record, collection, docid)
    return revisionsBelow(this.#environment, collection, docid, below, open)
  }

  /** Superseded states of a document. */
  countRevisions(collection: number, docid: number): number {
    return countRevisions(this.#environment, collection, docid)
  }

  /** Number of the superseded state that has `older` others before it; undefined when there are not so many. */
  revisionAfter(collection: number, docid: number, older: number): number | undefined {
    return revisionAfter(this.#environment, collection, docid, older)
  }

  revision(collection: number, docid: number, revision: number): Head | undefined {
    const record = this.#environment.revisions.get(revisionKey(collection, docid, revision))
    return record === undefined
      ? undefined
      : this.#decodeState(record, collection, docid, () => `revision ${collection}/${docid}/${revision}`)
  }

  /** The newest superseded state whose number is not above `revision`. */
  newestRevision(collection: number, docid: number, revision: number): Head | undefined {
    const range = { start: revisionKey(collection, docid, revision), end: documentKey(collection, docid), reverse: true, limit: 1 }
    const [found] = [...this.#environment.revisions.getRange(range)]
    return found === undefined ? undefined : this.#decodeState(found.value, collection, docid, () => `revision ${collection}/${docid}`)
  }

  /** Undefined where nothing of the document was tracked. */
  history(collection: number, docid: number): History | undefined {
    return readHistory(this.#environment, collection, docid)
  }

  /** Docids of a collection, most read first; at most `count`. */
  hottest(collection: number, count: number): Generator<number> {
    return hottest(this.#environment, collection, count)
  }

  /** Minutes in which something happened, ascending. @param begin, end unix minutes, `end` exclusive */
  eventMinutes(collection: number, type: EventType, begin: number, end: number): Generator<readonly [minute: number, count: number]> {
    return minutesOf(this.#environment, collection, type, begin, end)
  }

  /** Entries of the binlog with an LSN above `lsn`, ascending, at most `count`. */
  entriesAfter(lsn: bigint, count: number): StoredEntry[] {
    const found: StoredEntry[] = []
    for (const { key, value } of this.#environment.binlog.getRange({ start: lsnKey(lsn + 1n), limit: count })) {
      found.push(openEntry(this.#environment.seals, lsnOfKey(key), value))
    }
    return found
  }

  /**
   * Of the next `count` entries of the binlog above `lsn` the puts that left at least two superseded states behind them, ascending. Damaged ones are passed over.
   * @returns with the LSN of the last entry looked at, which is `lsn` where there was none
   */
  supersedingAfter(lsn: bigint, count: number): { readonly puts: readonly PutEntry[]; readonly lsn: bigint } {
    return putsSuperseding(this.#environment, lsn, count)
  }

  /** LSN of the last entry whose superseded states have been packed. */
  packedLsn(): bigint {
    const packed = this.#environment.settings.get(PACKED_KEY)
    // A damaged one is as good as none: what is packed already is passed over.
    return packed === undefined || packed === DAMAGED_ROW ? 0n : packed.readBigUInt64BE(0)
  }

  /** Documents that are due but not swept yet, soonest first, at most `count`. */
  due(count: number): ExpiryRow[] {
    return dueRows(this.#environment, this.now, count, this.#cache === undefined ? undefined : this.#markOf(this.#cache))
  }

  /** Ids of deleted collections whose rows are still there. */
  retired(): number[] {
    return [...this.#environment.retired.intactKeys()].map((key) => collectionOfKey(key))
  }

  /** Appends the JSON of the document: head, and content unless it was not asked for. */
  writeDocument(head: Head, out: ByteWriter, withContent: boolean): void {
    const cached = withContent ? this.#cache?.get(head.collection, head.docid) : undefined
    if (cached !== undefined && cached.lsn === head.lsn) {
      out.bytes(cached.json)
      return
    }
    if (withContent) {
      this.#writeWhole(head, out)
    } else {
      out.bytes(head.json)
      out.ascii('}')
    }
  }

  #writeWhole(head: Head, out: ByteWriter): void {
    out.bytes(head.json)
    out.bytes(CONTENT_BEGIN)
    this.writeContent(head, out)
    out.bytes(CONTENT_END)
  }
}

export function isExpired(head: Head, now: number): boolean {
  return head.expiresAt > 0 && head.expiresAt <= now
}
