/**
 * The laws of boolean search, from text to hits: random queries over random documents compared with sets
 * computed by brute force. Analyzer, planner and engine are the real ones.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { planQuery, type QueryPlan } from '../../../src/domain/fulltext/query_plan.js'
import { nodeMatches } from '../../../src/domain/fulltext/recheck.js'
import { resolveScoring } from '../../../src/domain/fulltext/scoring.js'
import { parseQuery } from '../../../src/domain/query/query_mode.js'
import { NO_SETTINGS } from '../../../src/domain/settings/collection_settings.js'
import { queryWords } from '../../../src/domain/words/query_words.js'
import { encodeDelete, encodeUpsert, joinBatch, stampUpsert } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { readTermPositions } from '../../../src/engine/text/term_positions.js'
import { holds } from '../../harness/property.js'

const WORDS = ['wal', 'rust', 'segment', 'quorum', 'vector', 'heap', 'norm', 'shard']
const ANALYSIS = { language: 'en', stem: true, markdown: false } as const

const engine = openEngine()
const analyzer = createAnalyzer()
let collections = 1000
let lsn = 0n

/** Documents by docid: the model's, which the engine also contains. */
interface Corpus {
  readonly collection: number
  readonly documents: ReadonlyMap<number, readonly string[]>
}

type Query =
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  | { readonly kind: 'AND' | 'OR' | 'NOT'; readonly left: Query; readonly right: Query }

const document = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 })

const query = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...WORDS).map((word): Query => ({ kind: 'word', words: [word] })),
    fc.array(fc.constantFrom(...WORDS), { minLength: 2, maxLength: 3 }).map((words): Query => ({ kind: 'phrase', words })),
    fc.record({ kind: fc.constantFrom('AND' as const, 'OR' as const, 'NOT' as const), left: tie('query'), right: tie('query') }),
  ),
})).query

/**
 * Every document is written; some are rewritten with other words and some deleted. A batch contains a few of
 * these operations.
 */
function index(documents: readonly (readonly string[])[], rewritten: ReadonlySet<number>, deleted: ReadonlySet<number>): Corpus {
  const collection = collections++
  const kept = new Map<number, readonly string[]>()
  const ops: Uint8Array[] = []
  const put = (docid: number, words: readonly string[]): void => {
    const op = encodeUpsert({ collection, key: `doc-${docid}`, lang: 'en', meta: [], fields: [['content', analyze(words)]] })
    stampUpsert(op, { collection, docid, lsn: ++lsn, addedAt: 1, updatedAt: 1 })
    ops.push(op)
    kept.set(docid, words)
  }
  documents.forEach((words, docid) => {
    if (rewritten.has(docid)) put(docid, [...WORDS])
    put(docid, words)
    if (deleted.has(docid)) {
      ops.push(encodeDelete(collection, docid, ++lsn))
      kept.delete(docid)
    }
  })
  for (let at = 0; at < ops.length; at += 7) engine.publish(joinBatch(ops.slice(at, at + 7), lsn))
  return { collection, documents: kept }
}

function analyze(words: readonly string[]): Uint8Array {
  return analyzer.analyze(Buffer.from(words.join(' ')), ANALYSIS)
}

function plan(text: string, mode: string): QueryPlan {
  const words = queryWords(analyzer, NO_SETTINGS, { ...ANALYSIS, synonyms: false })
  return planQuery(parseQuery(text, mode), words, resolveScoring('bm25', undefined))
}

function find(corpus: Corpus, text: string, mode: string): Map<number, number> {
  const { terms, root } = plan(text, mode)
  const hits = engine.search({
    collection: corpus.collection,
    algorithm: 'bm25',
    k1: 1.2,
    b: 0.75,
    k: 1000,
    skip: 0,
    sort: 'score',
    descending: true,
    exactTotal: true,
    fields: [['content', 1]],
    filters: [],
    terms,
    root,
  })
  assert.equal(hits.total, hits.hits.length)
  return new Map(hits.hits.map((hit) => [hit.docid, hit.score]))
}

function docids(found: Map<number, number>): number[] {
  return [...found.keys()].sort((left, right) => left - right)
}

function print(node: Query): string {
  if (node.kind === 'word') return node.words.join('')
  if (node.kind === 'phrase') return `"${node.words.join(' ')}"`
  return `(${print(node.left)} ${node.kind} ${print(node.right)})`
}

function matches(node: Query, words: readonly string[]): boolean {
  switch (node.kind) {
    case 'word':
    case 'phrase':
      return words.some((_, at) => node.words.every((word, offset) => words[at + offset] === word))
    case 'AND':
      return matches(node.left, words) && matches(node.right, words)
    case 'OR':
      return matches(node.left, words) || matches(node.right, words)
    case 'NOT':
      return matches(node.left, words) && !matches(node.right, words)
  }
}

