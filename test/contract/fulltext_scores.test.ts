/**
 * Scores against a computation that shares nothing with the service: test/golden/scores/compute.py writes scores.json from collection.json by the formulas alone.
 * The collection is written in one batch, so that its statistics are those of its live documents.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { FulltextClient, results } from './fulltext_client.js'

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

describe('scores of full-text search', () => {
  const cases = JSON.parse(readGolden('scores.json')) as Case[]
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.start({ SVC_FTS_STEMMING: 'false' })
    await client.add('golden', JSON.parse(readGolden('collection.json')) as unknown[])
  })
  after(() => client.stop())

  for (const { query, results: expected, ...asked } of cases) {
    it(`${query}: ${JSON.stringify(asked)}`, async () => {
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

/** Tests run compiled, in dist/test/contract; the files lie in the project's test folder. */
function readGolden(name: string): string {
  return readFileSync(new URL(`../../../test/golden/scores/${name}`, import.meta.url), 'utf8')
}
