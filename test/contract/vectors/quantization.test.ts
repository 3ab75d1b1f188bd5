/**
 * How the collection's configuration and the server's options determine the storage and the search of
 * vectors: service-2 "Collection configuration", algorithms.md section 7, decision 0133.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type DocumentJson, DocumentsClient, type Fields } from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'

const DIMENSIONS = 64
/** Enough for a search by codes: fewer vectors are compared one by one, exactly. */
const DOCUMENTS = 2200
const WORDS = ['otter', 'river', 'fish', 'heron', 'bank', 'lynx', 'forest', 'snow', 'hare', 'owl', 'night', 'marsh']

interface Found {
  readonly results: readonly { readonly document: DocumentJson; readonly score: number }[]
  readonly algorithm: string
}

/** A unique combination of words for each number. */
function textOf(at: number): string {
  return `${WORDS[at % 12]} ${WORDS[Math.floor(at / 12) % 12]} ${WORDS[Math.floor(at / 144) % 12]} place${at % 37} time${at % 41}`
}

describe('vector quantization', () => {
  let provider: EmbeddingServer
  let directory: string
  let client: DocumentsClient
  const begin = (env: Readonly<Record<string, string>> = {}): Promise<DocumentsClient> =>
    DocumentsClient.start({ directory, env: embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS), ...env }) })

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mds-quantization-'))
    provider = await EmbeddingServer.start()
    provider.dimensions = DIMENSIONS
    client = await begin()
    const documents = Array.from({ length: DOCUMENTS }, (_, at) => ({ key: `doc-${at}`, lang: 'en', contentMd: textOf(at) }))
    await configure({ quantization: 'float32' })
    for (let at = 0; at < DOCUMENTS; at += 550) await client.addBatch('places', documents.slice(at, at + 550))
    await whenEmbedded(client.server, { places: DOCUMENTS })
  })
  after(async () => {
    await client.stop()
    await provider.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const configure = async (fields: Fields): Promise<void> => {
    const answer = await client.server.request('PUT', '/v1/collection-config', { collection: 'places', ...fields })
    assert.equal(answer.status, 200, answer.text)
  }
  const ask = async (text: string, more: Fields = {}): Promise<Found> => {
    const queryVector = [...embedText(text, DIMENSIONS)]
    const answer = await client.post('/v1/vector-search', { collection: 'places', queryVector, topK: 10, threshold: -1, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Found>()
  }
  /** New vectors are stored in files some seconds after the last write. */
  const whenStored = async (bytes: number): Promise<void> => {
    const folder = join(directory, 'gen-000001', 'vectors')
    for (const end = performance.now() + 30_000; ;) {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.rows'))
      const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
      if (sizes.some((size) => size >= bytes)) return
      assert.ok(performance.now() < end, `files of ${sizes.join(', ')} bytes`)
      await ask(textOf(1))
    }
  }
  /**
   * For some queries: the share of the best ten by full-precision vectors that is found. Also checks that the
   * scores are those of full precision.
   */
  const recall = async (algorithm: string, more: Fields = {}): Promise<number> => {
    let found = 0
    for (let at = 3; at < 400; at += 40) {
      const exact = new Map((await ask(textOf(at), { algorithm: 'flat' })).results.map(({ document, score }) => [document.key, score]))
      const answer = await ask(textOf(at), more)
      assert.equal(answer.algorithm, algorithm)
      for (const { document, score } of answer.results) {
        const wanted = exact.get(document.key)
        if (wanted !== undefined) assert.equal(score, wanted)
        found += wanted === undefined ? 0 : 1
      }
    }
    return found / 100
  }

  it('vector quantization: a collection of int8 or int4 is searched by its codes, by others where the request names them', async () => {
    assert.equal(await recall('flat'), 1)
    assert.equal(await recall('quantized', { algorithm: 'quantized' }), 1, 'of float32')
    for (const quantization of ['int8', 'int4']) {
      await configure({ quantization })
      assert.ok((await recall('quantized')) >= 0.95, quantization)
      assert.equal(await recall('flat', { algorithm: 'flat' }), 1)
      assert.ok((await recall('hnsw', { algorithm: 'hnsw' })) >= 0.9)
    }
    const hybrid = await client.post('/v1/hybrid-search', { collection: 'places', query: textOf(3), topK: 3 })
    assert.equal(hybrid.json<{ vectorAlgorithm: string }>().vectorAlgorithm, 'quantized')
    await configure({ quantization: 'float32' })
    assert.equal(await recall('flat'), 1)
  })

  it('vector quantization: disk_only_vectors: full vectors are stored in files, and are read after a start', async () => {
    await configure({ quantization: 'int8', disk_only_vectors: true })
    const { config } = (await client.server.get('/v1/collection-config?collection=places')).json<{ config: Fields }>()
    assert.deepEqual([config.disk_only_vectors, config.diskOnlyVectors], [true, true])
    const before = await ask(textOf(7))
    await whenStored(DOCUMENTS * DIMENSIONS * Float32Array.BYTES_PER_ELEMENT)
    await client.stop()
    client = await begin()
    const asked = provider.requests.length
    assert.deepEqual((await ask(textOf(7))).results, before.results)
    assert.equal(provider.requests.length, asked, 'nothing is embedded again')
    await configure({ quantization: 'float32', disk_only_vectors: false })
  })

  it('vector quantization: SVC_VECTOR_DEFAULT_ALGORITHM applies to a search that names no algorithm', async () => {
    await client.stop()
    client = await begin({ SVC_VECTOR_DEFAULT_ALGORITHM: 'hnsw' })
    assert.ok((await recall('hnsw')) >= 0.9)
    assert.equal((await ask(textOf(1), { algorithm: 'sq' })).algorithm, 'sq')
    await configure({ quantization: 'int4' })
    assert.equal((await ask(textOf(1))).algorithm, 'quantized', 'a collection says more than the server')
    await configure({ quantization: 'float32' })
  })
})
