/**
 * Puts pinned documents at their positions among the results of one round of a search, and leaves hidden
 * documents out. Looks the documents up in one view, so each round has its own. A pinned document is shown
 * once, even where the query does not find it, but never where the request's filters exclude it. Rules:
 * docs/decisions/0061-curation.md.
 */
import { CURATION_APPLIED_MAX, CURATION_VARIANTS_MAX } from '../../limits/settings.js'
import type { Head } from '../../store/head.js'
import type { View } from '../../store/view.js'
import type { Curation, Pin } from '../settings/curation.js'

interface PositionedPin {
  readonly docid: number
  readonly position: number
}

/** The answer that pins are written to. */
export interface CuratedAnswer<Hit> {
  /** No further result fits. */
  readonly isFull: boolean
  /** Results so far, those of earlier pages included. */
  readonly count: number
  /**
   * A pinned document, unless it belongs to an earlier page.
   * @param hit of the search; undefined where it did not find the document
   */
  pinned(docid: number, hit: Hit | undefined): void
}

export class CuratedResults<Hit extends { readonly docid: number }> {
  readonly #view: View
  readonly #collection: number
  readonly #hits: ReadonlyMap<number, Hit>
  /** Pinned and hidden documents: they are not organic results. */
  readonly #apart = new Set<number>()
  /** By position. Pins behind the organic results come last. */
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
      // Hidden, or pinned already.
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

  /** Writes all that are left: there are no more organic results. */
  writeRest(answer: CuratedAnswer<Hit>): void {
    while (!answer.isFull && this.#next < this.#pins.length) this.#write(answer)
  }

  #write(answer: CuratedAnswer<Hit>): void {
    const { docid } = this.#pins[this.#next++] as PositionedPin
    answer.pinned(docid, this.#hits.get(docid))
  }

  /** Without a language: the first that the key has. */
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
