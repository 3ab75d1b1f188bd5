/**
 * Ranges and boosts as the native engine applies them, called through the addon as a lane does. Compared with
 * the rule in TypeScript over unusual values, and with scoring every match. Also ranges and factors compared
 * with their definitions.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { passesFilter } from '../../../src/domain/documents/metadata.js'
import { readRequest } from '../../../src/domain/fulltext/fulltext_request.js'
import { type FulltextTools, searchFulltext } from '../../../src/domain/fulltext/fulltext_search.js'
import { KnownPlans } from '../../../src/domain/fulltext/known_plans.js'
import { factorOf, readBoosts } from '../../../src/domain/search/boosts.js'
import { passesRanges, type RangedDocument, readRanges } from '../../../src/domain/search/ranges.js'
import { withFactors } from '../../../src/domain/search/refinement.js'
import { NO_SETTINGS } from '../../../src/domain/settings/collection_settings.js'
import { encodeDelete, encodeUpsert, joinBatch, stampUpsert } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import type { Hit, Hits, SearchPlan } from '../../../src/engine/types.js'
import type { RangeInput } from '../../../src/operations/row/ranges.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import type { View } from '../../../src/store/view.js'
import { holds } from '../../harness/property.js'

interface Indexed extends RangedDocument {
  readonly words: string
}

const ANALYSIS = { language: 'en', stem: false, markdown: false } as const
const engine = openEngine()
const analyzer = createAnalyzer()
let collections = 7000
let lsn = 0n

/** Unique for the first 10 007, and not in the order of the docids. */
const keyOf = (docid: number): string => `k${String((docid * 7919) % 10_007).padStart(5, '0')}`

/** Publishes the documents, docids from 0 on, as several segments, and returns their collection. */
function publish(documents: readonly Indexed[]): number {
  const collection = ++collections
  for (let begin = 0; begin < documents.length; begin += Math.ceil(documents.length / 3)) {
    const part = documents.slice(begin, begin + Math.ceil(documents.length / 3))
    const ops = part.map(({ words, meta, addedAt, updatedAt }, index) => {
      const pairs = Object.entries(meta).flatMap(([key, values]) => [...new Set(values)].map((value) => [key, value] as const))
      const fields = [['content', analyzer.analyze(Buffer.from(words), ANALYSIS)]] as const
      const op = encodeUpsert({ collection, key: keyOf(begin + index), lang: 'en', meta: pairs, fields })
      stampUpsert(op, { collection, docid: begin + index, lsn: ++lsn, addedAt, updatedAt })
      return op
    })
    engine.publish(joinBatch(ops, lsn))
  }
  return collection
}

const PLAN: SearchPlan = { collection: 0, algorithm: 'bm25', k1: 1.2, b: 0.75, k: 100_000, skip: 0, sort: 'score', descending: true, exactTotal: true, fields: [['content', 1]], filters: [], terms: [['walrus', 1]], root: { kind: 'term', term: 0 } } // prettier-ignore

const two = (most: number) => fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'))
const day = fc.tuple(fc.constantFrom('0000', '0099', '1900', '1970', '2000', '2023', '2024', '9999'), two(13), two(32)).map((parts) => parts.join('-')) // prettier-ignore
const time = fc
  .tuple(
    day,
    fc.constantFrom('T', ' ', 't'),
    two(25),
    two(60),
    fc.constantFrom('', ':07', ':59.5', ':60', ':01.', ':02.0001234567890', ':03.9999'),
    fc.constantFrom('', 'Z', '+02:00', '-1130', '+24:00', '+00:60', 'z'),
  ) // prettier-ignore
  .map(([date, separator, hour, minute, seconds, zone]) => `${date}${separator}${hour}:${minute}${seconds}${zone}`)
const space = fc.constantFrom('', '', '', ' ', '\t\n', '\u00a0', '\u1680', '\u2003', '\u2028', '\u3000', '\ufeff', '\u200b', '\u0085')
const odd = fc.constantFrom('', '.', '-', '+', '5.', '.5', '-.5e-3', '1e', '1e+', '1e5', '1E-400', '1e400', '-1e400', '1e308', '5e-324', '0x10', '1_000', 'Infinity', 'NaN', '٣', '-0', '00012', '1.7976931348623157e308', '0.1', '0.30000000000000004', '123456789012345', '1234567890123456', '9007199254740993', '0.000000000000000000001', '2024', '2024-02', '2024-13', '2024-02-30', '2023-02-29', '2024-02-29', 'ﬀ', '\ue000', '\uffee', '😀', '\ud800', 'é', 'z', 'Z') // prettier-ignore
const value = fc
  .tuple(
    space,
    fc.oneof(odd, day, time, fc.double().map(String), fc.integer().map(String), fc.string({ unit: 'binary', maxLength: 4 }), fc.float({ noNaN: true }).map((number) => number.toFixed(3))), // prettier-ignore
    space,
  )
  .map(([before, text, after]) => `${before}${text}${after}`)

