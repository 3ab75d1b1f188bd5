/**
 * Aggregation by the native engine, called through the addon as a lane does, compared with a scan of the
 * documents: values of any text, several segments, deletes, filters, documents that do not count.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { passesFilter } from '../../../src/domain/documents/metadata.js'
import { Aggregation } from '../../../src/domain/listing/aggregation.js'
import { bucketsOf } from '../../../src/domain/search/facets.js'
import { type FilterInput, parseFilters } from '../../../src/domain/search/filters.js'
import { encodeDelete, encodeUpsert, joinBatch, stampUpsert } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import type { TimeInterval } from '../../../src/engine/types.js'
import { holds } from '../../harness/property.js'

interface Counted {
  readonly docid: number
  readonly addedAt: number
  readonly updatedAt: number
  readonly meta: Readonly<Record<string, readonly string[]>>
}

const engine = openEngine()
let collections = 9000
let lsn = 0n

function upsert(collection: number, { docid, addedAt, updatedAt, meta }: Counted): Uint8Array {
  const pairs = Object.entries(meta).flatMap(([key, values]) => [...new Set(values)].map((value) => [key, value] as const))
  const op = encodeUpsert({ collection, key: `k${docid}`, lang: 'en', meta: pairs, fields: [] })
  stampUpsert(op, { collection, docid, lsn: ++lsn, addedAt, updatedAt })
  return op
}

/** First second of the bucket, by JavaScript's calendar. */
function bucketStart(seconds: number, interval: TimeInterval): number {
  const date = new Date(seconds * 1000)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  const start = new Date(0)
  if (interval === 'year') start.setUTCFullYear(year, 0, 1)
  else if (interval === 'month') start.setUTCFullYear(year, month, 1)
  else start.setUTCFullYear(year, month, interval === 'week' ? day - ((date.getUTCDay() + 6) % 7) : day)
  return start.getTime() / 1000
}

const time = fc.oneof(fc.integer({ min: 1_600_000_000, max: 1_603_000_000 }), fc.integer({ min: -70_000_000_000, max: 250_000_000_000 }))
const value = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 3 }), fc.constantFrom('a', 'b', '\ue000', '\uffee', '😀', ''))
const document = fc.record({
  addedAt: time,
  updatedAt: fc.constantFrom(1_600_000_000, 1_600_086_400, 0),
  meta: fc.record({ all: fc.constant(['x']), odd: fc.array(value, { minLength: 1, maxLength: 3 }), n: fc.tuple(fc.integer({ min: 0, max: 900 }).map(String)), half: fc.subarray(['p', 'q'], { minLength: 1 }) }, { requiredKeys: ['all'] }), // prettier-ignore
})
const intervals: readonly TimeInterval[] = ['day', 'week', 'month', 'year']

test('counts are those of a scan, with filters, deletes and documents that do not count', () => {
  for (const size of [1, 90, 4000]) {
    const collection = ++collections
    const documents = fc.sample(document, size).map((each, docid): Counted => ({ docid, ...each }))
    for (let begin = 0; begin < size; begin += Math.ceil(size / 4))
      engine.publish(joinBatch(documents.slice(begin, begin + Math.ceil(size / 4)).map((each) => upsert(collection, each)), lsn)) // prettier-ignore
    let live: readonly Counted[] = documents
    for (const deletes of [0, size / 10]) {
      const dead = new Set(fc.sample(fc.integer({ min: 0, max: size - 1 }), deletes))
      if (dead.size > 0) engine.publish(joinBatch([...dead].map((docid) => encodeDelete(collection, docid, ++lsn)), lsn)) // prettier-ignore
      live = live.filter(({ docid }) => !dead.has(docid))
      holds(
        fc.property(
          fc.constantFrom<FilterInput>({}, { filterMeta: { half: ['p'] } }, { hasMeta: ['half'], filterMeta: { all: ['x'] } }, { filterMeta: { n: ['7', '8'] } }, { hasMeta: ['none'] }, { filterMeta: { all: [] } }), // prettier-ignore
          fc.uniqueArray(fc.constantFrom('all', 'odd', 'meta.n', 'half', 'none')),
          fc.constantFrom('count', 'value'),
          fc.constantFrom(...intervals),
          fc.integer({ min: 1, max: 60 }),
          fc.uniqueArray(fc.integer({ min: 0, max: size }), { maxLength: 3 }),
          (filters, fields, orderBy, interval, maxFacetSize, absent) => {
            const aggregation = new Aggregation({
              ...filters,
              facets: fields.map((field) => ({ field, orderBy })),
              histograms: [{ field: 'addedAt', interval }, { field: 'updatedAt' }],
              maxFacetSize,
            })
            const found = aggregation.result(engine.aggregate(aggregation.request(collection, absent)))
            const counted = live.filter(({ docid, meta }) => !absent.includes(docid) && passesFilter(meta, parseFilters(filters)))
            assert.equal(found.totalDocs, counted.length)
            for (const field of fields) {
              const counts = new Map<string, number>()
              const key = field.replace('meta.', '') as 'all'
              for (const { meta } of counted) for (const each of new Set(meta[key])) counts.set(each, (counts.get(each) ?? 0) + 1)
              const buckets = bucketsOf(counts)
              if (orderBy === 'value') buckets.sort((one, other) => (one.value < other.value ? -1 : 1))
              assert.deepEqual(found.facets[field], buckets.slice(0, maxFacetSize))
            }
            const days = new Map<number, number>()
            for (const { addedAt } of counted) days.set(bucketStart(addedAt, interval), (days.get(bucketStart(addedAt, interval)) ?? 0) + 1)
            assert.deepEqual(
              found.histograms.addedAt?.map(({ from, count }) => [from, count]),
              [...days].sort(([one], [other]) => one - other).slice(-1000),
            )
            for (const { from, to } of found.histograms.addedAt ?? []) assert.equal(bucketStart(to, interval), to, `ends at ${from}`)
          },
        ),
        { numRuns: 120 },
      )
    }
  }
})

test('an aggregation of more values than it may count says so, and one that is stopped', () => {
  const collection = ++collections
  const documents = Array.from({ length: 3000 }, (_, docid): Counted => ({
    docid,
    addedAt: 0,
    updatedAt: 0,
    meta: { id: [String(docid)] },
  }))
  engine.publish(joinBatch(documents.map((each) => upsert(collection, each)), lsn)) // prettier-ignore
  const request = { ...new Aggregation({ facets: [{ field: 'id' }] }).request(collection, []) }
  assert.equal(engine.aggregate({ ...request, valuesMax: 3000 }).isCut, false)
  assert.equal(engine.aggregate({ ...request, valuesMax: 2999 }).isCut, true)
  const stopped = engine.aggregate(request, { control: new Int32Array([0, 1]), byteOffset: 4 })
  assert.equal(stopped.isStopped, true)
})
