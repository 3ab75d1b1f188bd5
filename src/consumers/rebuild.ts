/**
 * Rebuilds the full-text and metadata index from the truth store: every document is read, analysed and published, page by page in docid order. Several lanes may share the work; each takes
 * every n-th page. Runs on read lanes at the start, while the server says `warming_up`.
 */
import { encodeDelete, joinBatch, stampUpsert } from '../engine/index_batch.js'
import { parseMetadata } from '../domain/metadata.js'
import { indexDocument } from '../domain/preparation.js'
import type { PreparationTools } from '../domain/preparation.js'
import type { SearchEngine } from '../engine/types.js'
import { REBUILD_BATCH_BYTES, REBUILD_PAGE_DOCUMENTS } from '../limits.js'
import { unescapeContent } from '../store/body.js'
import { textOfHead } from '../store/head.js'
import type { Head } from '../store/head.js'
import type { TruthStore } from '../store/truth_store.js'
import type { View } from '../store/view.js'

export interface RebuildTools extends PreparationTools {
  readonly store: TruthStore
  readonly engine: SearchEngine
}

/** Which pages a lane takes: those whose number modulo `shares` is `share`. */
export interface RebuildShare {
  readonly share: number
  readonly shares: number
}

export interface RebuildResult {
  readonly documents: number
  /** Documents that could not be read; they are not in the index, and a get names the damage. */
  readonly damaged: readonly string[]
}

export interface RebuildOptions {
  /** Default: all. */
  readonly collections?: readonly number[]
  /** Publish also what the index already has at the same LSN: a re-index of documents that have not changed. */
  readonly replaceEqual?: boolean
  /** Leave out what the index has already: the rest of a damaged index. */
  readonly missingOnly?: boolean
}

/** Every step of the iteration reads, analyses and publishes one page, so that the caller can serve others in between. */
export function* rebuildPages(tools: RebuildTools, share: RebuildShare, options: RebuildOptions = {}): Generator<RebuildResult> {
  for (const collection of options.collections ?? allCollections(tools.store)) {
    for (let page = 0, docidFirst = 1, last = false; !last; page++) {
      const mine = page % share.shares === share.share
      const result = tools.store.read((view) => rebuildPage(tools, view, collection, docidFirst, mine, options))
      // What was deleted since the page was read has come back with it: a delete that is newer still is published by the write lane, behind this.
      if (mine && options.replaceEqual === true) tools.store.read((view) => dropGone(tools, view, collection, result.docids))
      docidFirst = (result.docids.at(-1) ?? 0) + 1
      last = result.docids.length < REBUILD_PAGE_DOCUMENTS
      if (mine) yield result
    }
  }
}

function allCollections(store: TruthStore): number[] {
  return store.read((view) => view.collections().map(({ id }) => id))
}

function rebuildPage(
  tools: RebuildTools,
  view: View,
  collection: number,
  docidFirst: number,
  mine: boolean,
  { replaceEqual = false, missingOnly = false }: RebuildOptions,
): RebuildResult & { docids: readonly number[] } {
  const docids = view.docidsFrom(collection, docidFirst, REBUILD_PAGE_DOCUMENTS)
  const damaged: string[] = []
  const batch = new IndexBatch(tools.engine, view.storeCounters().lastLsn)
  for (const docid of mine ? docids : []) {
    let op: Uint8Array | undefined
    try {
      const head = view.headEvenExpired(collection, docid)
      const isMissing = head !== undefined && !(missingOnly && tools.engine.holds(collection, docid, head.indexedLsn))
      if (isMissing) op = upsertOf(tools, view, head, replaceEqual)
    } catch (error) {
      // Damaged bytes or a text that the analyzer gave up on: one document less in the index, not a server less.
      damaged.push(`${collection}/${docid}: ${error instanceof Error ? error.message : String(error)}`)
    }
    // Outside of the above: what the index refuses is the end of the rebuild.
    if (op !== undefined) batch.add(op)
  }
  batch.publish()
  return { documents: batch.documents, damaged, docids }
}

function dropGone(tools: RebuildTools, view: View, collection: number, docids: readonly number[]): void {
  const { lastLsn } = view.storeCounters()
  const gone = docids.filter((docid) => view.headEvenExpired(collection, docid) === undefined)
  if (gone.length === 0) return
  const deletes = gone.map((docid) => encodeDelete(collection, docid, lastLsn))
  tools.engine.publish(joinBatch(deletes, lastLsn))
}

/** Operations on their way to the index, published whenever they are many bytes: a page of large documents must not be held as a whole. */
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

/** The upsert of a document as it is. */
export function upsertOf(tools: RebuildTools, view: View, head: Head, replaceEqual: boolean): Uint8Array {
  const { key, lang, metaValues } = textOfHead(head)
  const contentMd = unescapeContent(view.escapedContent(head))
  const op = indexDocument(tools, key, lang, parseMetadata(metaValues), contentMd, replaceEqual)
  stampUpsert(op, {
    collection: head.collection,
    docid: head.docid,
    lsn: head.indexedLsn,
    addedAt: head.addedAt,
    updatedAt: head.updatedAt,
  })
  return op
}
