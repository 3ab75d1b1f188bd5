/**
 * Rebuilds the full-text and metadata index from the truth store: every document is read, analysed and
 * published, page by page in docid order. Several lanes may share the work; each takes every n-th page. Runs
 * on read lanes at the start, while the server reports `warming_up`.
 */
import { parseMetadata } from '../domain/documents/metadata.js'
import type { PreparationTools } from '../domain/writes/preparation.js'
import { indexDocument } from '../domain/writes/preparation.js'
import { encodeDelete, joinBatch, stampUpsert } from '../engine/search/index_batch.js'
import type { SearchEngine } from '../engine/types.js'
import { OBJECTS_WANTED_BYTES, REBUILD_BATCH_BYTES } from '../limits/store.js'
import { unescapeContent } from '../store/body.js'
import type { Head } from '../store/head.js'
import { HEAD_FLAGS, textOfHead } from '../store/head.js'
import type { BodyObject } from '../store/objects.js'
import { BodiesWanted, MEMORY_LOCATION } from '../store/objects.js'
import type { TruthStore } from '../store/truth_store.js'
import type { View } from '../store/view.js'

/** Documents read and analysed in one slice of an index rebuild: about 5 ms of text. */
const REBUILD_PAGE_DOCUMENTS = 64

export interface RebuildTools extends PreparationTools {
  readonly store: TruthStore
  readonly engine: SearchEngine
}

/** The pages of a lane: those whose number modulo `shares` equals `share`. */
export interface RebuildShare {
  readonly share: number
  readonly shares: number
}

export interface RebuildResult {
  readonly documents: number
  /** Documents that could not be read. They are not in the index, and a get reports the damage. */
  readonly damaged: readonly string[]
  /**
   * Objects in object stores that are missing for documents not in the index, as many as are fetched at a
   * time. In-memory objects are not named: a missing one is lost together with its document.
   */
  readonly lacking: readonly BodyObject[]
}

/** Objects that no store has any more, by id in hexadecimal digits, with the message for each. */
export type LostObjects = ReadonlyMap<string, string>

export interface RebuildOptions {
  /** Default: all. */
  readonly collections?: readonly number[]
  /**
   * A re-index that was asked for: documents that the index already has at the same LSN are published again,
   * and texts that an ingest left out are indexed.
   */
  readonly replaceEqual?: boolean
  /** Skip documents that the index already has: used to complete a damaged index. */
  readonly missingOnly?: boolean
  /** Documents with these objects are damaged. */
  readonly lost?: LostObjects
}

/**
 * Every step of the iteration reads, analyses and publishes one page, so that the caller can serve other work
 * in between. After a page that lacked objects, the value passed to `next` is whether they have been fetched;
 * if so, the rest of the page follows.
 * @returns whether no document has been left out for lack of objects
 */
export function* rebuildPages(
  tools: RebuildTools,
  share: RebuildShare,
  options: RebuildOptions = {},
): Generator<RebuildResult, boolean, boolean> {
  let isWhole = true
  for (const collection of options.collections ?? allCollections(tools.store)) {
    for (let page = 0, docidFirst = 1, last = false; !last; page++) {
      const docids = tools.store.read((view) => view.docidsFrom(collection, docidFirst, REBUILD_PAGE_DOCUMENTS))
      if (page % share.shares === share.share) isWhole = (yield* rebuildPage(tools, collection, docids, options)) && isWhole
      docidFirst = (docids.at(-1) ?? 0) + 1
      last = docids.length < REBUILD_PAGE_DOCUMENTS
    }
  }
  return isWhole
}

function allCollections(store: TruthStore): number[] {
  return store.read((view) => view.collections().map(({ id }) => id))
}

/**
 * Processes the page at least once, and again with the missing objects while their number decreases.
 * @returns whether no document lacks objects
 */
function* rebuildPage(
  tools: RebuildTools,
  collection: number,
  docids: readonly number[],
  options: RebuildOptions,
): Generator<RebuildResult, boolean, boolean> {
  let left = docids
  for (let isFetched = true; isFetched;) {
    const result = tools.store.read((view) => rebuildDocuments(tools, view, collection, left, options))
    // A document deleted since it was read has been published again, so it is deleted again here. The write
    // lane publishes any later delete after this one.
    if (options.replaceEqual === true) tools.store.read((view) => dropGone(tools, view, collection, left))
    const isLess = result.left.length > 0 && (left === docids || result.left.length < left.length)
    left = result.left
    isFetched = (yield result) && isLess
  }
  return left.length === 0
}

