/**
 * The write lane of a store that cannot be written (`--mode read` on a read-only file system): it commits
 * nothing, does no background work, and has nothing to finish. Write lane only.
 */
import { serviceError } from '../../errors.js'
import type { WriteLane } from '../request/handler.js'
import { errorAnswer } from '../request/lane_request.js'

export function readOnlyLane(): WriteLane {
  return {
    commit: (commands) => {
      for (const { reply } of commands) reply(errorAnswer(serviceError('readOnlyMode'), () => undefined))
      return Promise.resolve()
    },
    settleJobs: () => Promise.resolve(),
    noteUnindexed: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}
