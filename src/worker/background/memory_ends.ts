/**
 * Removes the messages and summaries of sessions of conversational memory that have ended. The write lane
 * names sessions when it deletes them, also because they have expired. What an earlier process has not
 * finished, and what no session belongs to for other reasons, a pass over all such documents finds after each
 * start. Both work in slices with pauses. Write lane only.
 */
import { Chore, type Rest } from '../../chore.js'
import { decideDelete } from '../../domain/decision.js'
import { documentsOfSession, isEnded, OF_SESSIONS, sessionIdOf } from '../../domain/memory/ended_sessions.js'
import { SWEEP_DOCUMENTS_MAX, SWEEP_INTERVAL_MS } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import { noteDamage } from '../../store/rows/noted_damage.js'
import type { View } from '../../store/view.js'
import { carryOut, EVERY_SESSION, type GroupEffects, type Work } from '../commit/commit_work.js'
import { DONE, type LaneWork } from './lane_work.js'

/** Ended sessions that wait, some 100 B each. If there are more, a pass finds them. */
const ENDED_SESSIONS_MAX = 10_000
/** Documents that one slice of a pass looks at: some 2 ms of the write lane. */
const PASS_DOCUMENTS = 512
/** Pause between two slices, as a multiple of the slice: a pass takes a tenth of the write lane. */
const PASS_PAUSE_FACTOR = 9
/** The shortest such pause. */
const PASS_PAUSE_MS_MIN = 5

/** Where a pass stands. */
interface PassPosition {
  /** Index in OF_SESSIONS. */
  readonly collection: number
  readonly docid: number
}

export class MemoryEnds {
  readonly chore: Chore
  readonly #parts: LaneWork
  readonly #ended = new Set<string>()
  #pass: PassPosition | undefined = { collection: 0, docid: 0 }

  /** @param isIndexBuilding what it lacks is not found: nothing is removed meanwhile */
  constructor(parts: LaneWork, isIndexBuilding: () => boolean) {
    this.#parts = parts
    this.chore = new Chore(parts.tools, {
      name: 'memory-ends',
      first: SWEEP_INTERVAL_MS,
      failure: 'messages of ended sessions are not removed yet',
      round: async () => (isIndexBuilding() ? SWEEP_INTERVAL_MS : await this.#round()),
    })
  }

  /** @param ids of sessions that have been deleted */
  note(ids: readonly string[]): void {
    for (const id of ids) {
      if (id === EVERY_SESSION || this.#ended.size >= ENDED_SESSIONS_MAX) this.#pass = { collection: 0, docid: 0 }
      else this.#ended.add(id)
    }
    this.chore.wake()
  }

  async #round(): Promise<Rest> {
    const begun = performance.now()
    const [sessionId] = this.#ended
    if (sessionId !== undefined) await this.#remove(sessionId)
    else if (this.#pass !== undefined) this.#pass = this.#parts.lane.store.read((view) => this.#look(view, this.#pass as PassPosition))
    if (this.#ended.size === 0 && this.#pass === undefined) return 'idle'
    return Math.max(PASS_PAUSE_MS_MIN, (performance.now() - begun) * PASS_PAUSE_FACTOR)
  }

  /** Removes some of the documents of a session. It is done once there are none. */
  async #remove(sessionId: string): Promise<void> {
    const { lane, enqueue } = this.#parts
    const found = OF_SESSIONS.flatMap((name) => {
      const collection = lane.store.read((view) => view.collection(name)?.id)
      if (collection === undefined) return []
      return documentsOfSession(lane.engine, collection, sessionId, SWEEP_DOCUMENTS_MAX).map((docid) => [collection, docid] as const)
    })
    const removal = new Removal(sessionId, found)
    if (found.length > 0) await enqueue(removal)
    if (removal.removed === 0) this.#ended.delete(sessionId)
  }

  /** Looks at the next documents. @returns undefined after the last ones */
  #look(view: View, { collection, docid }: PassPosition): PassPosition | undefined {
    const name = OF_SESSIONS[collection]
    if (name === undefined) return undefined
    const id = view.collection(name)?.id
    const docids = id === undefined ? [] : view.docidsFrom(id, docid, PASS_DOCUMENTS)
    for (const each of docids) {
      const sessionId = this.#sessionOf(view, id as number, each)
      if (sessionId !== undefined && !this.#ended.has(sessionId) && isEnded(view, sessionId)) this.#ended.add(sessionId)
    }
    return docids.length < PASS_DOCUMENTS ? { collection: collection + 1, docid: 0 } : { collection, docid: (docids.at(-1) as number) + 1 }
  }

  /** Of a damaged document that is not known: a get reports the damage. */
  #sessionOf(view: View, collection: number, docid: number): string | undefined {
    try {
      const head = view.headEvenExpired(collection, docid)
      return head === undefined ? undefined : sessionIdOf(head)
    } catch (error) {
      noteDamage(error)
      return undefined
    }
  }
}

/** Deletes documents of a session, unless there is one of its id again. */
class Removal implements Work {
  readonly onFullDisk = 'runs'
  readonly origin = 'expiry'
  readonly weight: number
  removed = 0

  constructor(
    readonly sessionId: string,
    readonly found: readonly (readonly [collection: number, docid: number])[],
  ) {
    this.weight = found.length
  }

  run(transaction: WriteTransaction, effects: GroupEffects): boolean {
    const { view } = transaction
    this.removed = 0
    if (!isEnded(view, this.sessionId)) return false
    const retired = new Set(view.retired())
    for (const [collection, docid] of this.found) {
      try {
        const head = retired.has(collection) ? undefined : view.headEvenExpired(collection, docid)
        if (head === undefined || sessionIdOf(head) !== this.sessionId) continue
        carryOut(transaction, effects, [decideDelete(transaction, head)])
        this.removed++
      } catch (error) {
        noteDamage(error)
      }
    }
    return false
  }

  answer(): typeof DONE {
    return DONE
  }
}
