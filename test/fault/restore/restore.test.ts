/**
 * Restores under load, each successful and failing scenario once: restore_run.ts. The campaign (`npm run
 * campaign -- restore`) repeats them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { SmallDisk } from '../../harness/process/small_disk.js'
import { runSeed } from '../../harness/random.js'
import { nameOf, RestoreRun, SCENARIOS } from './restore_run.js'

const seed = runSeed()

describe(`restore under load, MDS_TEST_SEED=${seed}`, () => {
  const disk = SmallDisk.mount(128)
  const run = new RestoreRun(seed, disk)
  before(() => run.begin())
  after(async () => {
    await run.end()
    disk?.unmount()
  })

  for (const scenario of SCENARIOS) {
    it(`restore: ${nameOf(scenario)}: no failed read, no empty search, one generation as a whole`, async (test) => {
      if (scenario.kind === 'full' && disk === undefined)
        test.skip('no tmpfs can be mounted here: a restore onto a full disk is NOT TESTED')
      else await run.run(scenario)
    })
  }

  it('restore: there was a load', (test) => {
    test.diagnostic(JSON.stringify(run.report))
    assert.ok(run.report.reads > SCENARIOS.length * 2 && run.report.writes > SCENARIOS.length)
  })
})
