/**
 * Histogram buckets: boundaries of days, weeks, months and years in UTC, as defined by ISO 8601, and the
 * limit of their number.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Aggregation, type HistogramBucket } from '../../../src/domain/listing/aggregation.js'
import { encodeUpsert, joinBatch, stampUpsert } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'

const engine = openEngine()
let collection = 0
let lsn = 0n

/** The buckets of documents added at these times. */
function buckets(interval: string, times: readonly string[]): readonly HistogramBucket[] {
  collection++
  const ops = times.map((time, docid) => {
    const op = encodeUpsert({ collection, key: String(docid), lang: 'en', meta: [], fields: [] })
    stampUpsert(op, { collection, docid, lsn: ++lsn, addedAt: Date.parse(time) / 1000, updatedAt: 0 })
    return op
  })
  engine.publish(joinBatch(ops, lsn))
  const aggregation = new Aggregation({ histograms: [{ field: 'addedAt', interval }] })
  return aggregation.result(engine.aggregate(aggregation.request(collection, []))).histograms.addedAt ?? []
}

describe('histograms', () => {
  it('a week begins on Monday and belongs to the year of its Thursday', () => {
    // Sunday, Monday, the last Thursday of week 53 of 2020, a Monday that belongs to the next year.
    const weeks = { '2024-01-07T23:59:59Z': '2024-W01', '2024-01-08T00:00:00Z': '2024-W02', '2021-01-03T12:00:00Z': '2020-W53', '2024-12-30T00:00:00Z': '2025-W01', '1969-12-31T00:00:00Z': '1970-W01' } // prettier-ignore
    for (const [time, key] of Object.entries(weeks)) {
      const [bucket] = buckets('week', [time])
      assert.equal(bucket?.key, key, time)
      assert.equal(new Date((bucket?.from ?? 0) * 1000).getUTCDay(), 1)
      assert.equal((bucket?.to ?? 0) - (bucket?.from ?? 0), 7 * 86_400)
      assert.ok((bucket?.from ?? 0) <= Date.parse(time) / 1000 && Date.parse(time) / 1000 < (bucket?.to ?? 0))
    }
  })

  it('months and years end where the next begin, buckets stand in time order without empty ones', () => {
    const found = buckets('month', ['2024-03-01T00:00:00Z', '2023-12-31T23:59:59Z', '2024-02-29T23:59:59Z', '2024-02-01T00:00:00Z'])
    assert.deepEqual(
      found.map(({ key, count }) => [key, count]),
      [
        ['2023-12', 1],
        ['2024-02', 2],
        ['2024-03', 1],
      ],
    )
    assert.equal(found[1]?.to, found[2]?.from)
    const [year] = buckets('year', ['2024-12-31T23:59:59Z'])
    assert.deepEqual([year?.key, year?.from, year?.to], ['2024', Date.UTC(2024, 0) / 1000, Date.UTC(2025, 0) / 1000])
    assert.equal(buckets('day', ['2024-02-29T12:00:00Z'])[0]?.key, '2024-02-29')
  })

  it('of more than 1 000 buckets the newest are shown', () => {
    const days = Array.from({ length: 1200 }, (_, day) => new Date(day * 86_400_000).toISOString())
    const found = buckets('day', days)
    assert.deepEqual([found.length, found.at(-1)?.key, found[0]?.key], [1000, days.at(-1)?.slice(0, 10), days[200]?.slice(0, 10)])
  })
})
