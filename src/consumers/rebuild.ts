/**
 * Rebuilds the full-text and metadata index from the truth store: every document is read, analysed and published, page by page in docid order. Several lanes may share the work; each takes
 * every n-th page. Runs on read lanes at the start, while the server says `warming_up`.
 */
import { joinBatch, stampUpsert } from '../engine/index_batch.js'
import { parseMetadata } from '../domain/metadata.js'
import { indexDocument } from '../domain/preparation.js'
import type { PreparationTools } from '../domain/preparation.js'
import type { SearchEngine } from '../engine/types.js'
import { REBUILD_PAGE_DOCUMENTS } from '../limits.js'
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
      docidFirst = result.docidNext
      last = result.last
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
): RebuildResult & { docidNext: number; last: boolean } {
  const docids = view.docidsFrom(collection, docidFirst, REBUILD_PAGE_DOCUMENTS)
  const damaged: string[] = []
  const ops: Uint8Array[] = []
  for (const docid of mine ? docids : []) {
    try {
      const head = view.headEvenExpired(collection, docid)
      const isMissing = head !== undefined && !(missingOnly && tools.engine.holds(collection, docid, head.indexedLsn))
      if (isMissing) ops.push(upsertOf(tools, view, head, replaceEqual))
    } catch (error) {
      // Damaged bytes or a text that the analyzer gave up on: one document less in the index, not a server less.
      damaged.push(`${collection}/${docid}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (ops.length > 0) tools.engine.publish(joinBatch(ops, view.storeCounters().lastLsn))
  return { documents: ops.length, damaged, docidNext: (docids.at(-1) ?? 0) + 1, last: docids.length < REBUILD_PAGE_DOCUMENTS }
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
