/**
 * The native reader of documents (native/engine/truth/document_reader.h), one for each thread and store. It
 * reads by the LMDB env that lmdb-js has open in this process, so it must be closed before that env.
 */
import type { DocumentFacts, DocumentSource, PageRows, ResultPage } from '../base/document_source.js'
import { DOCUMENT_PAGE_MAX } from '../limits/store.js'
import { loadAddon } from './addon.js'

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
): DocumentSource {
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
