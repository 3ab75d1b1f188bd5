/**
 * Documents that a view will show next, read ahead by one native call for several. The rows of a page arrive
 * from memory while others are looked up (native/engine/truth/document_page.cc). Nothing is read before the
 * first document is asked for that the cache does not have, and documents that it has are left out.
 *
 * The texts are in one space of this thread, which belongs to the page that was read last. Whatever a page
 * does not have is read alone: documents that were not announced, that are not plain, or that do not fit.
 */
import type { DocumentSource } from '../../base/document_source.js'
import { DOCUMENT_PAGE_MAX } from '../../limits/store.js'
import { KIB } from '../../limits/units.js'

/**
 * Space of a thread for the texts of one page: 32 of 8 KB. It stays within the second cache of a core. A
 * document that does not fit is read alone.
 */
const DOCUMENT_PAGE_BYTES = 256 * KIB

let space: Buffer | undefined
/** Number of the page whose documents are in the space, and of pages so far. */
let inSpace = 0
let pages = 0

/** Of a document that the source does not have: it is not there or not plain. */
export const NOT_PLAIN = -1

export class DocumentPage {
  readonly #source: DocumentSource
  readonly #collection: number
  readonly #wanted: readonly { readonly docid: number }[]
  readonly #end: number
  readonly #isCached: (collection: number, docid: number) => boolean
  readonly #number = ++pages
  /** Of the first wanted document that may be asked for next. */
  #next: number
  /** Rows of the source's page that were read, and the first that may be asked for next. */
  #rows = 0
  #row = 0

  /**
   * @param wanted in the order in which the documents will be asked for, from index `begin` up to but not
   * including `end`
   */
  constructor(
    source: DocumentSource,
    collection: number,
    { wanted, begin, end }: { readonly wanted: readonly { readonly docid: number }[]; readonly begin: number; readonly end: number },
    isCached: (collection: number, docid: number) => boolean,
  ) {
    this.#source = source
    this.#collection = collection
    this.#wanted = wanted
    this.#next = begin
    this.#end = Math.min(end, wanted.length)
    this.#isCached = isCached
  }

  /** The document's row in the source's page, or NOT_PLAIN. Undefined: the page does not have it. */
  rowOf(collection: number, docid: number): number | undefined {
    if (collection !== this.#collection) return undefined
    return this.#rowRead(docid) ?? (this.#fill(docid) ? this.#rowRead(docid) : undefined)
  }

  /** The text of a row, valid until the next document is read. */
  textOf(row: number): Buffer {
    const { page } = this.#source
    const begin = page.begin(row)
    return (space as Buffer).subarray(begin, begin + page.bytes(row))
  }

  #rowRead(docid: number): number | undefined {
    if (inSpace !== this.#number) return undefined
    const { page } = this.#source
    for (let row = this.#row; row < this.#rows; row++) {
      if (page.docid(row) !== docid) continue
      this.#row = row + 1
      return page.bytes(row) > 0 ? row : NOT_PLAIN
    }
    return undefined
  }

  /** Reads documents from this one on. @returns whether it was announced and any was read */
  #fill(docid: number): boolean {
    const wanted = this.#wanted
    let next = this.#next
    while (next < this.#end && wanted[next]?.docid !== docid) next++
    if (next === this.#end) return false
    const { page } = this.#source
    let count = 0
    for (; next < this.#end && count < DOCUMENT_PAGE_MAX; next++) {
      const one = (wanted[next] as { readonly docid: number }).docid
      if (count === 0) this.#next = next + 1
      if (count === 0 || !this.#isCached(this.#collection, one)) page.ask(count++, one)
    }
    space ??= Buffer.allocUnsafeSlow(DOCUMENT_PAGE_BYTES)
    inSpace = this.#number
    this.#row = 0
    this.#rows = this.#source.readPage(this.#collection, count, space)
    return this.#rows > 0
  }
}
