/**
 * Groups the documents of a source into add-batch bodies, bounded by count and bytes. At most one batch is in
 * memory. Problems belong to the batch in which they were found, so a position is passed only after
 * everything before it has been processed. What a source gave before it failed is sent first. Pure, except
 * for the source that it reads.
 */
import type { DocumentItem, ProblemItem, SourceItem, SourcePoint, UnchangedItem } from '../files/document.js'

/** Its source point is the point after its last item. */
export interface Batch extends SourcePoint {
  readonly documents: readonly DocumentItem[]
  readonly problems: readonly ProblemItem[]
  /** Number of documents between them that the server has already. */
  readonly unchanged: number
}

/** Documents of a batch that are not sent. Progress is shown, and the position kept, some times a second. */
const UNCHANGED_MAX = 1_000

interface BatchBounds {
  readonly documentsMax: number
  readonly bytesMax: number
  /**
   * Maximum number of problems without a document between them, far more than a sane source has. The batch
   * ends when it is reached.
   */
  readonly problemsMax: number
}

export async function* groupBatches(items: AsyncIterable<SourceItem | UnchangedItem>, bounds: BatchBounds): AsyncGenerator<Batch> {
  let documents: DocumentItem[] = []
  let problems: ProblemItem[] = []
  let unchanged = 0
  let bytes = 0
  let last: SourcePoint | undefined
  const take = (end: SourcePoint): Batch => {
    const batch = { documents, problems, unchanged, position: end.position, consumed: end.consumed }
    documents = []
    problems = []
    unchanged = 0
    bytes = 0
    return batch
  }
  let failure: { readonly cause: unknown } | undefined
  try {
    for await (const item of items) {
      if (item.kind === 'problem') problems.push(item)
      else if (item.kind === 'unchanged') unchanged += 1
      else {
        if (last !== undefined && documents.length > 0 && bytes + item.jsonBytes > bounds.bytesMax) yield take(last)
        documents.push(item)
        bytes += item.jsonBytes + 1
      }
      last = item
      if (
        documents.length >= bounds.documentsMax ||
        bytes >= bounds.bytesMax ||
        problems.length >= bounds.problemsMax ||
        unchanged >= UNCHANGED_MAX
      )
        yield take(item)
    }
  } catch (cause) {
    failure = { cause }
  }
  if (last !== undefined && (documents.length > 0 || problems.length > 0 || unchanged > 0)) yield take(last)
  if (failure !== undefined) throw failure.cause
}

/** The values common to all batches of an import. */
export interface BatchTarget {
  readonly collection: string
  /** The documents' own `addedAt` and `updatedAt` are kept. */
  readonly keepTimes: boolean
}

/** The body of `POST /v1/add-batch`. */
export function batchBody({ collection, keepTimes }: BatchTarget, documents: readonly DocumentItem[]): string {
  const times = keepTimes ? ',"keepTimes":true' : ''
  return `{"collection":${JSON.stringify(collection)}${times},"documents":[${documents.map((document) => document.json).join(',')}]}`
}