function rebuildDocuments(
  tools: RebuildTools,
  view: View,
  collection: number,
  docids: readonly number[],
  { replaceEqual = false, missingOnly = false, lost }: RebuildOptions,
): RebuildResult & { readonly left: readonly number[] } {
  const failures = new Failures(lost)
  const left: number[] = []
  const batch = new IndexBatch(tools.engine, view.storeCounters().lastLsn)
  for (const docid of docids) {
    let op: Uint8Array | undefined
    try {
      const head = view.headEvenExpired(collection, docid)
      const isMissing = head !== undefined && !(missingOnly && tools.engine.holds(collection, docid, head.indexedLsn))
      if (isMissing) op = upsertOf(tools, view, head, replaceEqual)
    } catch (error) {
      // Damaged bytes, or text that the analyzer failed on: only this document is missing from the index.
      if (failures.note(`${collection}/${docid}`, error)) left.push(docid)
    }
    // Outside of the `try` block: a refusal by the index ends the rebuild.
    if (op !== undefined) batch.add(op)
  }
  batch.publish()
  const { damaged, lacking } = failures
  return { documents: batch.documents, damaged, lacking, left }
}

/** The reasons why documents are not in the index. */
export class Failures {
  readonly damaged: string[] = []
  readonly lacking: BodyObject[] = []
  readonly #lost: LostObjects | undefined
  #bytes = 0

  constructor(lost: LostObjects | undefined) {
    this.#lost = lost
  }

  /** @param name of the document @returns whether it may become available later */
  note(name: string, error: unknown): boolean {
    if (!(error instanceof BodiesWanted)) {
      this.damaged.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      return false
    }
    const reasons = error.objects.flatMap(({ id }) => this.#lost?.get(id.toString('hex')) ?? [])
    for (const reason of reasons) this.damaged.push(`${name}: ${reason}`)
    const wanted = error.objects.filter(({ location }) => location !== MEMORY_LOCATION)
    if (reasons.length > 0 || wanted.length === 0) return false
    if (this.#bytes < OBJECTS_WANTED_BYTES) this.lacking.push(...wanted)
    this.#bytes += wanted.reduce((sum, { bytes }) => sum + bytes, 0)
    return true
  }
}

function dropGone(tools: RebuildTools, view: View, collection: number, docids: readonly number[]): void {
  const { lastLsn } = view.storeCounters()
  const gone = docids.filter((docid) => view.headEvenExpired(collection, docid) === undefined)
  if (gone.length === 0) return
  const deletes = gone.map((docid) => encodeDelete(collection, docid, lastLsn))
  tools.engine.publish(joinBatch(deletes, lastLsn))
}

/**
 * Operations to be published to the index, in batches of bounded size: a page of large documents must not be
 * kept in memory as a whole.
 */
class IndexBatch {
  documents = 0
  #ops: Uint8Array[] = []
  #bytes = 0

  constructor(
    readonly engine: SearchEngine,
    readonly lastLsn: bigint,
  ) {}

  add(op: Uint8Array): void {
    this.#ops.push(op)
    this.#bytes += op.length
    this.documents += 1
    if (this.#bytes >= REBUILD_BATCH_BYTES) this.publish()
  }

  publish(): void {
    if (this.#ops.length > 0) this.engine.publish(joinBatch(this.#ops, this.lastLsn))
    this.#ops = []
    this.#bytes = 0
  }
}

/** The upsert of a document in its present state. */
export function upsertOf(tools: RebuildTools, view: View, head: Head, replaceEqual: boolean): Uint8Array {
  const { key, lang, metaValues } = textOfHead(head)
  const skipsText = !replaceEqual && (head.flags & HEAD_FLAGS.textSkipped) !== 0
  const contentMd = skipsText ? '' : unescapeContent(view.escapedContent(head))
  const op = indexDocument(tools, key, lang, parseMetadata(metaValues), contentMd, { replaceEqual, skipsText })
  stampUpsert(op, {
    collection: head.collection,
    docid: head.docid,
    lsn: head.indexedLsn,
    addedAt: head.addedAt,
    updatedAt: head.updatedAt,
  })
  return op
}
