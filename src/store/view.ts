/**
 * A view: one consistent snapshot of the truth env, for the duration of a synchronous piece of code. Inside
 * the write transaction the same functions see the transaction's own writes. A view is never held across an
 * `await`: a long snapshot pins pages, and the file grows.
 */
import type { DocumentFacts, DocumentSource } from '../base/document_source.js'
import { lowerCase } from '../operations/row/lower_case.js'
import { BinlogView } from './binlog/binlog_view.js'
import type { BodyOf } from './bodies/body_reader.js'
import { BodyReader } from './bodies/body_reader.js'
import { ObjectView } from './bodies/object_view.js'
import { type Collection, readCollection, readCollections } from './collections/collection_row.js'
import { countSettings, readSetting, readSettings } from './collections/stored_settings.js'
import type { CollectionCounters, StoreCounters } from './counters.js'
import { readStoreCounters, requireCollectionCounters } from './counters.js'
import { DeliveryView } from './deliveries/delivery_table.js'
import type { DocumentCache, StoredDocument } from './documents/document_cache.js'
import { DocumentReader } from './documents/documents.js'
import { dueRows, soonestExpiry } from './documents/expiry_rows.js'
import { HeadReader } from './documents/heads.js'
import type { Identity } from './documents/identities.js'
import { readDocidsOfKey } from './documents/identities.js'
import { RevisionView } from './documents/revisions.js'
import type { Environment } from './environment.js'
import type { Head } from './head.js'
import { HistoryView } from './histories/history_view.js'
import { type Job, type JobKind, readJob, readJobs } from './jobs.js'
import { isScrubWanted } from './resealing/scrubbing.js'
import type { ByteWriter } from './rows/byte_writer.js'
import type { ExpiryRow } from './rows/keys.js'
import { collectionOfKey, counterKey } from './rows/keys.js'
import { noteDamage } from './rows/noted_damage.js'
import { requireIntact } from './rows/record.js'
import type { CollectionSeal } from './sealing/collection_seal.js'
import { CLEAR } from './sealing/collection_seal.js'
import type { SettingKind } from './settings.js'
import { VectorView } from './vectors/vector_tables.js'

export class View {
  readonly #environment: Environment
  /** Collections looked up so far. Undefined: each look-up reads the row. */
  readonly #named: Map<string, Collection | undefined> | undefined
  /** Unix seconds. Documents that expire at or before this time are not visible. */
  readonly now: number
  readonly #cache: DocumentCache | undefined
  readonly #bodies: BodyReader
  readonly #heads: HeadReader
  readonly #documents: DocumentReader
  readonly #sealOf: (collection: number) => CollectionSeal | undefined
  // Made on first use: most requests need few of them.
  #objects: ObjectView | undefined
  #vectors: VectorView | undefined
  #deliveries: DeliveryView | undefined
  #revisions: RevisionView | undefined
  #histories: HistoryView | undefined
  #binlog: BinlogView | undefined
  #seal: CollectionSeal | undefined
  #sealCollection = 0

