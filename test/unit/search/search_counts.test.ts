/** Counts of searches in shared memory: bounded, and whole whichever thread reads them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { COUNTED_TEXT_BYTES } from '../../../src/limits/search.js'
import { COUNTED_COLLECTIONS_MAX, COUNTED_QUERIES_MAX, SearchCounts } from '../../../src/telemetry/search_counts.js'

function counted(text: string, ms = 1, isEmpty = false): { text: string; ms: number; isEmpty: boolean } {
  return { text, ms, isEmpty }
}

describe('counts of searches', () => {
  it('search counts: the counts of several threads are added up by normalized query', () => {
    const memory = SearchCounts.create(3)
    const [one, other] = [new SearchCounts(memory, 0), new SearchCounts(memory, 2)]
    one.record(7, counted('Two  Words', 2, true))
    one.record(7, counted(' two words', 4))
    other.record(7, counted('TWO\nWORDS', 9, true))
    other.record(8, counted('two words', 100))
    assert.deepEqual(one.read(7), [{ query: 'two words', count: 3, surplus: 0, empty: 2, meanMs: 5, slowestMs: 9 }])
    assert.equal(one.read(8)[0]?.slowestMs, 100)
    assert.deepEqual(one.read(9), [])
  })

  it('search counts: a frequent query is kept among any number of rare ones, and its count is off by the surplus at most', () => {
    const counts = new SearchCounts(SearchCounts.create(1), 0)
    const rare = COUNTED_QUERIES_MAX * 50
    let frequent = 0
    for (let i = 0; i < rare; i++) {
      counts.record(1, counted(`rare ${i}`))
      if (i % 10 === 0) {
        counts.record(1, counted('frequent'))
        frequent++
      }
    }
    const found = counts.read(1)
    assert.equal(found.length, COUNTED_QUERIES_MAX)
    const kept = found.find(({ query }) => query === 'frequent')
    assert.ok(kept !== undefined)
    assert.ok(kept.count >= frequent && kept.count - kept.surplus <= frequent, JSON.stringify(kept))
    assert.equal(found.reduce((sum, { count }) => sum + count, 0), rare + frequent) // prettier-ignore
  })

  it('search counts: beyond the bound of collections, the one searched least recently is dropped', () => {
    const counts = new SearchCounts(SearchCounts.create(1), 0)
    for (let id = 0; id <= COUNTED_COLLECTIONS_MAX; id++) counts.record(id, counted(`of ${id}`))
    const kept = Array.from({ length: COUNTED_COLLECTIONS_MAX + 1 }, (_, id) => id).filter((id) => counts.read(id).length > 0)
    assert.equal(kept.length, COUNTED_COLLECTIONS_MAX)
    assert.deepEqual(counts.read(COUNTED_COLLECTIONS_MAX).map(({ query }) => query), [`of ${COUNTED_COLLECTIONS_MAX}`]) // prettier-ignore
  })

  it('search counts: texts are cut at a whole character, and an empty one is not counted', () => {
    const counts = new SearchCounts(SearchCounts.create(1), 0)
    counts.record(1, counted('é'.repeat(400)))
    counts.record(1, counted('  \n'))
    assert.deepEqual(counts.read(1).map(({ query }) => query), ['é'.repeat(COUNTED_TEXT_BYTES / 2)]) // prettier-ignore
    const wide = new SearchCounts(SearchCounts.create(1), 0)
    wide.record(1, counted(`x${'é'.repeat(400)}`))
    assert.ok(!wide.read(1)[0]?.query.includes('\ufffd'))
  })

  it('search counts: a thread that opens another store clears what it had counted, and nothing of others', () => {
    const memory = SearchCounts.create(2)
    const [one, other] = [new SearchCounts(memory, 0), new SearchCounts(memory, 1)]
    one.record(1, counted('before'))
    other.record(1, counted('kept'))
    const again = new SearchCounts(memory, 0)
    assert.deepEqual(again.read(1).map(({ query }) => query), ['kept']) // prettier-ignore
    again.record(1, counted('after'))
    assert.deepEqual(again.read(1).map(({ query, surplus }) => [query, surplus]).sort(), [['after', 0], ['kept', 0]]) // prettier-ignore
  })

  it('search counts: a reader never sees the text of one query with the counts of another while threads write', async () => {
    const memory = SearchCounts.create(3)
    const program = new URL('../../../src/telemetry/search_counts.js', import.meta.url).href
    // Each query ends in its duration. More queries than there is space for are written, so that entries are
    // replaced.
    const source = `
      const { workerData, parentPort } = require('node:worker_threads')
      import(workerData.program).then(({ SearchCounts }) => {
        const counts = new SearchCounts(workerData.memory, workerData.row)
        parentPort.postMessage('running')
        for (let i = 0; i < 400_000; i++) counts.record(1, { text: 'query of ' + (i % 200), ms: i % 200, isEmpty: false })
      })`
    const workers = [0, 1].map((row) => new Worker(source, { eval: true, workerData: { program, memory, row } }))
    const ended = Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))))
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))))
    const reader = new SearchCounts(memory, 2)
    let isOver = false
    void ended.then(() => (isOver = true))
    let reads = 0
    while (!isOver || reads < 10) {
      for (const { query, slowestMs, meanMs, count, surplus } of reader.read(1)) {
        const ms = Number(query.slice('query of '.length))
        assert.ok(count > surplus, query)
        assert.deepEqual([slowestMs, Math.round(meanMs * 1000) / 1000], [ms, ms], query)
      }
      reads++
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
})
