/**
 * Embedding while the server is killed, and with a provider that fails in every way: nothing else is
 * affected, nothing is lost, and the reported state is correct.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { embeddingEnv, vectorStats, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { type EmbeddingFault, EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { runSeed } from '../../harness/random.js'
import { startServer } from '../../harness/server/server.js'
import { runEmbeddingKills } from './embedding_run.js'

const DOCUMENTS = 300
const KILLS = 3
const seed = runSeed()

it(`after kill -9 during embedding every document has its vectors once, and only what was under way is paid for again, MDS_TEST_SEED=${seed}`, async (test) => {
  const report = await runEmbeddingKills(seed, DOCUMENTS, KILLS)
  test.diagnostic(JSON.stringify(report))
})

it('without a kill nothing is paid for twice', async () => {
  assert.equal((await runEmbeddingKills(seed, DOCUMENTS, 0)).paidAgain, 0)
})

const FAULTS: readonly EmbeddingFault[] = ['hang', { status: 429 }, { status: 500 }, 'wrongDimensions', 'nan', 'truncated', 'close']
/** Time limit of a write or a search beside a failing provider: far below its own time limits. */
const ANSWER_MS_MAX = 5_000

describe('a provider in trouble', () => {
  let provider: EmbeddingServer
  let directory: string
  before(async () => {
    provider = await EmbeddingServer.start()
    directory = await mkdtemp(join(tmpdir(), 'mds-embedding-'))
  })
  after(async () => {
    await provider.stop()
    await rm(directory, { recursive: true, force: true })
  })

  for (const [at, fault] of FAULTS.entries()) {
    const name = typeof fault === 'string' ? fault : `HTTP ${fault.status}`
    it(`${name}: writes and searches go on, the numbers of the queue are true, and after a restart everything is embedded`, async () => {
      const collection = `c${at}`
      const env = embeddingEnv(provider)
      const server = await startServer({ directory, env })
      provider.standing = fault
      const begun = performance.now()
      for (let key = 0; key < 5; key++) {
        const answer = await server.post('/v1/add', { collection, key: `k${key}`, lang: 'en', contentMd: `${name} document ${key}` })
        assert.equal(answer.status, 200, answer.text)
      }
      const found = await server.post('/v1/fts', { collection, query: 'document' })
      assert.equal(found.json().total, 5)
      assert.ok(performance.now() - begun < ANSWER_MS_MAX, `${performance.now() - begun} ms`)
      const stats = await vectorStats(server)
      assert.deepEqual([stats.queue.depth, stats.queue.dropped, stats.collections[collection]?.embedded_documents], [5, 0, 0])
      await server.kill()
      provider.standing = undefined
      const next = await startServer({ directory, env })
      await whenEmbedded(next, { [collection]: 5 })
      assert.equal(await next.stop(), 0)
    })
  }

  it('one bad answer after the other: the texts are asked for again, and each document has its vectors', async () => {
    const server = await startServer({ directory, env: embeddingEnv(provider) })
    provider.fail('nan', 'truncated')
    await server.post('/v1/add', { collection: 'passing', key: 'a', lang: 'en', contentMd: 'some text' })
    await whenEmbedded(server, { passing: 1 })
    assert.equal(await server.stop(), 0)
  })
})
