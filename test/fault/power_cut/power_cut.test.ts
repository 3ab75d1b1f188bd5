/**
 * The guarantee of SVC_DURABILITY=sync: a write that was answered with a 2xx survives a power cut. It is
 * tested on the writes and flushes of a recorded run (shim/powercut.c), because the page cache outlives any
 * kill of a process. The counter-test runs the same server as if built without flushes and must find losses.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runSeed } from '../../harness/random.js'
import { cutPower, recordRun } from './power_cut_run.js'

const CUTS = 20
/** Without flushes nearly every cut loses something. */
const FLUSHLESS_CUTS = 4
const seed = runSeed()

describe(`power cuts, MDS_TEST_SEED=${seed}`, () => {
  it('every write acknowledged before a power cut is readable byte for byte after it', async () => {
    const { records, acknowledged, unseen } = await recordRun(seed, false)
    assert.ok(acknowledged >= 100, `only ${acknowledged} acknowledged writes`)
    assert.deepEqual(unseen, [], 'the shim did not see all that was written')
    await cutPower(records, seed, CUTS, (cut, complaints) => assert.deepEqual(complaints, [], `cut at record ${cut}`))
  })

  it('a server without flushes loses acknowledged writes, and this test sees it', async () => {
    const { records } = await recordRun(seed, true)
    let lossy = 0
    await cutPower(records, seed, FLUSHLESS_CUTS, (_cut, complaints) => {
      if (complaints.length > 0) lossy++
    })
    assert.ok(lossy > 0, `none of ${FLUSHLESS_CUTS} cuts lost anything`)
  })
})
