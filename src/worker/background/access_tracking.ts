/**
 * Reads that are tracked: counted by the lane that answers them, at the price of four words, and stored by the write lane as work in its queue, in slices. Not in the binlog: what a crash loses are reads that were not
 * stored yet (docs/decisions/0081-histories-of-documents.md).
 *
 * The rings are emptied twice a second into what waits; a pass takes all of that, in the order of the store, and after each slice leaves the lane alone for a multiple of the time that it took. So tracking takes a
 * tenth of the write lane at most; where more documents are read than that can store, their reads are joined while they wait.
 */
import { setTimeout } from 'node:timers/promises'
import { trackingOf } from '../../domain/temporal/temporal_requests.js'
import { ACCESS_PAUSE_FACTOR, ACCESS_PAUSE_MS_MAX, ACCESS_SLICE_DOCUMENTS_MAX, ACCESS_TAKEN_MS, ACCESS_WAITING_MAX } from '../../limits.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Head } from '../../store/head.js'
import type { Accesses } from '../../store/history_tables.js'
import type { View } from '../../store/view.js'
import { ACCESS, type AccessRings } from '../../telemetry/access_rings.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { Work } from '../commit/commit_work.js'
import type { Answer, LaneContext } from '../request/handler.js'

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
  /** One for a second. */
  readonly accesses: Accesses[]
}

const DONE: Answer = { status: 200, body: '' }

/**
 * Starts the rounds on the write lane. @param enqueue puts work into the commit queue and resolves when it is on disk
 * @returns a function that ends them and stores everything that was counted
 */
export function trackingWork(rings: AccessRings, enqueue: (work: Work) => Promise<unknown>): () => Promise<void> {
  const waiting = new WaitingReads(rings)
  const ending = new AbortController()
  let pass: Promise<void> | undefined
  const round = (): void => {
    waiting.take()
    pass ??= storeAll(waiting, enqueue, ending.signal).finally(() => (pass = undefined))
  }
  const timer = setInterval(round, ACCESS_TAKEN_MS)
  return async () => {
    clearInterval(timer)
    ending.abort()
    await pass
    waiting.take()
    await storeAll(waiting, enqueue, ending.signal)
  }
}

async function storeAll(waiting: WaitingReads, enqueue: (work: Work) => Promise<unknown>, ending: AbortSignal): Promise<void> {
  const documents = waiting.drain()
  for (let first = 0; first < documents.length; first += ACCESS_SLICE_DOCUMENTS_MAX) {
    const begin = performance.now()
    await enqueue(trackedReads(documents.slice(first, first + ACCESS_SLICE_DOCUMENTS_MAX)))
    const isLast = first + ACCESS_SLICE_DOCUMENTS_MAX >= documents.length
    if (!isLast) await pause(Math.min((performance.now() - begin) * ACCESS_PAUSE_FACTOR, ACCESS_PAUSE_MS_MAX), ending)
  }
}

/** Cut short by the end: then the rest is stored without a pause. */
async function pause(ms: number, ending: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal: ending }).catch((error: unknown) => {
    if (!ending.aborted) throw error
  })
}

/** Reads that were taken from the rings and are not being stored yet, by document. */
class WaitingReads {
  readonly #rings: AccessRings
  #collections = new Map<number, Map<number, ReadDocument>>()
  #size = 0

  constructor(rings: AccessRings) {
    this.#rings = rings
  }

  /** Where too many wait the rings keep theirs, and what they can't hold is not counted. */
  take(): void {
    if (this.#size >= ACCESS_WAITING_MAX) return
    this.#rings.take((collection, docid, second, flags) => {
      const { accesses } = this.#document(collection, docid)
      const at = accesses.findIndex((access) => access.second === second)
      const { tracked, hot } = accesses[at] ?? { tracked: 0, hot: 0 }
      const access = {
        second,
        tracked: tracked + ((flags & ACCESS.tracked) === 0 ? 0 : 1),
        hot: hot + ((flags & ACCESS.hot) === 0 ? 0 : 1),
      }
      if (at >= 0) accesses[at] = access
      else {
        accesses.push(access)
        this.#size++
      }
    })
  }

  #document(collection: number, docid: number): ReadDocument {
    const documents = this.#collections.get(collection) ?? new Map<number, ReadDocument>()
    this.#collections.set(collection, documents)
    const document = documents.get(docid) ?? { collection, docid, accesses: [] }
    documents.set(docid, document)
    return document
  }

  /** In the order in which they are stored: neighbours share pages, and a page is written once a slice however many of its records change. */
  drain(): ReadDocument[] {
    const documents = [...this.#collections.values()].flatMap((of) => [...of.values()])
    this.#collections = new Map()
    this.#size = 0
    return documents.sort((one, other) => one.collection - other.collection || one.docid - other.docid)
  }
}

function trackedReads(documents: readonly ReadDocument[]): Work {
  return {
    onFullDisk: 'waits',
    weight: documents.length,
    run(transaction: WriteTransaction): boolean {
      for (const { collection, docid, accesses } of documents) transaction.trackAccesses(collection, docid, accesses)
      return false
    },
    answer: () => DONE,
  }
}
