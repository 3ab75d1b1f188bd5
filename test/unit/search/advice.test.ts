/** Advice from the counts of queries, where no server is needed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ADVICE_PER_KIND_MAX, slowQueries } from '../../../src/domain/advice/advisor.js'

function counted(query: string, slowestMs: number): Parameters<typeof slowQueries>[0][number] {
  return { query, count: 9, surplus: 2, empty: 0, meanMs: 1.23456, slowestMs }
}

describe('advice', () => {
  it('advice: a query that once took 100 ms is slow', () => {
    assert.deepEqual(slowQueries([counted('quick', 99.9), counted('slow', 100), counted('slower', 250.04)]), [
      {
        kind: 'slowQuery',
        text: 'The query "slower" took up to 250 ms.',
        evidence: { query: 'slower', times: 7, meanMs: 1.23, slowestMs: 250.04 },
      },
      {
        kind: 'slowQuery',
        text: 'The query "slow" took up to 100 ms.',
        evidence: { query: 'slow', times: 7, meanMs: 1.23, slowestMs: 100 },
      },
    ])
  })

  it('advice: the slowest queries are shown, at most ten', () => {
    const shown = slowQueries(Array.from({ length: 50 }, (_, i) => counted(`q${i}`, 1000 + i)))
    assert.deepEqual(shown.map(({ evidence }) => evidence.query), Array.from({ length: ADVICE_PER_KIND_MAX }, (_, i) => `q${49 - i}`)) // prettier-ignore
  })
})
