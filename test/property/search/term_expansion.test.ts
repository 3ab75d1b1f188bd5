/**
 * Wildcard, fuzzy and proximity leaves and completions through the whole engine, called as a lane does
 * (N-API, encoded plans), over random words. Compared with regular expressions, the textbook's edit distance
 * and plain position arithmetic. Also expandPlan, whose result must agree with the engine for every document.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { nodeMatches } from '../../../src/domain/fulltext/recheck.js'
import { expandPlan } from '../../../src/engine/search/expanded_plan.js'
import { encodeUpsert, joinBatch, stampUpsert } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { readPlanTerms } from '../../../src/engine/text/term_positions.js'
import type { Completion, PlanNode, SearchPlan } from '../../../src/engine/types.js'
import { holds } from '../../harness/property.js'

const ANALYSIS = { language: 'en', stem: false, markdown: false } as const
const engine = openEngine()
const analyzer = createAnalyzer()
let collections = 5000
let lsn = 0n

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'й', 'ж'), minLength: 2, maxLength: 6 })
const texts = fc.array(fc.array(word, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 })

/**
 * Publishes the documents, docids from 1 on, as two snapshots, so that there are two segments. Returns their
 * collection.
 */
function publish(documents: readonly (readonly string[])[]): number {
  const collection = ++collections
  documents.forEach((words, index) => {
    const fields = [['content', analyzer.analyze(Buffer.from(words.join(' ')), ANALYSIS)]] as const
    const op = encodeUpsert({ collection, key: `k${index}`, lang: 'en', meta: [], fields })
    stampUpsert(op, { collection, docid: index + 1, lsn: ++lsn, addedAt: 0, updatedAt: 0 })
    engine.publish(joinBatch([op], lsn))
  })
  return collection
}

function planOf(collection: number, words: readonly string[], root: PlanNode): SearchPlan {
  return {
    collection,
    algorithm: 'bm25',
    k1: 1.2,
    b: 0.75,
    k: 100,
    skip: 0,
    sort: 'score',
    descending: true,
    exactTotal: false,
    fields: [['content', 1]],
    filters: [],
    terms: words.map((text) => [text, 1] as const),
    root,
  }
}

/** Docids that match, after a check that the expanded plan agrees for every document. */
function found(plan: SearchPlan, documents: readonly (readonly string[])[]): number[] {
  const hits = engine.search(plan)
  const expanded = expandPlan(plan, hits.expansions)
  const docids = hits.hits.map(({ docid }) => docid).sort((a, b) => a - b)
  const plain = documents.flatMap((words, index) => {
    const field = readPlanTerms(analyzer.analyze(Buffer.from(words.join(' ')), ANALYSIS), expanded, 0)
    return nodeMatches(expanded.root, [field]) ? [index + 1] : []
  })
  assert.deepEqual(plain, docids)
  for (const { docid, matched } of hits.hits) {
    for (const term of matched) assert.ok(documents[docid - 1]!.includes(expanded.terms[term]![0]))
  }
  return docids
}

function editDistance(a: string, b: string): number {
  const cost = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  )
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replaced = cost[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      cost[i]![j] = Math.min(cost[i - 1]![j]! + 1, cost[i]![j - 1]! + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost[i]![j] = Math.min(cost[i]![j]!, cost[i - 2]![j - 2]! + 1)
    }
  }
  return cost[a.length]![b.length]!
}

function docidsWhere(documents: readonly (readonly string[])[], matches: (word: string) => boolean): number[] {
  return documents.flatMap((words, index) => (words.some(matches) ? [index + 1] : []))
}

