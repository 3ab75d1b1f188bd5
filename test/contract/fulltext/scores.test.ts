/**
 * Scores compared with computations that share no code with the service: test/golden/scores/compute.py writes
 * scores.json from collection.json by the formulas alone; bench/search/golden_scores.ts writes lucene.json,
 * Lucene's BM25 of the same. The collection is written in one batch, so that its statistics are those of its
 * live documents.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { FulltextClient, results } from './client.js'

interface Case {
  readonly mode: string
  readonly query: string
  readonly algorithm: string
  readonly fieldWeights?: Record<string, number>
  readonly fuzzy?: number
  readonly distance?: number
  readonly results: readonly (readonly [key: string, score: number])[]
}

const TOLERANCE = 1e-4
const GOLDEN = { formula: 'scores.json', Lucene: 'lucene.json' } as const

describe('scores of full-text search', () => {
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.start({ SVC_FTS_STEMMING: 'false' })
    await client.add('golden', JSON.parse(readGolden('collection.json')) as unknown[])
  })
  after(() => client.stop())

  for (const { source, query, results: expected, ...asked } of [...casesOf('formula'), ...casesOf('Lucene')]) {
    it(`${source}, ${query}: ${JSON.stringify(asked)}`, async () => {
      const answer = await client.fts(query, { collection: 'golden', ...asked })
      const found = results(answer)
      assert.equal(answer.body.stemmingActive, false)
      const scores = new Map(found.map(({ document, score }) => [document.key, score]))
      assert.deepEqual([...scores.keys()].sort(), expected.map(([key]) => key).sort())
      for (const [key, score] of expected) {
        const actual = scores.get(key) ?? 0
        assert.ok(Math.abs(actual - score) <= TOLERANCE * Math.max(1, score), `${key}: ${actual}, computed ${score}`)
      }
      const order = found.map(({ score }) => score)
      assert.deepEqual(
        order,
        order.toSorted((left, right) => right - left),
      )
    })
  }
})

function casesOf(source: keyof typeof GOLDEN): readonly (Case & { readonly source: string })[] {
  return (JSON.parse(readGolden(GOLDEN[source])) as Case[]).map((each) => ({ ...each, source }))
}

/** Tests run compiled, in dist/test/contract; the files are in the project's test folder. */
function readGolden(name: string): string {
  return readFileSync(new URL(`../../../../test/golden/scores/${name}`, import.meta.url), 'utf8')
}
