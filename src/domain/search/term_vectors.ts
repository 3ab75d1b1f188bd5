/**
 * A lane's cache of term vectors. It holds documents whose highlights were requested at least twice, so that
 * a document shown again is not scanned again. Entries are never stale: a vector belongs to one state of a
 * document, identified by its LSN, and LSNs are never reused. The cache is separate from the document cache
 * (`store/documents/document_cache.ts`): reading a document again costs a third of scanning it, and its text
 * takes three times the bytes. Format of a vector: wasm/analyzer/src/highlight/term_vector.rs. One per read
 * lane.
 */
import { MIB } from '../../limits/units.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'

/** A larger document is scanned each time. Its term vector would take more memory than an analyzer keeps. */
const TERM_VECTOR_CONTENT_BYTES_MAX = 6 * MIB

/** Approximate size of an entry without its vector. */
const ENTRY_BYTES = 300
/**
 * A table of rows with four slots each, 128 KB, that records which documents were shown once. If more than 32
 * 768 documents are shown between two requests for a document, its second request is rarely recognised.
 */
const SHOWN_ROWS = 2 ** 13
const SHOWN_PER_ROW = 4

/** The vector of a document that cannot have one. */
export const NO_VECTOR = new Uint8Array(0)

interface KnownDocument {
  readonly key: number
  readonly lsn: bigint
  /** Empty: the document cannot have one. */
  readonly vector: Uint8Array
  /** Offset of the first byte of the content in the document's JSON. */
  readonly contentStart: number
  /** Time of the last access, as a value of the access counter. */
  usedAt: number
  /** Its index in the list of all entries. */
  index: number
}

export class TermVectors {
  readonly #bytesMax: number
  readonly #byDocument = new Map<number, KnownDocument>()
  /** The same entries, in no order. */
  readonly #all: KnownDocument[] = []
  #bytes = 0
  #looks = 0
  #shown: Int32Array | undefined

  /** @param bytesMax of all vectors with their entries */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  of({ collection, docid, lsn }: StoredDocument): KnownDocument | undefined {
    const known = this.#byDocument.get(keyOf(collection, docid))
    if (known?.lsn !== lsn) return undefined
    known.usedAt = ++this.#looks
    return known
  }

  /**
   * Whether to build a vector for a document that has none: true the second time that the document is shown.
   */
  wants({ collection, docid, lsn, json }: StoredDocument): boolean {
    const key = keyOf(collection, docid)
    if (json.length > Math.min(TERM_VECTOR_CONTENT_BYTES_MAX, this.#bytesMax / 4) || !Number.isSafeInteger(key)) return false
    const shown = (this.#shown ??= new Int32Array(SHOWN_ROWS * SHOWN_PER_ROW))
    const print = Math.imul(docid ^ Math.imul(collection, 0x9e3779b1), 0x85ebca6b) ^ Number(lsn & 0x7fffffffn)
    const row = ((print ^ (print >>> 15)) & (SHOWN_ROWS - 1)) * SHOWN_PER_ROW
    for (let slot = row; slot < row + SHOWN_PER_ROW; slot++) if (shown[slot] === print) return true
    shown[row + (++this.#looks % SHOWN_PER_ROW)] = print
    return false
  }

  /**
   * Adds a document's vector. If the cache then exceeds its capacity, evicts entries: of two random entries,
   * the one that was used less recently.
   */
  put({ collection, docid, lsn }: StoredDocument, contentStart: number, vector: Uint8Array): KnownDocument {
    const key = keyOf(collection, docid)
    const before = this.#byDocument.get(key)
    if (before !== undefined) this.#drop(before)
    const kept = vector.length > this.#bytesMax / 4 ? NO_VECTOR : vector
    this.#bytes += kept.length + ENTRY_BYTES
    while (this.#bytes > this.#bytesMax && this.#all.length > 0) this.#dropOne()
    const known = { key, lsn, vector: kept, contentStart, usedAt: ++this.#looks, index: this.#all.length }
    this.#all.push(known)
    this.#byDocument.set(key, known)
    return known
  }

  /**
   * Not strict LRU: if slightly more documents than fit are requested cyclically, LRU would never have a hit.
   */
  #dropOne(): void {
    const [one, other] = [this.#any(), this.#any()]
    if (one !== undefined && other !== undefined) this.#drop(one.usedAt < other.usedAt ? one : other)
  }

  #any(): KnownDocument | undefined {
    return this.#all[Math.floor(Math.random() * this.#all.length)]
  }

  #drop({ key, index, vector }: KnownDocument): void {
    const last = this.#all.pop()
    if (last !== undefined && last.index !== index) {
      this.#all[index] = last
      last.index = index
    }
    this.#byDocument.delete(key)
    this.#bytes -= vector.length + ENTRY_BYTES
  }
}

function keyOf(collection: number, docid: number): number {
  return collection * 2 ** 32 + docid
}
