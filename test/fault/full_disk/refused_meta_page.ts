/**
 * A full disk that refuses the last write of a commit, its meta page. Such a commit cannot be undone: LMDB
 * then refuses reads as well, and the process is replaced.
 */
import type { TestResponse } from '../../harness/server/server.js'
import type { FaultControl } from '../shim/fault_control.js'

/** More writes than any commit has. */
const WRITES_MAX = 1000

/**
 * The number of writes of a commit is estimated from the previous one.
 * @param add makes one commit, undefined if the connection ended
 * @param untilTaken waits until such a commit succeeds again
 * @param manner `clean`: the write is refused with ENOSPC. `short`: half of it is written
 * @returns the time at which the commit was requested, milliseconds of `performance.now()`
 */
export async function refuseMetaPage(
  control: FaultControl,
  add: () => Promise<TestResponse | undefined>,
  untilTaken: () => Promise<unknown>,
  manner: 'clean' | 'short' = 'clean',
): Promise<number> {
  for (let at = WRITES_MAX; ;) {
    control.arm({ kind: 'write', at, error: 'ENOSPC', manner, lasts: false, only: 'truth.mdb' })
    const askedAt = performance.now()
    const answer = await add()
    const isUndone = answer?.status === 503 && answer.text.includes('disk full')
    if (answer?.status !== 200 && !isUndone) return askedAt
    const { calls } = control.state()
    control.disarm()
    if (!isUndone) at = calls
    else {
      at++
      await untilTaken()
    }
  }
}