describe('leaves that stand for other terms', () => {
  it('wildcards match what the regular expression matches', () => {
    const pattern = fc
      .array(fc.constantFrom('*', '?', 'a', 'b', 'c', 'й', 'ж'), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(''))
    holds(
      fc.property(texts, pattern, (documents, text) => {
        const regex = new RegExp(`^${text.replace(/\*/g, '.*').replace(/\?/g, '.')}$`, 'u')
        const plan = planOf(publish(documents), [text], { kind: 'wildcard', term: 0 })
        assert.deepEqual(
          found(plan, documents),
          docidsWhere(documents, (each) => regex.test(each)),
        )
      }),
    )
  })

  it('fuzzy words match terms within the edit distance, closer ones higher', () => {
    fc.assert(
      fc.property(texts, word, fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 3 }), (documents, text, edits, prefix) => {
        const isNear = (each: string): boolean => {
          const [fixed, rest] = [text.slice(0, prefix), text.slice(prefix)]
          return each.startsWith(fixed) && editDistance(each.slice(fixed.length), rest) <= edits
        }
        const plan = planOf(publish(documents), [text], { kind: 'fuzzy', term: 0, edits, prefix })
        assert.deepEqual(found(plan, documents), docidsWhere(documents, isNear))
      }),
    )
    const collection = publish([['server'], ['severr'], ['servre']])
    const hits = engine.search(planOf(collection, ['server'], { kind: 'fuzzy', term: 0, edits: 2, prefix: 0 }))
    assert.deepEqual(
      hits.hits.map(({ docid }) => docid),
      [1, 3, 2],
    )
    assert.deepEqual(
      hits.hits.map(({ matched }) => matched.map((index) => (index === 0 ? 'server' : hits.expansions[index - 1]))),
      [['server', { leaf: 0, edits: 0, term: 'server' }], [{ leaf: 0, edits: 1, term: 'servre' }], [{ leaf: 0, edits: 2, term: 'severr' }]],
    )
  })

  it('proximity scores by the narrowest passage, in either order', () => {
    const documents = [['aa', 'xx', 'bb'], ['bb', 'aa'], ['aa', 'x1', 'x2', 'x3', 'x4', 'x5', 'bb'], ['aa']]
    const plan = planOf(publish(documents), ['aa', 'bb'], { kind: 'proximity', distance: 5, terms: [0, 1] })
    assert.deepEqual(found(plan, documents), [1, 2])
    const scores = engine.search(plan).hits.map(({ docid, score }) => [docid, score])
    assert.deepEqual(scores, [
      [2, 5 / 6],
      [1, 4 / 6],
    ])
    const far = planOf(plan.collection, ['aa', 'bb'], { kind: 'proximity', distance: 6, terms: [0, 1] })
    assert.equal(engine.search(far).hits.at(-1)?.score, 1 / 7)
  })
})

function publishFields(collection: number, docid: number, fields: ReadonlyMap<string, ReadonlySet<string>>): void {
  const analyzed = [...fields].map(([name, words]) => [name, analyzer.analyze(Buffer.from([...words].join(' ')), ANALYSIS)] as const)
  const op = encodeUpsert({ collection, key: `k${docid}`, lang: 'en', meta: [], fields: analyzed })
  stampUpsert(op, { collection, docid, lsn: ++lsn, addedAt: 0, updatedAt: 0 })
  engine.publish(joinBatch([op], lsn))
}

/** Mulberry32: numbers from 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Words of `a`, `b` and `c`.
 * @param skew 0: all equally likely; higher: some are in nearly every set
 */
function someWords(random: () => number, most: number, skew: number): Set<string> {
  return new Set(
    Array.from({ length: Math.ceil(most) }, () => {
      const rank = Math.floor(6000 * random() ** (1 + skew))
      return 'abc'[rank % 3]! + rank.toString(3).replaceAll('0', 'a').replaceAll('1', 'b').replaceAll('2', 'c')
    }),
  )
}

function order(one: Completion, other: Completion): number {
  return (
    other.documents - one.documents || Buffer.compare(Buffer.from(one.term), Buffer.from(other.term)) || (one.field < other.field ? -1 : 1)
  )
}

/** Computed by scanning all words. */
function completionsOf(documents: Iterable<ReadonlyMap<string, ReadonlySet<string>>>, prefix: string): Completion[] {
  const counts = new Map<string, Completion>()
  for (const fields of documents)
    for (const [field, words] of fields)
      for (const term of words) {
        const key = `${term} ${field}`
        if (term.startsWith(prefix)) counts.set(key, { term, field, documents: (counts.get(key)?.documents ?? 0) + 1 })
      }
  return [...counts.values()].sort(order)
}

