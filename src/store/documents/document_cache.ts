/**
 * The cache of a thread between two reads of the store. It has documents as answers show them, and a mark of
 * the last state that the thread saw. Pages of the same collection then need no further look-up, check or
 * decompression.
 *
 * The cache is never stale. A document is valid only under the mark of the state in which it was read, and a
 * mark ends with the next commit. Under a new mark the head is read again, and the text is kept only if the
 * head's LSN is the same. Each reading thread has its own cache. Write transactions do not use it.
 */
import { KIB } from '../../limits/units.js'

/**
 * A larger document is not cached. It would evict fifty others, and copying it costs more than reading it
 * from the store.
 */
const DOCUMENT_CACHED_BYTES_MAX = 256 * KIB

/**
 * Slots of a lane's doorkeeper, as a power of two: 8 192, 16 KiB. A lane caches 6 000 documents of 5 KB. One
 * that was not asked for during so many misses would not stay in the cache either.
 */
const DOORKEEPER_SLOT_BITS = 13

/** A document with its content. */
export interface StoredDocument {
  readonly collection: number
  readonly docid: number
  /** LSN of the head. */
  readonly lsn: bigint
  readonly indexedLsn: bigint
  /** Unix seconds; 0: the document does not expire. */
  readonly expiresAt: number
  /** The whole JSON text. Must not be changed. */
  readonly json: Buffer
  /** The state of the store in which the document was last read. */
  mark: Mark
}

/** One state of the store, from one commit to the next. */
export interface Mark {
  readonly lastLsn: bigint
  /** Unix seconds of the next expiry; Infinity: none; undefined: not read yet. */
  soonestExpiry: number | undefined
}

export class DocumentCache {
  readonly #bytesMax: number
  // Two halves. A used document moves to the young half. When the young half is full, it replaces the old
  // half, and the documents of the old half are evicted. This is cheaper than an LRU list.
  #young = new Map<number, StoredDocument>()
  #old = new Map<number, StoredDocument>()
  #youngBytes = 0
  #mark: Mark | undefined
  #markBytes = Buffer.alloc(0)
  readonly #doorkeeper = new Doorkeeper()

  /** @param bytesMax bytes of document text to cache; 0: only the mark is cached, no documents */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /**
   * The mark of the state that a snapshot shows. Successive snapshots of a thread never go back in time.
   * @param counters record of the store's counters in the snapshot; it changes with every commit
   * @param read decodes the last LSN; called when a commit has happened
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

  /** Whether the document is cached. Does not count as a use. */
  has(collection: number, docid: number): boolean {
    const key = keyOf(collection, docid)
    return this.#young.has(key) || this.#old.has(key)
  }

  /**
   * Whether the document, with a text of this size, is to be cached: it is already, or it is missed again.
   * Called once for each miss.
   */
  admits(collection: number, docid: number, bytes: number): boolean {
    const isSmall = bytes <= Math.min(DOCUMENT_CACHED_BYTES_MAX, this.#bytesMax / 2)
    return isSmall && (this.has(collection, docid) || this.#doorkeeper.admits(collection, docid))
  }

  put(document: StoredDocument): void {
    const key = keyOf(document.collection, document.docid)
    // Larger numbers are not exact. In a store with two million collections, those documents are not cached.
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

/**
 * Decides which documents are worth a place in the cache: those that are asked for again soon. It remembers
 * fingerprints of the documents that were missed last, and admits a document on its second miss. A document
 * that is read once then costs no copy and evicts nothing (decision 0204). One per thread, of fixed size.
 *
 * Each fingerprint has one slot, and the next document of the slot replaces it. So old ones disappear by
 * themselves, and a document that is asked for rarely is not admitted.
 */
class Doorkeeper {
  readonly #prints = new Uint16Array(2 ** DOORKEEPER_SLOT_BITS)

  /** Notes a miss. @returns whether it is one of the document's later ones */
  admits(collection: number, docid: number): boolean {
    // Odd factors: different documents of a collection have different products. The highest bits, which
    // depend on all others, choose the slot.
    const mixed = Math.imul(docid ^ Math.imul(collection, 0x9e3779b1), 0x85ebca6b)
    const slot = mixed >>> (32 - DOORKEEPER_SLOT_BITS)
    // 0: an empty slot.
    const print = mixed & 0xffff || 1
    if (this.#prints[slot] === print) return true
    this.#prints[slot] = print
    return false
  }
}

function keyOf(collection: number, docid: number): number {
  return collection * 2 ** 32 + docid
}
