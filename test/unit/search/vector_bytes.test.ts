/** The encoding of requests to the vector engine: docs/formats/vector-index.md. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NO_POLL_WORD } from '../../../src/engine/search/search_plan.js'
import { encodeVectorRequest } from '../../../src/engine/vectors/vector_bytes.js'
import { openVectorEngine } from '../../../src/engine/vectors/vector_engine.js'
import type { VectorQuantization, VectorSearchRequest } from '../../../src/engine/vectors/vector_types.js'

const REQUEST: VectorSearchRequest = {
  ...{ collection: 5, query: new Float32Array([1, 2]), k: 3, threshold: 0, metric: 'cosine' },
  ...{ algorithm: 'quantized', oversample: 1, quantization: 'float32' },
}
const TUNING = { bqRerankFactor: 7, workers: 2, parallelMinSize: 4096 }

it("vector request: what quantized stands for is the collection's, and the options of the server go with it", () => {
  const codeOf = (quantization: VectorQuantization): number =>
    Buffer.from(encodeVectorRequest({ ...REQUEST, quantization }, TUNING, NO_POLL_WORD)).readUInt32LE(8)
  assert.deepEqual([codeOf('float32'), codeOf('int8'), codeOf('int4')], [0, 5, 6])
  const bytes = Buffer.from(encodeVectorRequest(REQUEST, TUNING, NO_POLL_WORD))
  assert.deepEqual([bytes.readUInt32LE(56), bytes.readUInt32LE(60), bytes.readUInt32LE(64)], [7, 2, 4096])
})

it('vector request: of a fraction of a candidate the whole is wanted', () => {
  const candidatesOf = (oversample: number): number =>
    Buffer.from(encodeVectorRequest({ ...REQUEST, k: 10, oversample }, TUNING, NO_POLL_WORD)).readUInt32LE(20)
  assert.deepEqual([1, 1.9, 2.51, 10].map(candidatesOf), [10, 19, 26, 100])
})

it('vector request: the engine refuses options that are out of range', () => {
  assert.deepEqual(openVectorEngine(TUNING).search(REQUEST).hits, [])
  for (const wrong of [{ bqRerankFactor: 0 }, { bqRerankFactor: 1001 }, { workers: 0 }, { workers: 17 }])
    assert.throws(() => openVectorEngine({ ...TUNING, ...wrong }).search(REQUEST), /out of range/)
})