describe('completions', () => {
  it('are the commonest terms with the prefix', () => {
    fc.assert(
      fc.property(texts, word, fc.integer({ min: 1, max: 5 }), (documents, text, most) => {
        const prefix = text.slice(0, 2)
        const counts = new Map<string, number>()
        for (const words of documents) for (const each of new Set(words)) counts.set(each, (counts.get(each) ?? 0) + 1)
        const expected = [...counts]
          .filter(([term]) => term.startsWith(prefix))
          .sort(([a, first], [b, second]) => second - first || Buffer.compare(Buffer.from(a), Buffer.from(b)))
          .map(([term, documentCount]) => ({ term, field: 'content', documents: documentCount }))
        const collection = publish(documents)
        assert.deepEqual(engine.completions(collection, ['content'], prefix, most), expected.slice(0, most))
        assert.deepEqual(engine.completions(collection, [], prefix, most), expected.slice(0, most))
        assert.deepEqual(engine.completions(collection, ['meta.title'], prefix, most), [])
      }),
    )
    assert.throws(() => engine.completions(1, [], 'a'.repeat(129), 10), /prefix too long/)
  })

  it('are the commonest of thousands, over segments, fields, updates and merges, by few entries', () => {
    holds(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 0, max: 6 }), (seed, wordsMax, skew) => {
        const collection = ++collections
        const random = randomNumbers(seed)
        const documents = new Map<number, Map<string, Set<string>>>()
        for (let version = 0; version < 12; version++) {
          const docid = 1 + Math.floor(random() * 9)
          const fields = new Map(['content', 'meta.title'].map((name) => [name, someWords(random, wordsMax, skew)]))
          documents.set(docid, fields)
          publishFields(collection, docid, fields)
        }
        const check = (): void => {
          for (const prefix of ['a', 'ab', 'c', 'aba']) {
            const expected = completionsOf(documents.values(), prefix)
            for (const most of [1, 10, 60]) assert.deepEqual(engine.completions(collection, [], prefix, most), expected.slice(0, most))
            const known = new Set(expected.slice(0, 60).map(({ term }) => term))
            const asked = engine.termFrequencies(collection, [], [...known, 'absent'])
            assert.deepEqual(
              asked.sort(order),
              expected.filter(({ term }) => known.has(term)),
            )
          }
        }
        engine.forceMerge()
        check()
        for (let docid = 10; docid < 15; docid++) {
          const fields = new Map(['content', 'meta.title'].map((name) => [name, someWords(random, wordsMax / docid, skew)]))
          documents.set(docid, fields)
          publishFields(collection, docid, fields)
          check()
        }
        engine.forceMerge()
        check()
      }),
      { numRuns: 8 },
    )
  })

  it('are the commonest of the scanned entries, if 10 000 do not suffice', () => {
    const collection = ++collections
    // The terms do not distinguish the segments: every term of either might be in the other, too.
    for (const docid of [1, 2]) {
      const words = Array.from({ length: 12_000 }, (_, n) => `w${docid}${n}`)
      publishFields(collection, docid, new Map([['content', new Set([...words, 'wboth'])]]))
    }
    const found = engine.completions(collection, [], 'w', 10)
    assert.equal(found.length, 10)
    assert.ok(found.every(({ term, documents }) => term.startsWith('w') && documents === (term === 'wboth' ? 2 : 1)))
  })
})

describe('near terms', () => {
  it('are the terms within the edit distance, nearest first, then the commonest', () => {
    fc.assert(
      fc.property(
        texts,
        word,
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 1, max: 5 }),
        (documents, text, edits, prefix, most) => {
          const counts = new Map<string, number>()
          for (const words of documents) for (const each of new Set(words)) counts.set(each, (counts.get(each) ?? 0) + 1)
          const [fixed, rest] = [text.slice(0, prefix), text.slice(prefix)]
          const expected = [...counts]
            .filter(([term]) => term.startsWith(fixed))
            .map(([term, documentCount]) => ({ term, edits: editDistance(term.slice(fixed.length), rest), documents: documentCount }))
            .filter((near) => near.edits <= edits)
            .sort((a, b) => a.edits - b.edits || b.documents - a.documents || Buffer.compare(Buffer.from(a.term), Buffer.from(b.term)))
          const collection = publish(documents)
          assert.deepEqual(engine.nearTerms(collection, ['content'], text, edits, prefix, most), expected.slice(0, most))
          assert.deepEqual(engine.nearTerms(collection, [], text, edits, prefix, most), expected.slice(0, most))
          assert.deepEqual(engine.nearTerms(collection, ['meta.title'], text, edits, prefix, most), [])
        },
      ),
    )
    assert.throws(() => engine.nearTerms(1, [], 'a'.repeat(129), 1, 0, 10), /word too long/)
  })
})