test('a range of the engine is that of the rule, whatever the values', () => {
  const document = fc.record({
    words: fc.constant('walrus'),
    addedAt: fc.integer({ min: 0, max: 400 }),
    updatedAt: fc.integer({ min: -5, max: 5 }),
    meta: fc.record({ v: fc.array(value, { maxLength: 3 }), few: fc.subarray(['1', ' 2', '3.0', '2024-01', 'x']) }, { requiredKeys: [] }),
  })
  const bound = fc.oneof(value, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -10, max: 410 }))
  const bounds = fc.dictionary(fc.constantFrom('gte', 'lte', 'gt', 'lt'), bound, { minKeys: 1, maxKeys: 3 })
  const range = fc.oneof(
    fc.tuple(fc.constantFrom('v', 'few', 'none'), bounds),
    fc.tuple(fc.constantFrom('addedAt', 'updatedAt'), fc.dictionary(fc.constantFrom('gte', 'lte', 'gt', 'lt'), fc.integer({ min: -10, max: 410 }), { minKeys: 1, maxKeys: 2 })), // prettier-ignore
  )
  for (const size of [40, 1500]) {
    const documents = fc.sample(document, size)
    const collection = publish(documents)
    holds(
      fc.property(fc.array(range, { minLength: 1, maxLength: 2 }), fc.boolean(), (asked, isListing) => {
        const ranges = readRanges(asked.map(([field, more]): RangeInput => ({ field, ...more })))
        const plan: SearchPlan = isListing ? { ...PLAN, sort: 'docid', root: { kind: 'all' } } : PLAN
        const found = engine.search({ ...plan, collection, ranges })
        const expected = documents.flatMap((each, docid) => (passesRanges(ranges, each) ? [docid] : []))
        assert.deepEqual(found.hits.map(({ docid }) => docid).sort((a, b) => a - b), expected) // prettier-ignore
        assert.equal(found.total, expected.length)
      }),
      { numRuns: 600 },
    )
  }
})

const factor = fc.constantFrom(-10_000, -4, -2, -1, 1.5, 2, 3, 10_000)
const boosts = fc.dictionary(fc.constantFrom('tags:a', 'tags:b', 'tags:c', 'price:3', 'price:4', 'none:x'), factor)

