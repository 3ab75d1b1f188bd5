/** The context that every chore of the write lane receives. Write lane only. */
import type { ChoreTools } from '../../chore.js'
import type { Work } from '../commit/commit_work.js'
import type { CommitAnswer, LaneContext } from '../request/handler.js'

/** Puts work into the commit queue. Resolves when it is on disk or was refused. */
export type Enqueue = (work: Work) => Promise<CommitAnswer>

export interface LaneWork {
  readonly lane: LaneContext
  readonly tools: ChoreTools
  readonly enqueue: Enqueue
}

/** The answer of background work, which has no client. */
export const DONE: CommitAnswer = { body: '' }