  /**
   * @param cache of this thread; absent inside a write transaction, whose state no other reader has seen yet
   * @param source reads whole documents; absent inside a write transaction, and where it is not available
   * @param named collections that a write transaction has looked up, cleared by what it changes
   */
  constructor(
    environment: Environment,
    now: number,
    cache?: DocumentCache,
    source?: DocumentSource,
    named: Map<string, Collection | undefined> | undefined = cache === undefined ? undefined : new Map<string, Collection | undefined>(),
  ) {
    this.#environment = environment
    this.now = now
    this.#cache = cache
    this.#named = named
    this.#sealOf = (collection) => this.#findSeal(collection)
    this.#bodies = new BodyReader(environment, this.#sealOf)
    this.#heads = new HeadReader(environment, now, this.#sealOf)
    const readers = { heads: this.#heads, bodies: this.#bodies, isSealed: (collection: number) => this.#isSealed(collection) }
    this.#documents = new DocumentReader(environment, readers, now, () => this.storeCounters().lastLsn, cache, source)
  }

  get objects(): ObjectView {
    return (this.#objects ??= new ObjectView(this.#environment, this.#bodies, this.#sealOf))
  }

  get vectors(): VectorView {
    return (this.#vectors ??= new VectorView(this.#environment))
  }

  get deliveries(): DeliveryView {
    return (this.#deliveries ??= new DeliveryView(this.#environment))
  }

  get revisions(): RevisionView {
    return (this.#revisions ??= new RevisionView(this.#environment, this.#heads))
  }

  get histories(): HistoryView {
    return (this.#histories ??= new HistoryView(this.#environment))
  }

  get binlog(): BinlogView {
    return (this.#binlog ??= new BinlogView(this.#environment, this.now))
  }

  /** For `apply`, which uses only this reader. */
  get heads(): HeadReader {
    return this.#heads
  }

  collection(name: string): Collection | undefined {
    const known = this.#named
    if (known?.has(name) === true) return known.get(name)
    const found = readCollection(this.#environment, name)
    known?.set(name, found)
    if (found !== undefined) known?.set(found.name, found)
    return found
  }

  /**
   * The seal of the collection. It is cached within a snapshot for consecutive requests. A transaction must
   * see its own writes.
   */
  #findSeal(collection: number): CollectionSeal | undefined {
    if (this.#cache === undefined) return this.#environment.seals.of(collection)
    if (this.#sealCollection !== collection) {
      this.#seal = this.#environment.seals.of(collection)
      this.#sealCollection = collection
    }
    return this.#seal
  }

  /** Whether new rows of the collection are sealed. False also if that can't be read: its rows say so. */
  isSealed(collection: number): boolean {
    return this.#isSealed(collection)
  }

  #isSealed(collection: number): boolean {
    try {
      return (this.#sealOf(collection)?.writtenForm ?? CLEAR) !== CLEAR
    } catch {
      return false
    }
  }

  /** Every collection whose row is intact, ordered by its lower-cased name. */
  collections(): Collection[] {
    return readCollections(this.#environment.collections)
  }

  /**
   * @param name of the collection, in any case
   * @returns the name as first written; empty if the row is missing or damaged
   */
  nameOfCollection(collection: number, name: string): string {
    try {
      const found = this.collection(name)
      return found?.id === collection ? found.name : ''
    } catch (error) {
      noteDamage(error)
      return ''
    }
  }

  collectionCounters(collection: number): CollectionCounters {
    return requireCollectionCounters(this.#environment, collection)
  }

  storeCounters(): StoreCounters {
    return readStoreCounters(this.#environment)
  }

  /** LSN of the last entry that this snapshot shows. */
  lastLsn(): bigint {
    return this.#documents.mark?.lastLsn ?? this.storeCounters().lastLsn
  }

  /** LSN of the last change of the collection's settings; 0: it has never had any. */
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

  /**
   * All settings of a kind, by id.
   * @param unreadable receives the ids of those that can't be opened; without it, an error is thrown
   */
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

  /**
   * Docids of the documents with this key in any language and any spelling, ordered by language where the
   * rows are plaintext; at most `count`.
   */
  docidsOfKey(collection: number, key: string, count: number): number[] {
    return readDocidsOfKey(this.#environment, this.#sealOf(collection), collection, key, count)
  }

  /**
   * What stands for a document's key outside of the store where its collection is encrypted: a hash under the
   * collection's own secret, equal in all spellings and languages.
   * @returns undefined: the collection is not encrypted
   * @throws CorruptRecord if that can't be read
   */
  hashOfKey(collection: number, key: string): string | undefined {
    return this.#sealOf(collection)?.keyHash(lowerCase(key))
  }

  /** The hashes of the key under every known master key; none if the collection was never encrypted. */
  hashesOfKey(collection: number, key: string): string[] {
    return this.#sealOf(collection)?.keyHashes(lowerCase(key)) ?? []
  }

  /** The owner of the identity (key, lang), in any spelling. */
  identity(collection: number, key: string, lang: string): Identity | undefined {
    return this.#heads.identity(collection, key, lang)
  }

  /**
   * The head of the document of an identity, expired or not.
   * @throws CorruptRecord also if the head belongs to another identity
   */
  headOf(collection: number, identity: Identity): Head | undefined {
    return this.#heads.headOf(collection, identity)
  }

  /** The document that was at some time written under exactly this spelling. */
  find(collection: number, key: string, lang: string): Head | undefined {
    return this.#heads.find(collection, key, lang)
  }

  /** Undefined if there is none or it has expired. */
  head(collection: number, docid: number): Head | undefined {
    return this.#heads.present(collection, docid)
  }

  headEvenExpired(collection: number, docid: number): Head | undefined {
    return this.#heads.evenExpired(collection, docid)
  }

  /** The state in a row of heads or revisions. @throws CorruptRecord */
  stateOf(record: Buffer, collection: number, docid: number): Head {
    return this.#heads.decodeState(record, collection, docid, () => `state ${collection}/${docid}`)
  }

  /** Docids of a collection from `docidFirst` on, ascending, expired documents included, at most `count`. */
  docidsFrom(collection: number, docidFirst: number, count: number): number[] {
    return this.#heads.docidsFrom(collection, docidFirst, count)
  }

  /**
   * Heads of all documents that have not expired, in the order of docids. A head is valid until the next one
   * is read.
   */
  allHeads(collection: number): Generator<Head> {
    return this.#heads.all(collection)
  }

  /** Like `allHeads`, with docids from `docidFirst` up to but not including `docidEnd`. */
  headsFrom(collection: number, docidFirst: number, docidEnd: number): Generator<Head> {
    return this.#heads.from(collection, docidFirst, docidEnd)
  }

  /** The key id (0: plaintext) of every state, present and superseded. */
  keyIdsOfStates(collection: number): Generator<number> {
    return this.#heads.keyIds(collection)
  }

  /** Announces documents that will be asked for, as DocumentReader.expect does. */
  expect(collection: number, wanted: readonly { readonly docid: number }[], begin = 0, end = wanted.length): void {
    this.#documents.expect(collection, wanted, begin, end)
  }

  /** The document with its content, as DocumentReader.get returns it. */
  document(collection: number, docid: number, isKept = true): StoredDocument | undefined {
    return this.#documents.get(collection, docid, isKept)
  }

  /** Appends a plain document with its content, as DocumentReader.appendSpelled does. */
  appendSpelled(collection: number, key: string, lang: string, out: ByteWriter): DocumentFacts | undefined {
    return this.#documents.appendSpelled(collection, key, lang, out)
  }

  /** Appends the JSON of the document: the head, and the content if requested. */
  writeDocument(head: Head, out: ByteWriter, withContent: boolean): void {
    this.#documents.write(head, out, withContent)
  }

  /** The JSON-escaped content, valid until the next read. */
  escapedContent(head: Head): Buffer {
    return this.#bodies.content(head)
  }

  /** The body's plaintext record, in its own buffer. @throws CorruptRecord, BodiesWanted */
  bodyRecord(head: Head): Buffer {
    return this.#bodies.record(head)
  }

  /** Appends the JSON-escaped content. */
  writeContent(head: Head, out: ByteWriter): void {
    this.#bodies.append(head, out)
  }

  /** Whether the content is stored in the env, and as a whole body rather than a delta. */
  isWhole(head: Head): boolean {
    return this.#bodies.isWhole(head)
  }

  /**
   * Reads and checks the body's record and, for a delta, that of its base.
   * @throws CorruptRecord if either is damaged
   */
  checkBody(body: BodyOf): void {
    this.#bodies.check(body)
  }

  /**
   * LSN of the body that this one is a delta of. Undefined for a whole body, and for one that is missing or
   * unreadable.
   */
  baseOf(body: BodyOf): bigint | undefined {
    return this.#bodies.baseOf(body)
  }

  /**
   * Whether residue from before a rotation may be left in the files. The next start removes it by rewriting
   * the store.
   */
  isScrubWanted(): boolean {
    return isScrubWanted(this.#environment)
  }

  /** Documents that are due and not yet deleted, soonest first, at most `count`. */
  due(count: number): ExpiryRow[] {
    return dueRows(this.#environment, this.now, count, this.#documents.mark)
  }

  /** Unix seconds of the soonest expiry of a document; Infinity: none expires. */
  soonestExpiry(): number {
    return soonestExpiry(this.#environment, this.#documents.mark)
  }

  /** Ids of deleted collections whose rows are not all removed yet. */
  retired(): number[] {
    return [...this.#environment.retired.intactKeys()].map((key) => collectionOfKey(key))
  }
}
