/**
 * Guarantees after `kill -9`: acknowledged writes are present, deleted documents stay deleted, documents are
 * whole, and the index equals the store. The flush is not tested (the page cache survives the process):
 * power_cut.test.ts tests it.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runSeed } from '../../harness/random.js'
import { runKills } from './kill_run.js'

const ROUNDS = 10
const seed = runSeed()

it(`after kill -9 at a random moment every acknowledged write is there and the index equals the store, MDS_TEST_SEED=${seed}`, async (test) => {
  const report = await runKills(seed, ROUNDS)
  test.diagnostic(JSON.stringify(report))
  assert.ok(report.acknowledged > ROUNDS, 'the load wrote next to nothing')
})
