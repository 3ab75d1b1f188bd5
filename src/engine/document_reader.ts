/**
 * The native reader of documents (native/engine/truth/document_reader.h), one for each thread and store. It
 * reads by the LMDB env that lmdb-js has open in this process, so it must be closed before that env.
 */
import { DOCUMENT_PAGE_MAX } from '../limits/store.js'
import { loadAddon } from './addon.js'

/** What an answer needs to know of the document that was read last. */
export interface DocumentFacts {
  readonly collection: number
  readonly docid: number
  /** Bytes of the JSON text before the value of "meta". */
  readonly metaBegin: number
  readonly lsn: bigint
  readonly indexedLsn: bigint
  /** Unix seconds; 0: the document does not expire. */
  readonly expiresAt: number
}

/** Documents that are read together, by row. */
export interface PageRows {
  /** Sets the document that the row is to receive. */
  ask(row: number, docid: number): void
  docid(row: number): number
  /** Where the text of the document begins in the space. */
  begin(row: number): number
  /** Of the text; 0: the document is not there or not plain. */
  bytes(row: number): number
  lsn(row: number): bigint
  indexedLsn(row: number): bigint
  /** Unix seconds; 0: the document does not expire. */
  expiresAt(row: number): number
}

/**
 * Each read takes its own snapshot, the newest, and returns the number of bytes that it has written to
 * `space`. 0: the document is not there or not plain. Negative: `space` is too short by itself, and this many
 * bytes are needed; the body has not been read.
 */
export interface NativeDocuments {
  /** Of the last read that returned a positive number. Overwritten by the next one. */
  readonly facts: DocumentFacts
  /** @param lsn of the only state that is wanted; default: the present one */
  read(collection: number, docid: number, space: Uint8Array, lsn?: bigint): number
  /**
   * @param lowered key and language in lower case, separated by a zero character
   * @param spelled the same as requested: only a document that was last written so is found
   */
  find(collection: number, lowered: string, spelled: string, space: Uint8Array): number
  /**
   * @param names collection, key and language as requested, separated by zero characters. Only printable
   * ASCII without `"` and `\` is plain, and only a document that was last written with this key and language
   * @param now unix seconds: a document that has expired is not plain
   * @param asksResidency no page is read that is not in memory. The result is -(2 ** 31) where one is not
   */
  get(names: string, now: number, space: Uint8Array, asksResidency: boolean): number
  /** Page faults of this thread that waited for a disk, since it began, by whichever code. */
  majorFaults(): number
  /** Of the last `readPage`. Overwritten by the next one. */
  readonly page: PageRows
  /**
   * Reads the documents of the first `count` rows in one snapshot, the newest, their texts one after the
   * other into `space`, until one does not fit.
   * @param count at most DOCUMENT_PAGE_MAX
   * @returns the number of rows read
   */
  readPage(collection: number, count: number, space: Uint8Array): number
  /**
   * Writes the results of a ranked search as JSON, separated by commas, in one snapshot. 0 also if a document
   * is not what was indexed.
   * @param bytesMax the results that need more are not written
   * @param now unix seconds: a document that has expired is not there
   */
  writeResults(page: ResultPage, bytesMax: number, now: number, space: Uint8Array): number
  close(): void
}

/** A page of results by the hits of a search. */
export interface ResultPage {
  readonly collection: number
  /** A hits record (docs/formats/search-plan.md). */
  readonly hits: Uint8Array
  /** How each term is shown (native/engine/truth/result_page.cc). */
  readonly terms: Uint8Array
  /** The results are the first hits, at most this many. */
  readonly limit: number
}

type Handle = object

interface Addon {
  openDocuments(path: string, packageEnvs: number, mapBytes: number, readersMin: number): Handle
  closeDocuments(reader: Handle): void
  readDocument(reader: Handle, collection: number, docid: number, space: Uint8Array, facts: Uint8Array, lsn?: bigint): number
  findDocument(reader: Handle, collection: number, lowered: string, spelled: string, space: Uint8Array, facts: Uint8Array): number
  getDocument(reader: Handle, names: string, now: number, space: Uint8Array, facts: Uint8Array, asksResidency: boolean): number
  majorFaults(): number
  readDocumentPage(reader: Handle, collection: number, count: number, space: Uint8Array, table: Uint8Array): number
  readResults(
    reader: Handle,
    collection: number,
    now: number,
    hits: Uint8Array,
    terms: Uint8Array,
    limit: number,
    bytesMax: number,
    space: Uint8Array,
  ): number
}

const FUNCTIONS = [
  'openDocuments',
  'closeDocuments',
  'readDocument',
  'findDocument',
  'getDocument',
  'readDocumentPage',
  'readResults',
  'majorFaults',
] as const
/** Bytes of the native structure DocumentFacts. */
const FACTS_BYTES = 48

