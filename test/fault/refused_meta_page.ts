/**
 * A full disk that refuses the last write of a commit, its meta page. Nobody can undo that: LMDB refuses
 * reads as well from then on, and the process is replaced.
 */
import type { TestResponse } from '../harness/server.js'
import type { FaultControl } from './fault_control.js'

/** More writes than any commit has. */
const WRITES_MAX = 1000

/**
 * How many writes a commit has is told by the one before, about.
 * @param add adds a document, undefined where the connection ended
 * @param untilTaken waits until documents are taken again
 * @returns when the commit was asked for, milliseconds of `performance.now()`
 */
export async function refuseMetaPage(
  control: FaultControl,
  add: () => Promise<TestResponse | undefined>,
  untilTaken: () => Promise<unknown>,
): Promise<number> {
  for (let at = WRITES_MAX; ;) {
    control.arm({ kind: 'write', at, error: 'ENOSPC', manner: 'clean', lasts: false, only: 'truth.mdb' })
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
