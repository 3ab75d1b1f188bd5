/**
 * Vector search through the addon, called as a lane does, compared with an exact search over plain arrays:
 * histories of sets, updates and removes, documents of one and of several chunks, vectors of any length, all
 * metrics, thresholds, metadata filters. Approximate kinds are exact for such small sets; flat is always
 * exact.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeUpsert, joinBatch, stampUpsert } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import { encodeVectorBatch, encodeVectorStamps } from '../../../src/engine/vectors/vector_bytes.js'
import { openVectorEngine } from '../../../src/engine/vectors/vector_engine.js'
import type { SimilarGroup, VectorChange, VectorHits, VectorMetric, VectorSearchRequest } from '../../../src/engine/vectors/vector_types.js'
import { holds } from '../../harness/property.js'

interface Known {
  readonly lsn: bigint
  readonly dimensions: number
  readonly vectors: Float32Array
}
interface Scored {
  readonly docid: number
  readonly chunk: number
  readonly score: number
}

const engine = openVectorEngine()
const fulltext = openEngine()
let collections = 7000
let lsn = 0n

function score(metric: VectorMetric, a: Float32Array, b: Float32Array): number {
  let dot = 0
  let squaresA = 0
  let squaresB = 0
  let squares = 0
  for (let at = 0; at < a.length; at++) {
    dot += a[at]! * b[at]!
    squaresA += a[at]! ** 2
    squaresB += b[at]! ** 2
    squares += (a[at]! - b[at]!) ** 2
  }
  if (metric === 'dot_product') return dot
  if (metric === 'euclidean') return 1 / (1 + Math.sqrt(squares))
  return squaresA === 0 || squaresB === 0 ? 0 : dot / Math.sqrt(squaresA * squaresB)
}

/** The best chunk of each document, best first. */
function exactSearch(documents: ReadonlyMap<number, Known>, request: VectorSearchRequest, passes: (docid: number) => boolean): Scored[] {
  const dimensions = request.query.length
  const best: Scored[] = []
  for (const [docid, known] of documents) {
    if (known.dimensions !== dimensions || !passes(docid)) continue
    const chunks = Array.from({ length: known.vectors.length / dimensions }, (_, chunk) => ({
      docid,
      chunk,
      score: score(request.metric, request.query, known.vectors.subarray(chunk * dimensions, (chunk + 1) * dimensions)),
    }))
    best.push(chunks.reduce((first, second) => (second.score > first.score ? second : first)))
  }
  return best
    .filter((hit) => hit.score >= request.threshold)
    .sort((a, b) => b.score - a.score || a.docid - b.docid)
    .slice(0, request.k)
}

/** Sums are rounded differently: documents may swap ranks only with others of nearly the same score. */
function assertSame(
  found: VectorHits,
  wanted: readonly Scored[],
  documents: ReadonlyMap<number, Known>,
  request: VectorSearchRequest,
): void {
  const scale = Math.max(1, ...wanted.map((hit) => Math.abs(hit.score)))
  assert.equal(found.hits.length, wanted.length)
  assert.ok(found.exact && found.complete)
  assert.equal(new Set(found.hits.map((hit) => hit.docid)).size, found.hits.length)
  for (const [index, hit] of found.hits.entries()) {
    const known = documents.get(hit.docid)!
    const vector = known.vectors.subarray(hit.chunk * known.dimensions, (hit.chunk + 1) * known.dimensions)
    assert.equal(hit.lsn, known.lsn)
    assert.ok(Math.abs(hit.score - score(request.metric, request.query, vector)) <= 1e-5 * scale, `score of docid ${hit.docid}`)
    assert.ok(Math.abs(hit.score - wanted[index]!.score) <= 1e-5 * scale, `hit ${index}: ${hit.score}, expected ${wanted[index]!.score}`)
  }
}

// Vector lengths are stored as floats, which are imprecise for numbers close to zero.
const number = fc.double({ min: -1, max: 1, noNaN: true }).map((drawn) => (Math.abs(drawn) < 1e-30 ? 0 : drawn))
const element = fc.oneof({ weight: 6, arbitrary: number }, fc.constantFrom(0, 0, 1, -1, 1000, 1e-6))
function vector(dimensions: number): fc.Arbitrary<Float32Array> {
  return fc.array(element, { minLength: dimensions, maxLength: dimensions }).map((values) => Float32Array.from(values))
}
function vectors(dimensions: number, chunksMax: number): fc.Arbitrary<Float32Array> {
  return fc
    .array(vector(dimensions), { minLength: 1, maxLength: chunksMax })
    .map((chunks) => Float32Array.from(chunks.flatMap((chunk) => [...chunk])))
}
const dimensionsOf = fc.constantFrom(3, 64, 100)
const change = fc.record({
  docid: fc.integer({ min: 1, max: 60 }),
  remove: fc.integer({ min: 0, max: 4 }).map((draw) => draw === 0),
  vectors: dimensionsOf.chain((dimensions) => vectors(dimensions, 4).map((values) => ({ dimensions, values }))),
})
const request = fc.record({
  query: dimensionsOf.chain(vector),
  k: fc.integer({ min: 1, max: 70 }),
  // Thresholds that no sum of small numbers can equal.
  threshold: fc.constantFrom(-Infinity, -1e9, 0.01737, 0.30171),
  metric: fc.constantFrom<VectorMetric>('cosine', 'dot_product', 'euclidean'),
  algorithm: fc.constantFrom('flat', 'hnsw', 'quantized'),
  oversample: fc.constant(10),
  quantization: fc.constantFrom('float32', 'int8'),
})

