/**
 * Reads of whole documents by native calls: what store and engine, which do not import each other, both name.
 * `src/engine/document_reader.ts` makes a source, `src/store/documents` uses it.
 */

/** Of the document that was read last; overwritten by the next read. */
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

/** Result of a get that would have had to wait for the disk. No document needs as many bytes. */
export const NOT_RESIDENT = -(2 ** 31)

/** Documents that are read together, by row. */
export interface PageRows {
  /** Sets the document that the row is to receive. */
  ask(row: number, docid: number): void
  docid(row: number): number
  /** Where the text of the document begins in the space. */
  begin(row: number): number
  /** Of the text; 0: the source does not have the document. */
  bytes(row: number): number
  lsn(row: number): bigint
  indexedLsn(row: number): bigint
  /** Unix seconds; 0: the document does not expire. */
  expiresAt(row: number): number
}

/**
 * `read`, `find` and `get` return the number of bytes written, 0 for a document that the source does not
 * have, or the negated number of bytes needed, in which case the body has not been read. A source belongs to
 * one thread.
 */
export interface DocumentSource {
  readonly facts: DocumentFacts
  /** @param lsn of the only state that is wanted; default: the present one */
  read(collection: number, docid: number, space: Uint8Array, lsn?: bigint): number
  /** @param lowered, spelled key and language separated by a zero character */
  find(collection: number, lowered: string, spelled: string, space: Uint8Array): number
  /**
   * A whole get by one call and in one snapshot, for a thread without a view: the collection's row, identity,
   * head and body. 0 also for names that are not plain (printable ASCII without `"` and `\`, three parts,
   * none empty or overlong), for a document that has expired and for one of another collection.
   * @param names collection, key and language as requested, separated by zero characters
   * @param now unix seconds
   * @param asksResidency no page of the env is read that the system does not have in memory. The result is
   * NOT_RESIDENT where it would have to be. Costs some microseconds
   */
  get(names: string, now: number, space: Uint8Array, asksResidency: boolean): number
  /**
   * Page faults of this thread that waited for a disk, since it began, by whichever code. A difference around
   * reads says that they may have waited. Costs less than a microsecond.
   */
  majorFaults(): number
  /** Of the last `readPage`; overwritten by the next one. */
  readonly page: PageRows
  /**
   * Reads the documents of the first `count` rows, at most DOCUMENT_PAGE_MAX, in one snapshot, until one does
   * not fit into `space`.
   * @returns the number of rows read
   */
  readPage(collection: number, count: number, space: Uint8Array): number
  /**
   * Writes the results of a ranked search as JSON, separated by commas, in one snapshot. 0 also if one of the
   * documents is not what was indexed.
   * @param bytesMax results that need more are not written
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
