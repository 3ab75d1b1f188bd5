/**
 * Reads that are tracked: counted by the lane that answers them, at the price of four words, and stored by the write lane twice a second, as work in its queue, in slices. Not in the binlog: what a crash loses
 * are reads of the last half second (docs/decisions/0081-histories-of-documents.md).
 */
import { trackingOf } from '../domain/temporal/requests.js'
import { ACCESS_SLICE_DOCUMENTS_MAX, ACCESS_TAKEN_MS } from '../limits.js'
import type { WriteTransaction } from '../store/apply.js'
import type { Head } from '../store/head.js'
import type { Accesses } from '../store/history_tables.js'
import type { View } from '../store/view.js'
import { ACCESS, type AccessRings } from '../telemetry/access_rings.js'
import { threadTelemetry } from '../telemetry/registry.js'
import type { Work } from './commit_work.js'
import type { Answer, LaneContext } from './handler.js'

/** On the lane that answers a read of this document. */
export function countAccess({ accesses, settings }: LaneContext, view: View, head: Head): void {
  if (accesses === undefined) return
  const { tracked, hot } = trackingOf(settings.of(view, head.collection).config)
  const flags = (tracked ? ACCESS.tracked : 0) | (hot ? ACCESS.hot : 0)
  if (flags !== 0 && !accesses.record(head.collection, head.docid, view.now, flags)) threadTelemetry().add('accesses_uncounted', 1)
}

interface ReadDocument {
  readonly collection: number
  readonly docid: number
  readonly bySecond: Map<number, Accesses>
}

const DONE: Answer = { status: 200, body: '' }

/**
 * Starts the round on the write lane. @param enqueue puts work into the commit queue and resolves when it is on disk
 * @returns a function that ends it and stores what the rings still hold
 */
export function trackingWork(rings: AccessRings, enqueue: (work: Work) => Promise<unknown>): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const store = async (): Promise<void> => {
    const documents = takeDocuments(rings)
    if (documents.length > 0) await enqueue(trackedReads(documents))
  }
  // The next round begins when this one is on disk: where the disk is slow the rings fill, and what they can't hold is not counted.
  const round = (): void => {
    running = store().then(() => {
      timer = setTimeout(round, ACCESS_TAKEN_MS)
    })
  }
  timer = setTimeout(round, ACCESS_TAKEN_MS)
  return async () => {
    clearTimeout(timer)
    await running
    clearTimeout(timer)
    await store()
  }
}

function takeDocuments(rings: AccessRings): ReadDocument[] {
  const collections = new Map<number, Map<number, ReadDocument>>()
  rings.take((collection, docid, second, flags) => {
    const documents = collections.get(collection) ?? new Map<number, ReadDocument>()
    collections.set(collection, documents)
    const document = documents.get(docid) ?? { collection, docid, bySecond: new Map<number, Accesses>() }
    documents.set(docid, document)
    const { tracked = 0, hot = 0 } = document.bySecond.get(second) ?? {}
    document.bySecond.set(second, {
      second,
      tracked: tracked + ((flags & ACCESS.tracked) === 0 ? 0 : 1),
      hot: hot + ((flags & ACCESS.hot) === 0 ? 0 : 1),
    })
  })
  return [...collections.values()].flatMap((documents) => [...documents.values()])
}

function trackedReads(documents: readonly ReadDocument[]): Work {
  let next = 0
  return {
    weight: ACCESS_SLICE_DOCUMENTS_MAX,
    run(transaction: WriteTransaction): boolean {
      for (const { collection, docid, bySecond } of documents.slice(next, next + ACCESS_SLICE_DOCUMENTS_MAX))
        transaction.trackAccesses(collection, docid, [...bySecond.values()])
      next += ACCESS_SLICE_DOCUMENTS_MAX
      return next < documents.length
    },
    answer: () => DONE,
  }
}
