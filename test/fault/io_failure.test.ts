/**
 * What a failing disk must not break: no request hangs, and nothing that was acknowledged is lost. After an error nobody knows what the page cache holds, so the process ends rather than trying
 * again; a flush that never returns is noticed by the front end's watch.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runFailure, type FailurePoint } from './io_failure_run.js'
import { runSeed } from './random.js'

const POINTS: readonly FailurePoint[] = [
  { operation: 'fdatasync', at: 1, errno: 'EIO', lasts: false },
  { operation: 'fdatasync', at: 7, errno: 'EIO', lasts: true },
  { operation: 'fdatasync', at: 20, errno: 'ENOSPC', lasts: true },
  { operation: 'pwrite', at: 1, errno: 'ENOSPC', lasts: true },
  { operation: 'pwrite', at: 2, errno: 'EIO', lasts: false },
  { operation: 'pwrite', at: 3, errno: 'EIO', lasts: true },
  { operation: 'pwrite', at: 40, errno: 'ENOSPC', lasts: false },
  { operation: 'pwrite', at: 101, errno: 'EIO', lasts: true },
  { operation: 'writev', at: 1, errno: 'ENOSPC', lasts: true },
  { operation: 'writev', at: 12, errno: 'EIO', lasts: false },
  { operation: 'fdatasync', at: 5, errno: 'HANG', lasts: false },
]
const seed = runSeed()

describe(`I/O failures, MDS_TEST_SEED=${seed}`, () => {
  for (const point of POINTS) {
    const what = `${point.errno} from ${point.operation} number ${point.at}${point.lasts ? ' on' : ''}`
    it(`${what}: every request is answered or its connection ended, and no acknowledged write is lost`, async () => {
      const { outcome, complaints } = await runFailure(seed, point)
      assert.equal(outcome.hung, 0, 'requests that neither got an answer nor an end')
      assert.ok(outcome.unanswered > 0 || outcome.refused.size > 0, 'the failure was never met')
      assert.deepEqual(complaints, [])
    })
  }
})
