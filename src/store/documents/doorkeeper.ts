/**
 * Decides which documents are worth a place in the cache: those that are asked for again soon. It remembers
 * fingerprints of the documents that were missed last, and admits a document on its second miss. A document
 * that is read once then costs no copy and evicts nothing (decision 0204). One per thread, of fixed size.
 *
 * Each fingerprint has one slot, and the next document of the slot replaces it. So old ones disappear by
 * themselves, and a document that is asked for rarely is not admitted.
 */
import { DOORKEEPER_SLOT_BITS } from '../../limits/store.js'

export class Doorkeeper {
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
