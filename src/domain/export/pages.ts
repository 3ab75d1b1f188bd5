/**
 * The documents of a collection in docid order, read page by page for an export, each page in its own view.
 * Every document that exists from the beginning to the end is returned exactly once, in its state when its
 * page is read. Documents added after the beginning are left out. Decision:
 * docs/decisions/documents/exports.md. Bulk lane.
 */
import { serviceError } from '../../errors.js'
import { EXPORT_PART_BYTES } from '../../limits/documents.js'
import { type Head, textOfHead } from '../../store/head.js'
import { BodiesWanted } from '../../store/objects.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import { passesFilter } from '../documents/metadata.js'
import type { Filters } from '../search/filters.js'

/** Documents that a part examines if a filter matches few: 5 us each. */
const EXPORT_PAGE_DOCUMENTS_MAX = 2048
/** Documents between two checks that the client still waits. */
const EXPORT_POLL_DOCUMENTS = 64

/** Writes a document into the export. */
export type DocumentForm = (view: View, head: Head, out: ByteWriter) => void

const NO_COLLECTION = '`collection`: there is no collection of this name; GET /v1/stats lists them.'

export class ExportPages {
  readonly #id: number
  /** The first docid that was not assigned when the export began. */
  readonly #docidEnd: number
  #docidNext = 1

  /** @throws ServiceError if there is no such collection: a misspelled name must not look empty */
  constructor(
    readonly store: TruthStore,
    readonly collection: string,
    readonly filters: Filters,
  ) {
    const [id, end] = store.read((view) => {
      const found = view.collection(collection)
      if (found === undefined) throw serviceError('notFound', NO_COLLECTION)
      return [found.id, view.collectionCounters(found.id).nextDocid]
    })
    this.#id = id
    this.#docidEnd = end
  }

  /**
   * Appends documents until `out` holds enough for a part, or a page has been read.
   * @returns true when there are no more
   * @throws ServiceError if the collection is gone, or the request must stop; CorruptRecord; BodiesWanted,
   * after which the next call resumes at the same document
   */
  fill(out: ByteWriter, form: DocumentForm, request: { shouldStop(): boolean }): boolean {
    const id = this.#id
    return this.store.read((view) => {
      // The remains of a deleted collection are not exported.
      if (view.collection(this.collection)?.id !== id) throw serviceError('notFound')
      let seen = 0
      for (const head of view.headsFrom(id, this.#docidNext, this.#docidEnd)) {
        const before = out.length
        try {
          if (this.filters.length === 0 || passesFilter(textOfHead(head).metaValues, this.filters)) form(view, head, out)
        } catch (error) {
          if (!(error instanceof BodiesWanted)) throw error
          out.cut(before)
          // The documents before it are returned as they are, because the form has already counted them.
          if (seen > 0) return false
          view.objects.wantAll(error, view.headsFrom(id, head.docid, Math.min(this.#docidEnd, head.docid + EXPORT_PAGE_DOCUMENTS_MAX)))
        }
        this.#docidNext = head.docid + 1
        seen += 1
        if (out.length >= EXPORT_PART_BYTES || seen >= EXPORT_PAGE_DOCUMENTS_MAX) return false
        if (seen % EXPORT_POLL_DOCUMENTS === 0 && request.shouldStop()) throw serviceError('deadline')
      }
      return true
    })
  }
}
