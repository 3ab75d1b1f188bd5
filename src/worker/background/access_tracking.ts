/**
 * Stores tracked reads. The lane that answers a read counts it (request/access_count.ts), at the cost of four
 * words. The write lane stores the reads as work in its queue, in slices. They are not in the binlog: a crash
 * loses the reads that are not stored yet (docs/decisions/documents/histories.md).
 *
 * The rings are drained twice a second into the waiting reads. A pass takes all waiting reads in store order.
 * After each slice it pauses for a multiple of the slice's duration, so tracking takes at most a tenth of the
 * write lane. If more documents are read than a pass can store, their reads are merged while they wait.
 */
import { Chore } from '../../chore.js'
import { mayWriteUnasked } from '../../role.js'
import type { Service } from '../../services.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Accesses } from '../../store/histories/history_tables.js'
import { ACCESS, type AccessRings } from '../../telemetry/access_rings.js'
import type { Work } from '../commit/commit_work.js'
import { DONE, type Enqueue, type LaneWork } from './lane_work.js'

/** Interval at which the write lane collects the reads of documents. */
const ACCESS_TAKEN_MS = 500
/** Documents whose reads one slice stores, at 10 us each. Single writes may enter between slices. */
const ACCESS_SLICE_DOCUMENTS_MAX = 128
/**
 * Pause of the write lane after a slice, as a multiple of the slice, and its longest duration: tracking takes
 * a tenth of the lane.
 */
const ACCESS_PAUSE_FACTOR = 9
const ACCESS_PAUSE_MS_MAX = 1000
/** Pairs of a document and a second with reads that wait to be stored, some 150 B each. */
const ACCESS_WAITING_MAX = 262_144

interface ReadDocument {
  readonly collection: number
  readonly docid: number
  /** One element per second. */
  readonly accesses: Accesses[]
}

/** On stop, everything that was counted is stored. */
export function accessTracking(work: LaneWork, rings: AccessRings): Service {
  const passes = new TrackingPasses(rings, work.enqueue)
  const chore = new Chore(work.tools, {
    name: 'access-tracking',
    first: ACCESS_TAKEN_MS,
    failure: 'reads that were counted are not stored yet',
    round: () => passes.round(),
  })
  passes.onSlice = (restMs) => chore.wake(restMs)
  return {
    name: chore.name,
    start: () => chore.start(),
    stop: async () => {
      await chore.stop()
      if (mayWriteUnasked(work.tools.role)) await passes.finish()
    },
  }
}

/** Drains the rings even while a slice waits in the queue: the rings hold less than what may wait here. */
class TrackingPasses {
  /**
   * Called when a slice was stored that is not the last of its pass.
   * @param restMs pause until the next slice may run
   */
  onSlice: (restMs: number) => void = () => undefined
  readonly #waiting: WaitingReads
  readonly #enqueue: Enqueue
  /** Documents of the current pass. `#next` is the index of the first one that is not stored. */
  #documents: readonly ReadDocument[] = []
  #next = 0
  #storing: Promise<void> | undefined
  #takeAt = 0
  #sliceAt = 0

  constructor(rings: AccessRings, enqueue: Enqueue) {
    this.#waiting = new WaitingReads(rings)
    this.#enqueue = enqueue
  }

  get #isPassDone(): boolean {
    return this.#storing === undefined && this.#next >= this.#documents.length
  }

  /** @returns milliseconds until the next drain or the next slice */
  round(): number {
    const now = performance.now()
    if (now >= this.#takeAt) {
      this.#takeAt = now + ACCESS_TAKEN_MS
      this.#waiting.take()
      if (this.#isPassDone) this.#begin()
    }
    if (this.#storing === undefined && !this.#isPassDone && now >= this.#sliceAt) this.#storing = this.#store(true)
    const sliceAt = this.#storing !== undefined || this.#isPassDone ? Infinity : this.#sliceAt
    return Math.max(0, Math.min(this.#takeAt, sliceAt) - performance.now())
  }

  /** Stores the rest of the pass and the reads counted since, without pauses. */
  async finish(): Promise<void> {
    await this.#storing
    while (!this.#isPassDone) await this.#store(false)
    this.#waiting.take()
    this.#begin()
    while (!this.#isPassDone) await this.#store(false)
  }

  #begin(): void {
    this.#documents = this.#waiting.drain()
    this.#next = 0
    this.#sliceAt = 0
  }

  async #store(wakes: boolean): Promise<void> {
    const begun = performance.now()
    const slice = this.#documents.slice(this.#next, this.#next + ACCESS_SLICE_DOCUMENTS_MAX)
    this.#next += slice.length
    await this.#enqueue(trackedReads(slice))
    this.#storing = undefined
    const now = performance.now()
    const restMs = Math.min((now - begun) * ACCESS_PAUSE_FACTOR, ACCESS_PAUSE_MS_MAX)
    this.#sliceAt = now + restMs
    if (wakes && !this.#isPassDone) this.onSlice(restMs)
  }
}

/** Reads taken from the rings that are not being stored yet, by document. */
class WaitingReads {
  readonly #rings: AccessRings
  #collections = new Map<number, Map<number, ReadDocument>>()
  #size = 0

  constructor(rings: AccessRings) {
    this.#rings = rings
  }

  /**
   * Leaves the reads in the rings while too many are waiting. Reads that a full ring cannot hold are not
   * counted.
   */
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

  /**
   * Returns the documents in store order. Neighbours share pages, and a page is written once per slice,
   * however many of its records change.
   */
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
