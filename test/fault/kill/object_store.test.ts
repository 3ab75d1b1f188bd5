/**
 * Writes to a collection in an object store while the store, or the server, is killed and restarted.
 * Acknowledged writes are present, the others are refused with 503, no search finds missing documents, and no
 * unreferenced object is left in the bucket. scripts/campaigns/object-store.mjs runs as many as the issue
 * wants.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runSeed } from '../../harness/random.js'
import { ANSWER_MS_MAX } from '../../harness/server/http_client.js'
import { noObjectStore } from '../../harness/store/object_store.js'
import { runObjectStore } from './object_store_run.js'

const SIZE = { writes: 120, kills: 2 }
const seed = runSeed()

describe('writes to an object store', { skip: noObjectStore }, () => {
  for (const killed of ['store', 'server'] as const) {
    it(`keep their word while the ${killed} is killed again and again, MDS_TEST_SEED=${seed}`, async (test) => {
      const report = await runObjectStore(seed, killed, SIZE)
      test.diagnostic(JSON.stringify(report))
      assert.ok(report.acknowledged >= SIZE.writes / 2, 'the load wrote next to nothing')
      assert.ok(report.documents > 0 && report.swept > 0)
      assert.ok(report.refusalMsMax < ANSWER_MS_MAX)
    })
  }
})