test('hits are those of an exact search, whatever was set, replaced and removed before', () => {
  holds(
    fc.property(
      fc.array(fc.array(change, { minLength: 1, maxLength: 30 }), { maxLength: 5 }),
      fc.array(request, { minLength: 1, maxLength: 8 }),
      (batches, requests) => {
        const collection = ++collections
        const documents = new Map<number, Known>()
        for (const batch of batches) {
          const changes = batch.map((each): VectorChange => {
            lsn += 1n
            if (each.remove) {
              documents.delete(each.docid)
              return { kind: 'remove', collection, docid: each.docid, lsn }
            }
            const { dimensions, values } = each.vectors
            documents.set(each.docid, { lsn, dimensions, vectors: values })
            return { kind: 'set', collection, docid: each.docid, lsn, dimensions, vectors: values }
          })
          engine.apply(encodeVectorBatch(changes))
        }
        for (const each of requests) {
          const asked = { ...each, collection }
          const wanted = exactSearch(documents, asked, () => true)
          const found = engine.search(asked)
          // More than `rescored` documents may be judged by codes alone.
          assertSame(
            asked.algorithm === 'quantized' && !found.exact ? engine.search({ ...asked, algorithm: 'flat' }) : found,
            wanted,
            documents,
            asked,
          )
        }
        engine.apply(encodeVectorBatch([{ kind: 'drop', collection }]))
        for (const each of requests) assert.equal(engine.search({ ...each, collection }).hits.length, 0)
      },
    ),
    { numRuns: 150 },
  )
})

test('a metadata filter lets in what the full-text engine has under it', () => {
  const collection = ++collections
  const documents = new Map<number, Known>()
  const changes: VectorChange[] = []
  const upserts: Uint8Array[] = []
  const dimensions = 24
  for (const [index, values] of fc.sample(vectors(dimensions, 3), 3000).entries()) {
    const docid = index + 1
    const meta = [['tag', `t${docid % 10}`], ['n', String(docid)]] as const // prettier-ignore
    const op = encodeUpsert({ collection, key: `k${docid}`, lang: 'en', meta, fields: [] })
    stampUpsert(op, { collection, docid, lsn: ++lsn, addedAt: docid, updatedAt: docid })
    upserts.push(op)
    documents.set(docid, { lsn, dimensions, vectors: values })
    changes.push({ kind: 'set', collection, docid, lsn, dimensions, vectors: values })
  }
  fulltext.publish(joinBatch(upserts, lsn))
  engine.apply(encodeVectorBatch(changes))
  const asked: VectorSearchRequest = { collection, query: fc.sample(vector(dimensions), 1)[0]!, k: 20, threshold: -Infinity, metric: 'cosine', algorithm: 'flat', oversample: 1, quantization: 'float32' } // prettier-ignore
  const cases: readonly [VectorSearchRequest['filter'] & object, (docid: number) => boolean][] = [
    [{ filters: [['tag', ['t3']]] }, (docid) => docid % 10 === 3],
    [{ filters: [['tag', ['t3', 't4']], ['n', ['13', '14', '15']]] }, (docid) => docid === 13 || docid === 14], // prettier-ignore
    [{ filters: [['tag', ['none']]] }, () => false],
    [{ filters: [], ranges: [{ of: { key: 'n' }, bounds: [['gte', 100], ['lt', 140]] }] }, (docid) => docid >= 100 && docid < 140], // prettier-ignore
  ]
  for (const [filter, passes] of cases)
    assertSame(engine.search({ ...asked, filter }), exactSearch(documents, asked, passes), documents, asked)
})

