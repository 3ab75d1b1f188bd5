/** The result list of all searches: its limits, the removal of results, and the answer's fields about it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ResultBounds, ResultList } from '../../../src/domain/search/result_list.js'
import { ANSWER_BYTES_MAX } from '../../../src/limits/documents.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'

interface Answer {
  readonly results: readonly { readonly document: unknown; readonly name?: string }[]
  readonly total: number
  readonly contextTruncated?: boolean
  readonly facets?: unknown
}

const BOUNDS: ResultBounds = { limit: 3, contextTokensMax: undefined, limitName: 'topK' }

function listOf(bounds: Partial<ResultBounds> = {}): {
  readonly list: ResultList
  readonly add: (document: object, textBytes?: number) => void
} {
  const out = new ByteWriter()
  const list = new ResultList(out, { ...BOUNDS, ...bounds })
  const add = (document: object, textBytes = 0): void => {
    if (list.isCapped && !list.admits(textBytes)) return
    list.begin()
    out.utf8(JSON.stringify(document))
    list.facets?.add(Buffer.from(JSON.stringify(document)))
    list.end()
  }
  return { list, add }
}

const answerOf = (list: ResultList, fields: object = {}): Answer => JSON.parse(Buffer.from(list.finish(fields)).toString()) as Answer

describe('list of results', () => {
  it('is full at the limit, and says how many there are', () => {
    const { list, add } = listOf()
    for (let docid = 0; !list.isFull; docid++) add({ docid })
    assert.deepEqual(answerOf(list, { took: 1 }), {
      results: [{ document: { docid: 0 } }, { document: { docid: 1 } }, { document: { docid: 2 } }],
      total: 3,
      took: 1,
    })
  })

  it('the first text always fits under the cap; one that exceeds it ends the list', () => {
    const { list, add } = listOf({ contextTokensMax: 10 })
    add({ docid: 0 }, 4000)
    assert.equal(list.isFull, false)
    add({ docid: 1 }, 1)
    assert.equal(list.isFull, true)
    assert.deepEqual(answerOf(list), { results: [{ document: { docid: 0 } }], total: 1, contextTruncated: true })
  })

  it('a result that was begun is taken back without a trace', () => {
    const out = new ByteWriter()
    const list = new ResultList(out, BOUNDS)
    for (const isKept of [true, false, true]) {
      list.begin('"name":"ö",')
      out.ascii('{}')
      if (isKept) list.end()
      else list.cancel()
    }
    assert.deepEqual(answerOf(list).results, [{ name: 'ö', document: {} }, { name: 'ö', document: {} }]) // prettier-ignore
  })

  it('a new round begins with nothing: neither results, nor text, nor facets', () => {
    const document = { key: 'k', lang: 'en', meta: { tag: ['a'] }, contentMd: '' }
    const { list, add } = listOf({ contextTokensMax: 2, facetBy: ['tag'] })
    add(document, 8)
    add(document, 8)
    list.restart()
    assert.equal(list.isFull, false)
    add(document, 8)
    assert.deepEqual(answerOf(list), { results: [{ document }], total: 1, facets: { tag: [{ value: 'a', count: 1 }] } })
  })

  it('an answer above its bound is refused with the parameter to lower', () => {
    const out = { length: ANSWER_BYTES_MAX + 1, begin: () => out, ascii: () => undefined }
    const list = new ResultList(out as unknown as ByteWriter, { ...BOUNDS, limitName: 'the limit' })
    list.begin()
    assert.throws(() => list.end(), new RegExp(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower the limit`))
  })
})
