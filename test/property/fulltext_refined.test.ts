/**
 * Ranges and boosts: a refined search that asks the engine for few hits at a time equals one that scores every match; and ranges against what they mean.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { factorMaxOf, factorOf, readBoosts } from '../../src/domain/fulltext/boosts.js'
import { passesRanges, readRanges } from '../../src/domain/fulltext/ranges.js'
import { searchRefined } from '../../src/domain/fulltext/refined_search.js'
import type { Hit, SearchEngine, SearchPlan } from '../../src/engine/types.js'
import type { TruthStore } from '../../src/store/truth_store.js'
import type { View } from '../../src/store/view.js'

interface Indexed {
  readonly score: number
  readonly tags: readonly string[]
  readonly price: number
}

const document: fc.Arbitrary<Indexed> = fc.record({
  score: fc.constantFrom(0.5, 1, 2, 2, 4, 8),
  tags: fc.subarray(['a', 'b', 'c']),
  price: fc.integer({ min: 0, max: 9 }),
})
const factor = fc.constantFrom(-1000, -4, -2, 2, 3, 1000)
const boosts = fc.dictionary(fc.constantFrom('tags:a', 'tags:b', 'price:3', 'none:x'), factor)
const PLAN: SearchPlan = { collection: 1, algorithm: 'bm25', k1: 1.2, b: 0.75, k: 0, skip: 0, sort: 'score', descending: true, exactTotal: false, fields: [], filters: [], terms: [], root: { kind: 'all' } } // prettier-ignore
/** Different for the first 10 007, and in another order than the docids. */
const keyOf = (docid: number): string => `k${String((docid * 7919) % 10_007).padStart(5, '0')}`

/** An engine and a store over documents by docid; the engine gives what it is asked for and no more. */
function tools(documents: readonly Indexed[]) {
  const order = documents
    .map(({ score }, docid): Hit => ({ docid, score, lsn: 1n, matched: [] }))
    .sort((one, other) => other.score - one.score || (keyOf(one.docid) < keyOf(other.docid) ? -1 : 1))
  const asked: number[] = []
  const engine = {
    search: ({ k }: SearchPlan) => {
      asked.push(k)
      return { total: order.length, hits: order.slice(0, k), lsn: 1n, docCount: order.length, complete: true }
    },
  } as unknown as SearchEngine
  const view = {
    head: (_: number, docid: number) => {
      const { tags, price } = documents[docid] as Indexed
      const json = JSON.stringify({ key: keyOf(docid), lang: 'en', meta: { tags, price: [String(price)] } })
      return { addedAt: docid, updatedAt: docid, json: Buffer.from(json.slice(0, -1)), meta: Buffer.from('{}') }
    },
  } as unknown as View
  const store = { read: <T>(run: (view: View) => T): T => run(view) } as unknown as TruthStore
  return { engine, store, asked }
}

test('a refined search equals scoring every match', () => {
  fc.assert(
    fc.property(
      fc.array(document, { maxLength: 1500, minLength: 1, size: 'max' }),
      boosts,
      fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
      fc.integer({ min: 1, max: 80 }),
      fc.boolean(),
      (documents, boost, priceMin, k, exactTotal) => {
        const refinement = {
          ranges: readRanges(priceMin === undefined ? [] : [{ field: 'price', gte: priceMin }]),
          boosts: readBoosts(boost),
        }
        const found = searchRefined(tools(documents), { ...PLAN, k, exactTotal }, refinement, { shouldStop: () => false })
        const all = documents
          .map(({ score, tags, price }, docid) => ({
            docid,
            score: score * factorOf(refinement.boosts, { tags, price: [String(price)] }),
            isWithin: price >= (priceMin ?? 0),
          }))
          .filter(({ isWithin }) => isWithin)
          .sort((one, other) => other.score - one.score || (keyOf(one.docid) < keyOf(other.docid) ? -1 : 1))
        assert.deepEqual(
          found.hits.map(({ docid, score }) => [docid, score]),
          all.slice(0, k).map(({ docid, score }) => [docid, score]),
        )
        if (exactTotal) assert.equal(found.total, all.length)
      },
    ),
    { numRuns: 200 },
  )
})

