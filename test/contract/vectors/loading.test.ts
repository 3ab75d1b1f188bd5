/**
 * Vector search while the vector index is loading: service-1 "Vector search", service-2 "Errors". The index
 * takes long to load: its files are removed, so that every vector is read from the store again. The server
 * receives requests from its first moment on.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { decidePut } from '../../../src/domain/decision.js'
import { decideVectors, type EmbeddedDocument } from '../../../src/domain/embedding/embedded_document.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import type { QueuedEmbedding } from '../../../src/store/vectors/vector_tables.js'
import { embeddingEnv, vectorStats } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'
import { prepared } from '../../harness/store/store_operations.js'

const DOCUMENTS = 3_000
const GROUP = 500
/** Chunks per document: more to load than to index. */
const CHUNKS = 300
const STARTS_MAX = 5
const DIMENSIONS = 3

const queryVector = [1, 1, 1]
const SEARCHES: Readonly<Record<string, object>> = {
  '/v1/vector-search': { collection: 'c', queryVector, topK: 7, threshold: -1 },
  '/v1/cross-search': { queryVector, topK: 7, threshold: -1 },
  '/v1/hybrid-search': { collection: 'c', query: 'content', queryVector, topK: 7 },
}

describe('while the vector index is loading', () => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-vector-loading-'))
  let provider: EmbeddingServer
  before(async () => {
    provider = await EmbeddingServer.start()
    await fill(directory)
    // This start builds the word index, so that the next one only waits for vectors.
    assert.equal(await (await start()).stop(), 0)
  })
  after(async () => {
    await provider.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const start = (): Promise<Server> =>
    startServer({ directory, env: embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS), SVC_READ_LANES: '1' }) })

  it('vector-search: 503 with Retry-After while the vector index is loading, never a part of the results; everything else is served', async (t) => {
    const unloaded = async (): Promise<Server> => {
      for (const name of readdirSync(directory)) if (name.startsWith('gen-')) rmSync(join(directory, name, 'vectors'), { recursive: true })
      return await start()
    }
    let server = await unloaded()
    t.after(() => server.kill())
    // All at once, because loading does not take long.
    const ask = (): Promise<[TestResponse[], TestResponse[]]> =>
      Promise.all([
        Promise.all(Object.entries(SEARCHES).map(([path, body]) => server.post(path, body))),
        Promise.all([
          server.get('/health'),
          server.post('/v1/get', { collection: 'c', key: 'key 1', lang: 'en' }),
          server.post('/v1/fts', { collection: 'c', query: 'content' }),
        ]),
      ])
    let [first, others] = await ask()
    // On a busy machine the index may be loaded before all have their answers: another start shows it.
    for (let starts = 1; starts < STARTS_MAX && (await vectorStats(server)).index_ready === true; starts++) {
      await server.kill()
      server = await unloaded()
      ;[first, others] = await ask()
    }
    assert.equal((await vectorStats(server)).index_ready, false, 'all of them were answered while it was loading')
    for (const answer of first) assertLoading(answer)
    assert.deepEqual(
      others.map(({ status }) => status),
      [200, 200, 200],
    )
    for (const [path, body] of Object.entries(SEARCHES)) {
      let answer = await server.post(path, body)
      for (; answer.status === 503; answer = await server.post(path, body)) assertLoading(answer)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.json<{ results: unknown[] }>().results.length, 7)
    }
    assert.equal((await vectorStats(server)).index_ready, true)
  })
})

function assertLoading(answer: TestResponse): void {
  assert.deepEqual([answer.status, answer.json()], [503, { error: 'vector index is loading, please retry' }])
  assert.equal(answer.headers['retry-after'], '1')
}

/** Written directly to the store: a provider would take many times longer. */
async function fill(directory: string): Promise<void> {
  const store = new TruthStore(openDataDirectory(directory).generationPath)
  const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  for (let from = 0; from < DOCUMENTS; from += GROUP) {
    await writer.group(
      () => 1,
      (transaction) => {
        for (let at = from; at < from + GROUP; at++) {
          const document = { ...prepared(`key ${at}`, `content ${at}`, false, null), embeds: true }
          for (const { entry, body } of decidePut(transaction, 'c', document).steps) transaction.apply(entry, body)
        }
      },
    )
    const embedded = store.read((view) => view.vectors.queued(0n, GROUP).map(embeddedOf))
    await writer.group(
      () => 1,
      (transaction) => {
        for (const document of embedded) {
          const step = decideVectors(transaction, document)
          if (step !== undefined) transaction.apply(step.entry, step.body)
        }
      },
    )
  }
  await store.close()
}

function embeddedOf({ lsn, collection, docid }: QueuedEmbedding): EmbeddedDocument {
  const bytes = (words: Uint32Array | BigUint64Array | Float32Array): Uint8Array => new Uint8Array(words.buffer)
  const chunks = Array.from({ length: CHUNKS }, (_, chunk) => chunk)
  return {
    ...{ collection, docid, queued: lsn, change: 'set', variant: 'one', dimensions: DIMENSIONS, isCode: false, recipe: 7, bodyLsn: lsn },
    ...{ isWhole: true, isFresh: false },
    ranges: bytes(new Uint32Array(2 * CHUNKS)),
    hashes: bytes(BigUint64Array.from(chunks, (chunk) => BigInt(docid * CHUNKS + chunk))),
    given: bytes(Uint32Array.from(chunks)),
    vectors: bytes(Float32Array.from({ length: CHUNKS * DIMENSIONS }, (_, at) => 1 + ((docid * 31 + at * 7) % 100))),
  }
}
