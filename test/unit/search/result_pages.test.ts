/** Results that native code writes by the hits of a search, beside those that are written one by one. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AnswerWriter, NATIVE_PAGE_BYTES_MAX, NATIVE_PAGE_DOCUMENTS_MAX } from '../../../src/domain/fulltext/fulltext_answer.js'
import { type FulltextInput, readRequest } from '../../../src/domain/fulltext/fulltext_request.js'
import type { QueryPlan } from '../../../src/domain/fulltext/query_plan.js'
import { decodeHits } from '../../../src/engine/search/hits.js'
import type { Hits } from '../../../src/engine/types.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { Bench } from '../../harness/store/native_reader_bench.js'

const DEFAULTS = { ftsDefaultLang: 'en', ftsStemming: true, ftsSynonyms: true }
/** Three terms, of which the second is not shown. */
const PLAN: QueryPlan = {
  terms: [
    ['te"xt', 1],
    ['not', 1],
    ['zwölf', 1],
  ],
  wanted: [true, false, true],
  fields: [['content', 1]],
  root: { kind: 'all' },
  suggested: new Set([2]),
  tokens: 3,
  leaves: 3,
}
const MASK = 0b111

/** The documents as the index has them now, best first. */
function hitsOf(bench: Bench, docids: readonly number[]): Hits {
  const record = Buffer.alloc(32 + docids.length * 32 + 4)
  record.write('MSR1')
  for (const at of [4, 8]) record.writeUInt32LE(docids.length, at)
  record.writeUInt32LE(1, 12)
  for (const [index, docid] of docids.entries()) {
    const at = 32 + index * 32
    const head = bench.reading.read((view) => view.headEvenExpired(1, docid))
    record.writeUInt32LE(docid, at)
    record.writeDoubleLE(1 / (index + 1), at + 8)
    record.writeBigUInt64LE(head?.indexedLsn ?? 1n, at + 16)
    record.writeUInt32LE(MASK, at + 24)
  }
  return decodeHits(record)
}

const answerOf = (out: ByteWriter, asked: Partial<FulltextInput> = {}): AnswerWriter =>
  new AnswerWriter(readRequest({ collection: 'blog', query: 'x', limit: 5, ...asked }, DEFAULTS), PLAN, out)

/** What one native call writes; undefined: it writes nothing. */
function written(bench: Bench, hits: Hits, asked?: Partial<FulltextInput>): string | undefined {
  const out = new ByteWriter()
  const answer = answerOf(out, asked)
  const isWritten = answer.writeAll(bench.reading, 1, hits)
  assert.equal(answer.count > 0, isWritten && hits.count > 0)
  if (!isWritten) assert.equal(out.view().toString(), '{"results":[')
  return isWritten ? out.view().toString() : undefined
}

function oneByOne(bench: Bench, hits: Hits): string {
  const out = new ByteWriter()
  const answer = answerOf(out)
  bench.reading.read((view) => {
    for (const { docid, score, matched } of hits.hits.slice(0, 5)) {
      const document = view.document(1, docid)
      assert.ok(document)
      answer.result(document, score, matched)
    }
  })
  return out.view().toString()
}

describe('results that native code writes', () => {
  it('native results: the page has the bytes of results that are written one by one', async () => {
    const bench = new Bench('results')
    bench.fill(9, (docid) => `text "${docid}" \\ ü\n`.repeat(docid * 300))
    for (const docids of [[1], [3, 2, 9], [9, 8, 7, 6, 5, 4, 3]]) {
      const hits = hitsOf(bench, docids)
      assert.equal(written(bench, hits), oneByOne(bench, hits))
    }
    assert.equal(written(bench, hitsOf(bench, [])), '{"results":[')
    await bench.close()
  })

  it('native results: nothing is written if a document has changed since the search, has expired or is gone', async () => {
    const bench = new Bench('results that changed')
    bench.fill(4)
    const before = hitsOf(bench, [1, 2, 3])
    bench.put('changed', 'k2')
    assert.equal(written(bench, before), undefined)
    assert.ok(written(bench, hitsOf(bench, [1, 2, 3])))
    bench.put('expired', 'k3', 1)
    assert.equal(written(bench, hitsOf(bench, [1, 2, 3])), undefined)
    bench.delete()
    assert.equal(written(bench, hitsOf(bench, [2, 1])), undefined)
    assert.ok(written(bench, hitsOf(bench, [2, 4])))
    await bench.close()
  })

  it('native results: nothing is written for what shows more, for long pages and for many bytes', async () => {
    const bench = new Bench('results of another kind')
    bench.fill(3)
    const hits = hitsOf(bench, [1, 2, 3])
    for (const asked of [{ offset: 1 }, { explain: true }, { facetBy: ['a'] }, { limit: NATIVE_PAGE_DOCUMENTS_MAX + 1 }])
      assert.equal(written(bench, hits, asked), undefined, JSON.stringify(asked))
    assert.equal(written(bench, hits, { limit: NATIVE_PAGE_DOCUMENTS_MAX })?.match(/"score"/g)?.length, 3)
    for (const key of ['a', 'k2', 'k3']) bench.put('x'.repeat(NATIVE_PAGE_BYTES_MAX * 0.4), key)
    assert.ok(written(bench, hitsOf(bench, [2, 3])))
    assert.equal(written(bench, hitsOf(bench, [2, 3, 1])), undefined)
    await bench.close()
  })
})