/** Views of the bytes that the addon writes: no object is made for a read. */
class Facts implements DocumentFacts {
  readonly bytes = new Uint8Array(FACTS_BYTES)
  readonly #words = new Uint32Array(this.bytes.buffer)
  readonly #longs = new BigUint64Array(this.bytes.buffer)
  readonly #numbers = new Float64Array(this.bytes.buffer)

  get collection(): number {
    return this.#words[0] as number
  }

  get docid(): number {
    return this.#words[1] as number
  }

  get metaBegin(): number {
    return this.#words[4] as number
  }

  get lsn(): bigint {
    return this.#longs[3] as bigint
  }

  get indexedLsn(): bigint {
    return this.#longs[4] as bigint
  }

  get expiresAt(): number {
    return this.#numbers[5] as number
  }
}

/** Bytes of the native structure PageDocument: the facts, then begin and length of the text. */
const PAGE_ROW_BYTES = 56
const PAGE_ROW_WORDS = PAGE_ROW_BYTES / 4
const PAGE_ROW_LONGS = PAGE_ROW_BYTES / 8

/** Views of the table that the addon reads and writes. */
class Page implements PageRows {
  readonly table = new Uint8Array(DOCUMENT_PAGE_MAX * PAGE_ROW_BYTES)
  readonly #words = new Uint32Array(this.table.buffer)
  readonly #longs = new BigUint64Array(this.table.buffer)
  readonly #numbers = new Float64Array(this.table.buffer)

  ask(row: number, docid: number): void {
    this.#words[row * PAGE_ROW_WORDS + 1] = docid
  }

  docid(row: number): number {
    return this.#words[row * PAGE_ROW_WORDS + 1] as number
  }

  begin(row: number): number {
    return this.#words[row * PAGE_ROW_WORDS + 12] as number
  }

  bytes(row: number): number {
    return this.#words[row * PAGE_ROW_WORDS + 13] as number
  }

  lsn(row: number): bigint {
    return this.#longs[row * PAGE_ROW_LONGS + 3] as bigint
  }

  indexedLsn(row: number): bigint {
    return this.#longs[row * PAGE_ROW_LONGS + 4] as bigint
  }

  expiresAt(row: number): number {
    return this.#numbers[row * PAGE_ROW_LONGS + 5] as number
  }

  /** Rows among the first ones that have a document. */
  countRead(rows: number): number {
    let count = 0
    for (let row = 0; row < rows; row++) if (this.bytes(row) > 0) count++
    return count
  }
}

/**
 * @param path of the file that lmdb-js has open
 * @param shape how lmdb-js was told to open it
 * @param onRead called with the number of documents that a call has read
 * @throws Error if the env of this build of lmdb-js cannot be read
 */
export function openDocuments(
  path: string,
  shape: { readonly mapBytes: number; readonly readersMin: number },
  onRead: (documents: number) => void = () => undefined,
): NativeDocuments {
  const addon = loadAddon<Addon>(FUNCTIONS)
  const packageEnvs = (globalThis as { readonly __lmdb_envs__?: unknown }).__lmdb_envs__
  if (typeof packageEnvs !== 'number') throw new Error('lmdb-js does not show its list of envs')
  const reader = addon.openDocuments(path, packageEnvs, shape.mapBytes, shape.readersMin)
  const close = (): void => {
    process.removeListener('exit', close)
    addon.closeDocuments(reader)
  }
  // lmdb-js closes the envs of the thread in a listener of its own.
  process.prependOnceListener('exit', close)
  const counted = (length: number): number => {
    if (length > 0) onRead(1)
    return length
  }
  const facts = new Facts()
  const { bytes } = facts
  const page = new Page()
  const readPage = (collection: number, count: number, space: Uint8Array): number => {
    const rows = addon.readDocumentPage(reader, collection, count, space, page.table)
    onRead(page.countRead(rows))
    return rows
  }
  const writeResults = ({ collection, hits, terms, limit }: ResultPage, bytesMax: number, now: number, space: Uint8Array): number => {
    const length = addon.readResults(reader, collection, now, hits, terms, limit, bytesMax, space)
    if (length > 0) onRead(limit)
    return length
  }
  return {
    facts,
    page,
    readPage,
    writeResults,
    read: (collection, docid, space, lsn) => counted(addon.readDocument(reader, collection, docid, space, bytes, lsn)),
    find: (collection, lowered, spelled, space) => counted(addon.findDocument(reader, collection, lowered, spelled, space, bytes)),
    get: (names, now, space, asksResidency) => counted(addon.getDocument(reader, names, now, space, bytes, asksResidency)),
    majorFaults: () => addon.majorFaults(),
    close,
  }
}