function expected(corpus: Corpus, node: Query): number[] {
  return [...corpus.documents].filter(([, words]) => matches(node, words)).map(([docid]) => docid)
}

const corpora = fc
  .tuple(fc.array(document, { minLength: 1, maxLength: 60 }), fc.array(fc.nat(59)), fc.array(fc.nat(59)))
  .map(([documents, rewritten, deleted]) => index(documents, new Set(rewritten), new Set(deleted)))

describe('boolean search', () => {
  it('finds exactly the documents that the query describes', () => {
    holds(
      fc.property(corpora, fc.array(query, { minLength: 5, maxLength: 20 }), (corpus, queries) => {
        for (const node of queries) assert.deepEqual(docids(find(corpus, print(node), 'boolean')), expected(corpus, node), print(node))
      }),
      { numRuns: 60 },
    )
  })

  it('looks at a single document by the same rules as the engine', () => {
    holds(
      fc.property(corpora, fc.array(query, { minLength: 1, maxLength: 10 }), (corpus, queries) => {
        for (const node of queries) {
          const { terms, root } = plan(print(node), 'boolean')
          const wanted = new Map(terms.map(([term], index) => [term, index]))
          const passed = [...corpus.documents].filter(([, words]) => nodeMatches(root, [readTermPositions(analyze(words), wanted)]))
          assert.deepEqual(
            passed.map(([docid]) => docid),
            docids(find(corpus, print(node), 'boolean')),
            print(node),
          )
        }
      }),
      { numRuns: 60 },
    )
  })

  it('obeys the laws of sets, also where words stand side by side', () => {
    holds(
      fc.property(corpora, query, query, query, (corpus, nodeA, nodeB, nodeC) => {
        const [a, b, c] = [print(nodeA), print(nodeB), print(nodeC)]
        const same = (left: string, right: string): void =>
          assert.deepEqual(docids(find(corpus, left, 'boolean')), docids(find(corpus, right, 'boolean')), `${left}  =  ${right}`)
        same(`${a} AND ${b}`, `${b} AND ${a}`)
        same(`${a} OR ${b}`, `${b} OR ${a}`)
        same(`${a} ${b}`, `${a} AND ${b}`)
        same(`${a} AND (${b} OR ${c})`, `(${a} AND ${b}) OR (${a} AND ${c})`)
        same(`${a} NOT (${b} OR ${c})`, `${a} NOT ${b} NOT ${c}`)
        same(`NOT ${b} AND ${a}`, `${a} -${b}`)
        same(`${a} AND (NOT ${b} OR NOT ${c})`, `${a} NOT (${b} AND ${c})`)
        same(`NOT NOT ${a}`, a)
        same(`+${a} ${b}`, a)
        same(`+${a} +${b} ${c}`, `${a} AND ${b}`)
        same(`${a} ${b} -${c}`, `(${a} OR ${b}) NOT ${c}`)
        same(`${a} OR NOT ${b}`, a)
        assert.equal(find(corpus, `NOT ${a}`, 'boolean').size, 0)
        assert.equal(find(corpus, `${a} NOT ${a}`, 'boolean').size, 0)
      }),
      { numRuns: 60 },
    )
  })

  it('scores a union by the sum of its parts, and an optional word by what it adds', () => {
    holds(
      fc.property(corpora, fc.shuffledSubarray(WORDS, { minLength: 2, maxLength: 2 }), (corpus, [a = '', b = '']) => {
        // Deleted documents count in df and avgdl until a merge drops them; a merge between two of the
        // searches would change the scores.
        engine.forceMerge()
        const [first, second] = [find(corpus, a, 'boolean'), find(corpus, b, 'boolean')]
        for (const text of [`${a} OR ${b}`, `+${a} ${b}`]) {
          for (const [docid, score] of find(corpus, text, 'boolean')) {
            const sum = (first.get(docid) ?? 0) + (second.get(docid) ?? 0)
            assert.ok(Math.abs(score - sum) < 1e-6 * (1 + sum), `${text}: ${score}, parts ${sum}`)
          }
        }
        assert.deepEqual(docids(find(corpus, `${a} ${b}`, 'simple')), docids(find(corpus, `${a} OR ${b}`, 'boolean')))
      }),
      { numRuns: 60 },
    )
  })

  it('scores a phrase by its occurrences in phrase mode', () => {
    holds(
      fc.property(corpora, fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }), (corpus, phrase) => {
        const found = find(corpus, `"${phrase.join(' ')}"`, 'phrase')
        for (const [docid, words] of corpus.documents) {
          const occurrences = words.filter((_, at) => phrase.every((word, offset) => words[at + offset] === word)).length
          assert.equal(found.get(docid) ?? 0, occurrences)
        }
      }),
      { numRuns: 60 },
    )
  })
})