test('compare removes vectors that truth does not have and requests missing ones', () => {
  const collection = ++collections
  const one = Float32Array.of(1, 0, 0)
  const set = (docid: number, at: bigint): VectorChange => ({ kind: 'set', collection, docid, lsn: at, dimensions: 3, vectors: one })
  engine.apply(encodeVectorBatch([set(1, 5n), set(2, 6n), set(3, 7n)]))
  const stamp = (docid: number, at: bigint, dimensions = 3) => ({ collection, docid, lsn: at, dimensions })
  const missing = engine.compare(encodeVectorStamps([stamp(1, 5n), stamp(2, 9n), stamp(4, 8n), stamp(5, 8n, 7)]))
  assert.deepEqual([...missing], [collection, 2, collection, 4, collection, 5])
  const hits = engine.search({ collection, query: one, k: 10, threshold: 0, metric: 'cosine', algorithm: 'flat', oversample: 1, quantization: 'float32' }).hits // prettier-ignore
  assert.deepEqual(
    hits.map(({ docid }) => docid),
    [1],
  )
})

test('invalid batches, requests and vectors are refused and change nothing', () => {
  const collection = ++collections
  const bad = [NaN, Infinity, 1e30].map((value): VectorChange[] => [{ kind: 'set', collection, docid: 1, lsn: 1n, dimensions: 2, vectors: Float32Array.of(1, value) }]) // prettier-ignore
  for (const changes of bad) assert.throws(() => engine.apply(encodeVectorBatch(changes)), /vector batch/)
  const good = encodeVectorBatch([{ kind: 'set', collection, docid: 1, lsn: 1n, dimensions: 2, vectors: Float32Array.of(1, 2) }])
  for (let bytes = 0; bytes < good.length; bytes++) assert.throws(() => engine.apply(good.subarray(0, bytes)), /vector batch/)
  assert.equal(engine.stats().some((set) => set.collection === collection), false) // prettier-ignore
  assert.throws(() => engine.search({ collection, query: Float32Array.of(NaN), k: 1, threshold: 0, metric: 'cosine', algorithm: 'flat', oversample: 1, quantization: 'float32' }), /vector search/) // prettier-ignore
})

test('a set stop word ends a search', () => {
  const collection = ++collections
  const dimensions = 64
  const changes = fc
    .sample(vector(dimensions), 5000)
    .map((vectors, docid): VectorChange => ({ kind: 'set', collection, docid, lsn: ++lsn, dimensions, vectors }))
  engine.apply(encodeVectorBatch(changes))
  const control = new Int32Array(new SharedArrayBuffer(16))
  const asked: VectorSearchRequest = { collection, query: new Float32Array(dimensions).fill(1), k: 5, threshold: -1, metric: 'cosine', algorithm: 'flat', oversample: 1, quantization: 'float32' } // prettier-ignore
  assert.ok(engine.search(asked, { control, byteOffset: 8 }).complete)
  control[2] = 1
  assert.equal(engine.search(asked, { control, byteOffset: 8 }).complete, false)
})

test('distances are computed by vector instructions where the processor has them', () => {
  if (process.arch === 'x64' && fulltext.stats().isa === 'avx2') assert.notEqual(engine.isa, 'serial')
  assert.ok(['serial', 'haswell', 'icelake', 'neonsdot'].includes(engine.isa))
})

test('MMR chooses the best first, then those that differ most from the chosen ones', () => {
  const collection = ++collections
  const vectorsOf: Readonly<Record<number, readonly number[]>> = {
    1: [1, 0.1, 0],
    2: [1, 0.11, 0],
    3: [1, 0.12, 0],
    4: [0.8, 0, 0.6],
    5: [0, 1, 0],
  }
  const changes = Object.entries(vectorsOf).map(([docid, values]): VectorChange => ({ kind: 'set', collection, docid: Number(docid), lsn: 1n, dimensions: 3, vectors: Float32Array.from(values) })) // prettier-ignore
  engine.apply(encodeVectorBatch(changes))
  const asked: VectorSearchRequest = { collection, query: Float32Array.of(1, 0, 0.1), k: 3, threshold: -1, metric: 'cosine', algorithm: 'flat', oversample: 10, quantization: 'float32' } // prettier-ignore
  const docids = (mmrLambda?: number) =>
    engine.search({ ...asked, ...(mmrLambda === undefined ? {} : { mmrLambda }) }).hits.map(({ docid }) => docid)
  assert.deepEqual(docids(), [1, 2, 3])
  assert.deepEqual(docids(1), [1, 2, 3])
  assert.deepEqual(docids(0.5).slice(0, 2), [1, 4])
  assert.deepEqual(docids(0).slice(0, 2), [1, 5])
})