test('a refined search that is decided early asks for no more', () => {
  const documents = Array.from({ length: 10_000 }, (_, docid) => ({ score: 10_000 - docid, tags: docid % 2 === 0 ? ['a'] : [], price: 1 }))
  const subject = tools(documents)
  searchRefined(subject, { ...PLAN, k: 50 }, { ranges: [], boosts: readBoosts({ 'tags:a': 1.01 }) }, { shouldStop: () => false })
  assert.deepEqual(subject.asked, [256])
})

test('factors are products of those that hold, at least 0.001 and at most their bound', () => {
  fc.assert(
    fc.property(boosts, fc.subarray(['a', 'b', 'c']), fc.integer({ min: 0, max: 9 }), (boost, tags, price) => {
      const read = readBoosts(boost)
      const expected = Object.entries(boost)
        .filter(([name]) => tags.some((tag) => name === `tags:${tag}`) || name === `price:${price}`)
        .reduce((product, [, number]) => (number > 0 ? product * number : product / -number), 1)
      const found = factorOf(read, { tags, price: [String(price)] })
      assert.ok(Math.abs(found - Math.max(0.001, expected)) <= 1e-9 * found)
      assert.ok(found <= factorMaxOf(read) * (1 + 1e-9))
    }),
    { numRuns: 500 },
  )
})

test('a range over numbers, times in any spelling and texts holds exactly where the values lie in it', () => {
  const spell = fc.constantFrom<(seconds: number) => string>(
    String,
    (seconds) => new Date(seconds * 1000).toISOString(),
    (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19),
    (seconds) => `${new Date((seconds + 7200) * 1000).toISOString().slice(0, 19).replace('T', ' ')}+02:00`,
  )
  const seconds = fc.integer({ min: 1_600_000_000, max: 1_600_000_010 })
  const bounds = (low: string | number, high: string | number) => readRanges([{ field: 'when', gt: low, lte: high }])
  fc.assert(
    fc.property(seconds, seconds, seconds, spell, spell, spell, (value, low, high, one, two, three) => {
      const document = { addedAt: value, updatedAt: 0, meta: { when: [one(value)] } }
      const isWithin = value > low && value <= high
      assert.equal(passesRanges(bounds(two(low), three(high)), document), isWithin)
      assert.equal(passesRanges(readRanges({ addedAt: { gt: two(low), lte: high } }), document), isWithin)
    }),
  )
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double({ noNaN: true, noDefaultInfinity: true }), (value, low) => {
      const document = { addedAt: 0, updatedAt: 0, meta: { when: [String(value)] } }
      assert.equal(passesRanges(readRanges([{ field: 'meta.when', gte: low }]), document), value >= low)
      assert.equal(passesRanges(readRanges([{ field: 'when', lt: String(low) }]), document), value < low)
    }),
  )
  const passes = (values: readonly string[], range: object): boolean =>
    passesRanges(readRanges({ f: range }), { addedAt: 0, updatedAt: 0, meta: { f: values } })
  assert.equal(passes(['beta'], { gte: 'b', lt: 'c' }), true)
  assert.equal(passes(['beta'], { gte: 5 }), false, 'a text does not lie beyond a number')
  assert.equal(passes(['1', '9'], { gt: 2, lt: 8 }), false, 'one value for all bounds')
  assert.equal(passes(['1', '5'], { gt: 2, lt: 8 }), true)
  assert.equal(passes([], { gte: 0 }), false)
  assert.equal(passes(['2024-01-31'], { gte: '2024-01', lt: '2024-02-01T00:00:00Z' }), true)
})
