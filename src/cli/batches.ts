/**
 * Groups the documents of a source into add-batch bodies, bounded by count and bytes. At most one batch is in
 * memory. Problems travel with the batch they were found in, so that a position is passed only when
 * everything before it has been processed. Pure but for the source it pulls from.
 */
import type { DocumentItem, ProblemItem, SourceItem, SourcePoint } from './document.js'

/** The point behind its last item, and what lies before. */
export interface Batch extends SourcePoint {
  readonly documents: readonly DocumentItem[]
  readonly problems: readonly ProblemItem[]
}

export interface BatchBounds {
  readonly documentsMax: number
  readonly bytesMax: number
  /** Problems without a document between them; far more than a sane source has, and a batch ends there. */
  readonly problemsMax: number
}

export async function* groupBatches(items: AsyncIterable<SourceItem>, bounds: BatchBounds): AsyncGenerator<Batch> {
  let documents: DocumentItem[] = []
  let problems: ProblemItem[] = []
  let bytes = 0
  let last: SourceItem | undefined
  const take = (end: SourceItem): Batch => {
    const batch = { documents, problems, position: end.position, consumed: end.consumed }
    documents = []
    problems = []
    bytes = 0
    return batch
  }
  for await (const item of items) {
    if (item.kind === 'problem') problems.push(item)
    else {
      if (last !== undefined && documents.length > 0 && bytes + item.jsonBytes > bounds.bytesMax) yield take(last)
      documents.push(item)
      bytes += item.jsonBytes + 1
    }
    last = item
    if (documents.length >= bounds.documentsMax || bytes >= bounds.bytesMax || problems.length >= bounds.problemsMax) yield take(item)
  }
  if (last !== undefined && (documents.length > 0 || problems.length > 0)) yield take(last)
}

/** What all batches of an import have in common. */
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
