/**
 * What a thread remembers of the store between two reads: documents as the answers show them, and a mark of
 * the last state it saw, so that pages of the same collection are not looked up, checked and unpacked again
 * and again. Never stale: a document counts as seen only under the mark of the state it was read in, and a
 * mark ends with the next commit; under a new mark its head is read again and the text kept only if the
 * head's LSN is the same. One per thread that reads; not for the inside of a write transaction.
 */
import { DOCUMENT_CACHED_BYTES_MAX } from '../../limits/store.js'

/** A document with its content. */
export interface StoredDocument {
  readonly collection: number
  readonly docid: number
  /** Of the head. */
  readonly lsn: bigint
  readonly indexedLsn: bigint
  /** Unix seconds, 0 for none. */
  readonly expiresAt: number
  /** The whole JSON text. Not to be changed. */
  readonly json: Buffer
  /** The state of the store in which it was last seen. */
  mark: Mark
}

/** One state of the store, from one commit to the next. */
export interface Mark {
  readonly lastLsn: bigint
  /** Unix seconds of the next expiry, Infinity for none; undefined until somebody has looked. */
  soonestExpiry: number | undefined
}

export class DocumentCache {
  readonly #bytesMax: number
  // Two halves: what is used moves to the young one; when that is full, it becomes the old one and the old
  // one's rest is forgotten. Cheaper than an order of use.
  #young = new Map<number, StoredDocument>()
  #old = new Map<number, StoredDocument>()
  #youngBytes = 0
  #mark: Mark | undefined
  #markBytes = Buffer.alloc(0)

  /** @param bytesMax of document text held; 0: no documents, only the mark */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /**
   * The mark of the state that a snapshot shows. Snapshots of one thread never go back.
   * @param counters record of the store's counters in the snapshot: it changes with every commit
   * @param read decodes the last LSN; called when there was a commit
   */
  mark(counters: Buffer, read: () => bigint): Mark {
    if (this.#mark === undefined || !this.#markBytes.equals(counters)) {
      this.#markBytes = Buffer.from(counters)
      this.#mark = { lastLsn: read(), soonestExpiry: undefined }
    }
    return this.#mark
  }

  get(collection: number, docid: number): StoredDocument | undefined {
    const key = keyOf(collection, docid)
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.#keep(key, old)
    return old
  }

  /** Whether a text of so many bytes is kept. */
  takes(bytes: number): boolean {
    return bytes <= Math.min(DOCUMENT_CACHED_BYTES_MAX, this.#bytesMax / 2)
  }

  put(document: StoredDocument): void {
    const key = keyOf(document.collection, document.docid)
    // Numbers above are not exact; a store with two million collections does without.
    if (Number.isSafeInteger(key)) this.#keep(key, document)
  }

  #keep(key: number, document: StoredDocument): void {
    const replaced = this.#young.get(key)
    this.#youngBytes += document.json.length - (replaced?.json.length ?? 0)
    this.#young.set(key, document)
    if (this.#youngBytes <= this.#bytesMax / 2) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }
}

function keyOf(collection: number, docid: number): number {
  return collection * 2 ** 32 + docid
}
