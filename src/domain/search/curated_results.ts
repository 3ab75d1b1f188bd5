/**
 * Places pinned documents at their positions among the results of one round of a search, and leaves hidden
 * documents out. Documents are looked up in one view, so each round has its own instance. A pinned document
 * is shown once, even if the query does not match it, but never if the request's filters exclude it. Rules:
 * docs/decisions/search/search-answers.md.
 */
import { CURATION_APPLIED_MAX } from '../../limits/documents.js'
import type { Head } from '../../store/head.js'
import type { View } from '../../store/view.js'
import type { Curation, Pin } from '../settings/curation.js'

/** Documents of one key, in different languages, that a pin or a hide covers. */
const CURATION_VARIANTS_MAX = 64

interface PositionedPin {
  readonly docid: number
  readonly position: number
}

/** The answer that pins are written to. */
export interface CuratedAnswer<Hit> {
  /** No further result fits. */
  readonly isFull: boolean
  /** Results so far, including those of earlier pages. */
  readonly count: number
  /**
   * Writes a pinned document, unless it belongs to an earlier page.
   * @param hit of the search; undefined if the search did not find the document
   */
  pinned(docid: number, hit: Hit | undefined): void
}

export class CuratedResults<Hit extends { readonly docid: number }> {
  readonly #view: View
  readonly #collection: number
  readonly #hits: ReadonlyMap<number, Hit>
  /** Pinned and hidden documents. They are excluded from the organic results. */
  readonly #apart = new Set<number>()
  /** Ordered by position. Pins without a position come after the organic results. */
  readonly #pins: readonly PositionedPin[]
  #next = 0

  /** @param mayShow whether the request's filters admit a document */
  constructor(view: View, collection: number, curation: Curation, mayShow: (head: Head) => boolean, hits: readonly Hit[]) {
    this.#view = view
    this.#collection = collection
    for (const key of curation.hides.slice(0, CURATION_APPLIED_MAX))
      for (const docid of view.docidsOfKey(collection, key, CURATION_VARIANTS_MAX)) this.#apart.add(docid)
    const pins: PositionedPin[] = []
    for (const pin of curation.pins.slice(0, CURATION_APPLIED_MAX)) {
      const docid = this.#find(pin, mayShow)
      // Hidden, or already pinned.
      if (docid === undefined || this.#apart.has(docid)) continue
      this.#apart.add(docid)
      pins.push({ docid, position: pin.position > 0 ? pin.position : Number.POSITIVE_INFINITY })
    }
    this.#pins = pins.sort((one, other) => (one.position === other.position ? 0 : one.position - other.position))
    this.#hits = new Map(hits.filter(({ docid }) => this.#apart.has(docid)).map((hit) => [hit.docid, hit]))
  }

  leavesOut(docid: number): boolean {
    return this.#apart.has(docid)
  }

  /** Writes the pins whose position is next. Called before each organic result. */
  writeDue(answer: CuratedAnswer<Hit>): void {
    while (!answer.isFull && (this.#pins[this.#next]?.position ?? Number.POSITIVE_INFINITY) <= answer.count + 1) this.#write(answer)
  }

  /** Writes the remaining pins after the last organic result. */
  writeRest(answer: CuratedAnswer<Hit>): void {
    while (!answer.isFull && this.#next < this.#pins.length) this.#write(answer)
  }

  #write(answer: CuratedAnswer<Hit>): void {
    const { docid } = this.#pins[this.#next++] as PositionedPin
    answer.pinned(docid, this.#hits.get(docid))
  }

  /** Without a language, the first variant of the key that may be shown. */
  #find({ key, lang }: Pin, mayShow: (head: Head) => boolean): number | undefined {
    const docids =
      lang === undefined
        ? this.#view.docidsOfKey(this.#collection, key, CURATION_VARIANTS_MAX)
        : [this.#view.identity(this.#collection, key, lang)?.docid ?? 0]
    return docids.find((docid) => {
      const head = this.#view.head(this.#collection, docid)
      return head !== undefined && mayShow(head)
    })
  }
}
