import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSeed } from '../../harness/random.js'
import { tornReads } from './torn_reads_run.js'

const SECONDS = 5

test('the native reader shows whole documents, none older than acknowledged, beside a writer at full speed', async () => {
  const { writes, readers, fileBytes } = await tornReads(SECONDS, runSeed())
  assert.ok(writes > 3_000, `${writes} writes`)
  assert.ok(fileBytes[1] > fileBytes[0], 'the file has grown')
  for (const { natively, byRows, inPages } of readers) {
    assert.ok(natively > 100 * byRows, `${natively} read natively, ${byRows} by rows`)
    assert.ok(inPages > 0)
  }
})