/** Compares every pair of first vectors and joins groups by walking from member to member. */
function comparedGroups(vectorsOf: readonly Float32Array[], threshold: number): SimilarGroup[] {
  const scores = vectorsOf.map((a, first) => vectorsOf.map((b, second) => (first === second ? -Infinity : score('cosine', a, b))))
  const met = new Set<number>()
  const groups: SimilarGroup[] = []
  for (const [first] of vectorsOf.entries()) {
    if (met.has(first)) continue
    met.add(first)
    const members = [first]
    for (const member of members)
      for (const [other, cosine] of scores[member]!.entries())
        if (cosine >= threshold && !met.has(other)) members.push(met.add(other) && other)
    if (members.length < 2) continue
    members.sort((one, other) => one - other)
    const above = members.flatMap((member) => scores[member]!.filter((cosine) => cosine >= threshold))
    groups.push({
      score: above.reduce((sum, cosine) => sum + cosine, 0) / above.length,
      members: members.map((docid) => ({ docid, score: Math.max(...scores[docid]!) })),
    })
  }
  return groups
}

/** Sums are rounded differently. */
function assertSameGroups(found: readonly SimilarGroup[], wanted: readonly SimilarGroup[]): void {
  const docids = (groups: readonly SimilarGroup[]) => groups.map(({ members }) => members.map(({ docid }) => docid))
  const scores = (groups: readonly SimilarGroup[]) =>
    groups.flatMap((group) => [group.score, ...group.members.map((member) => member.score)])
  assert.deepEqual(docids(found), docids(wanted))
  const expected = scores(wanted)
  for (const [at, each] of scores(found).entries()) assert.ok(Math.abs(each - expected[at]!) <= 1e-6, `${each}, expected ${expected[at]}`)
}

function give(collection: number, dimensions: number, vectorsOf: readonly Float32Array[]): void {
  engine.apply(encodeVectorBatch(vectorsOf.map((values, docid): VectorChange => ({ kind: 'set', collection, docid, lsn: ++lsn, dimensions, vectors: values })))) // prettier-ignore
}

test('similar documents are those of a comparison of all first chunks, joined', () => {
  const dimensions = 16
  holds(
    fc.property(
      fc.array(vectors(dimensions, 2), { minLength: 2, maxLength: 80 }),
      fc.constantFrom(-0.2007, 0.4013, 0.8019, 0.9991),
      fc.integer({ min: 1, max: 90 }),
      (all, threshold, docidMax) => {
        const collection = ++collections
        const copies = [...all, ...all.slice(0, 5)]
        give(collection, dimensions, copies)
        const looked = copies.slice(0, docidMax + 1).map((values) => values.subarray(0, dimensions))
        const { groups, documents, complete } = engine.similar({ collection, dimensions, threshold, docidMax })
        assertSameGroups(groups, comparedGroups(looked, threshold))
        assert.deepEqual([documents, complete], [looked.length, true])
        engine.apply(encodeVectorBatch([{ kind: 'drop', collection }]))
      },
    ),
    { numRuns: 60 },
  )
})

test('however many pairs there are, none is left out: 700 equal documents and two others', () => {
  const [collection, dimensions] = [++collections, 3]
  const equal = Array.from({ length: 700 }, () => Float32Array.of(1, 0, 0))
  give(collection, dimensions, [...equal, Float32Array.of(0, 1, 0), Float32Array.of(0, 1, 0.01)])
  const { groups } = engine.similar({ collection, dimensions, threshold: 0.9, docidMax: 1000 })
  assert.deepEqual(
    groups.map(({ members }) => [members.length, members[0]?.docid]),
    [
      [700, 0],
      [2, 700],
    ],
  )
})

test('of many documents each is compared with its nearest: twins are found before the graph knows them, and after', () => {
  const [collection, dimensions, singles, twins] = [++collections, 24, 9000, 300]
  const random = (at: number, number: number): number => (Math.sin(at * 12.9898 + number * 78.233) * 43_758.5453) % 1
  const all = Array.from({ length: singles }, (_, at) => Float32Array.from({ length: dimensions }, (_, number) => random(at, number)))
  give(collection, dimensions, all)
  engine.settle()
  const graphSlots = () => engine.stats().find((set) => set.collection === collection)?.graphSlots
  const groups = () => {
    const found = engine.similar({ collection, dimensions, threshold: 0.999, docidMax: 1e6 })
    return found.groups.map(({ members }) => members.map(({ docid }) => docid).join(' '))
  }
  assert.deepEqual([graphSlots(), groups()], [singles, []])
  const wanted = Array.from({ length: twins }, (_, at) => ({ first: at * 17, docid: singles + at }))
  const changes = wanted.map(({ first, docid }): VectorChange => ({ kind: 'set', collection, docid, lsn: ++lsn, dimensions, vectors: all[first]!.map((value, at) => value * (1 + 0.001 * (at % 3))) })) // prettier-ignore
  engine.apply(encodeVectorBatch(changes))
  const pairs = wanted.map(({ first, docid }) => `${first} ${docid}`)
  assert.deepEqual([graphSlots(), groups()], [singles, pairs])
  engine.settle()
  assert.deepEqual([graphSlots(), groups()], [singles + twins, pairs])
})
