/**
 * The signal that bounds a wait: it aborts at its time in spite of garbage collections, with the outer
 * signal, and never after its end.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { TimeLimit } from '../../../src/base/time_limit.js'
import { forceCollections } from '../../harness/process/forced_gc.js'

const LATE_MS_MAX = 5_000

/** As callers hold it: only the signal. */
const signalOf = (ms: number, outer?: AbortSignal): AbortSignal => new TimeLimit(ms, outer).signal

async function isAborted(signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return true
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), LATE_MS_MAX)
  try {
    await once(signal, 'abort', { signal: late.signal })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

describe('time limits', () => {
  it('a limit ends the wait at its time although everything that nothing holds is collected', async () => {
    const end = forceCollections()
    try {
      const outer = new AbortController()
      const begun = performance.now()
      const signals = [signalOf(300), signalOf(300, outer.signal)]
      assert.deepEqual(await Promise.all(signals.map(isAborted)), [true, true])
      assert.ok(performance.now() - begun >= 290)
      for (const { reason } of signals) assert.equal((reason as Error).name, 'TimeoutError')
    } finally {
      end()
    }
  })

  it('the outer signal ends it at once, with its reason; after the end nothing does', () => {
    const outer = new AbortController()
    const [limit, ended] = [new TimeLimit(60_000, outer.signal), new TimeLimit(60_000, outer.signal)]
    ended.end()
    outer.abort(new Error('gone'))
    assert.deepEqual([limit.signal.aborted, limit.isOver, (limit.signal.reason as Error).message], [true, false, 'gone'])
    assert.equal(ended.signal.aborted, false)
    assert.equal(new TimeLimit(60_000, outer.signal).signal.aborted, true)
  })
})