test('the best of a search with ranges, boosts, filters and deletes are those of scoring every match', () => {
  const document = fc.record({
    words: fc.array(fc.constantFrom('walrus', 'walrus', 'otter', 'seal', 'filler', 'and more of it'), { minLength: 1, maxLength: 30 }).map((words) => words.join(' ')), // prettier-ignore
    addedAt: fc.integer({ min: 0, max: 100 }),
    updatedAt: fc.constant(0),
    meta: fc.record({ tags: fc.subarray(['a', 'b', 'c']), price: fc.tuple(fc.integer({ min: 0, max: 9 }).map(String)) }),
  })
  const documents = fc.sample(document, 6000)
  const collection = publish(documents)
  const dead = new Set(fc.sample(fc.integer({ min: 0, max: 5999 }), 500))
  engine.publish(joinBatch([...dead].map((docid) => encodeDelete(collection, docid, ++lsn)), lsn)) // prettier-ignore
  const root = fc.constantFrom<SearchPlan['root']>(
    { kind: 'term', term: 0 },
    { kind: 'or', children: [{ kind: 'term', term: 0 }, { kind: 'term', term: 1 }, { kind: 'term', term: 2 }] }, // prettier-ignore
    { kind: 'and', children: [{ kind: 'term', term: 0 }, { kind: 'term', term: 1 }] }, // prettier-ignore
    { kind: 'andNot', wanted: { kind: 'term', term: 0 }, excluded: { kind: 'term', term: 2 } },
    { kind: 'phrase', scoring: 'bm25', terms: [{ term: 0, offset: 0 }, { term: 1, offset: 1 }] }, // prettier-ignore
    { kind: 'phrase', scoring: 'occurrences', terms: [{ term: 1, offset: 0 }, { term: 0, offset: 1 }] }, // prettier-ignore
    { kind: 'proximity', distance: 3, terms: [0, 1] },
    { kind: 'all' },
  )
  holds(
    fc.property(
      root,
      fc.constantFrom('tfidf' as const, 'bm25' as const, 'bm25f' as const),
      boosts,
      fc.constantFrom<object>({}, { price: { gte: 5 } }, { price: { gte: 4, lt: 5 } }, { addedAt: { gt: 50 } }, { addedAt: { lte: 100 } }, { addedAt: { gte: 99 }, price: { gt: 3 } }), // prettier-ignore
      fc.constantFrom<SearchPlan['filters']>([], [['tags', ['a', 'b']]]),
      fc.integer({ min: 1, max: 120 }),
      (root, algorithm, boost, range, filters, k) => {
        const refinement = { ranges: readRanges(range as never), boosts: readBoosts(boost) }
        const plan: SearchPlan = { ...PLAN, collection, algorithm, root, terms: [['walrus', 1], ['otter', 1], ['seal', 1]] } // prettier-ignore
        const expected = engine
          .search(plan)
          .hits.map(({ docid, score }) => ({ docid, score: score * factorOf(refinement.boosts, documents[docid]!.meta) }))
          .filter(({ docid }) => passesFilter(documents[docid]!.meta, filters) && passesRanges(refinement.ranges, documents[docid]!))
          .sort((one, other) => other.score - one.score || (keyOf(one.docid) < keyOf(other.docid) ? -1 : 1))
        assert.ok(expected.every(({ docid }) => !dead.has(docid)))
        for (const exactTotal of [false, true]) {
          const found = engine.search({ ...plan, ...refinement, filters, k, exactTotal })
          assert.deepEqual(found.hits.map(({ docid, score }) => ({ docid, score })), expected.slice(0, k)) // prettier-ignore
          if (exactTotal) assert.equal(found.total, expected.length)
          if (refinement.boosts.length === 0) continue
          for (const { docid, factor, score } of found.hits.slice(0, 3)) {
            assert.equal(factor, factorOf(refinement.boosts, documents[docid]!.meta))
            const explained = engine.explain({ ...plan, ...refinement }, docid)
            const sum = explained?.parts.reduce((total, part) => total + part.score, 0) ?? Number.NaN
            assert.equal(explained?.factor, factor)
            assert.ok(Math.abs(sum * factor - score) <= 1e-12 * score && Math.abs(explained.score - score) <= 1e-12 * score)
          }
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('a hit whose document has moved on is judged and boosted as it is now', () => {
  const price = (docid: number): string => String(docid === 3 ? 99 : docid)
  // The engine found all of them boosted except the last. Since then 1 has lost the value, 2 is unchanged, 3
  // has left the range, and 4 has gained the value.
  const tagged = [true, false, true, true, true]
  const hits = [10, 8, 6, 4, 1].map((score, docid): Hit => ({ docid, score, factor: docid === 4 ? 1 : 2, lsn: 1n, matched: [0] }))
  const headOf = (docid: number): string =>
    JSON.stringify({ id: `c|k${docid}|en`, key: `k${docid}`, lang: 'en', meta: { tag: tagged[docid] === true ? ['a'] : ['b'], price: [price(docid)] }, addedAt: 1, updatedAt: 1 }).slice(0, -1) // prettier-ignore
  const view = {
    expect: () => undefined,
    document: (_: number, docid: number) => ({ docid, indexedLsn: docid === 0 ? 1n : 2n, json: Buffer.from(`${headOf(docid)},"contentMd":"walrus"}`) }), // prettier-ignore
    head: (_: number, docid: number) => ({ addedAt: 1, updatedAt: 1, json: Buffer.from(headOf(docid)), meta: Buffer.from('{}') }),
    escapedContent: () => Buffer.from('walrus'),
  } as unknown as View
  const found = {
    record: Buffer.alloc(0),
    count: hits.length,
    total: 5,
    hits,
    lsn: 1n,
    docCount: 5,
    complete: true,
    expansions: [],
    expansionsCut: false,
  }
  const config = { ftsDefaultLang: 'en', ftsStemming: true, ftsSynonyms: true }
  const tools = { analyzer, config, engine: { search: () => found }, plans: new KnownPlans(), store: { writeResults: () => 0, read: <T>(run: (view: View) => T): T => run(view) }, out: new ByteWriter() } as unknown as FulltextTools // prettier-ignore
  const request = readRequest({ collection: 'c', query: 'walrus', boost: { 'tag:a': 2 }, rangeMeta: { price: { lt: 50 } } }, config)
  const answer = searchFulltext(tools, request, { id: 1, settings: NO_SETTINGS }, { shouldStop: () => false })
  const { results } = JSON.parse(Buffer.from(answer).toString()) as { results: { document: { key: string }; score: number }[] }
  assert.deepEqual(results.map(({ document, score }) => [document.key, score]), [['k0', 10], ['k2', 6], ['k1', 4], ['k4', 2]]) // prettier-ignore
})

test('hits whose factors have changed stand where their new scores put them', () => {
  const hits = [8, 6, 4].map((score, docid) => ({ docid, score, factor: docid === 1 ? 3 : 1, lsn: 1n, matched: [] }))
  const moved = withFactors({ hits } as unknown as Hits, new Map([[1, 1], [2, 5]])) // prettier-ignore
  assert.deepEqual(moved.hits.map(({ docid, score, factor }) => [docid, score, factor]), [[2, 20, 5], [0, 8, 1], [1, 2, 1]]) // prettier-ignore
})

test('factors are products of those that hold, at least 0.001', () => {
  holds(
    fc.property(boosts, fc.subarray(['a', 'b', 'c']), fc.integer({ min: 0, max: 9 }), (boost, tags, price) => {
      const read = readBoosts(boost)
      const expected = Object.entries(boost)
        .filter(([name]) => tags.some((tag) => name === `tags:${tag}`) || name === `price:${price}`)
        .reduce((product, [, number]) => (number > 0 ? product * number : product / -number), 1)
      const found = factorOf(read, { tags, price: [String(price)] })
      assert.ok(Math.abs(found - Math.max(0.001, expected)) <= 1e-9 * found)
    }),
    { numRuns: 500 },
  )
})

test('a range over numbers, times in any spelling and texts matches exactly the values within it', () => {
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
