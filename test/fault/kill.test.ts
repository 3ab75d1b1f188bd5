/**
 * What `kill -9` must not break: acknowledged writes, deletes that stay deletes, whole documents, an index
 * that equals the store. It does not test the flush (the page cache survives the process): power_cut.test.ts
 * does.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runKills } from './kill_run.js'
import { runSeed } from './random.js'

const ROUNDS = 10
const seed = runSeed()

it(`after kill -9 at a random moment every acknowledged write is there and the index equals the store, MDS_TEST_SEED=${seed}`, async (test) => {
  const report = await runKills(seed, ROUNDS)
  test.diagnostic(JSON.stringify(report))
  assert.ok(report.acknowledged > ROUNDS, 'the load wrote next to nothing')
})
