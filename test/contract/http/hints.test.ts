/**
 * The hint of a refusal, beside the contract's text: the field, the expected value and the received value,
 * short and without secrets. Issue 15, point C; docs/decisions/interfaces/http-conventions.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { HINT_CHARACTERS_MAX } from '../../../src/worker/request/hints.js'
import type { Server } from '../../harness/server/server.js'
import { sharedServer } from '../../harness/server/shared_server.js'

describe('hints', () => {
  let server: Server
  before(async () => {
    server = await sharedServer()
  })
  after(() => server.stop())

  const refusal = async (path: string, body: unknown, method = 'POST'): Promise<readonly [string, string]> => {
    const answer = await server.request(method, path, body)
    assert.equal(answer.status, 400, answer.text)
    const { error, hint } = answer.json<{ error: string; hint: string }>()
    return [error, hint]
  }

  it('hint: missing fields names every missing required field, what is expected and what was received', async () => {
    assert.deepEqual(await refusal('/v1/get', { collection: '', lang: null }), [
      'missing fields',
      '`collection`: a text that is not empty is expected, such as "blog"; an empty text came. ' +
        '`key`: a text that is not empty is expected, such as "hello-world"; nothing came. ' +
        '`lang`: a text that is not empty is expected, such as "en"; null came.',
    ])
    assert.deepEqual(await refusal('/v1/vector-search', { collection: 'c' }), [
      'missing fields',
      '`query` or `queryVector` is expected; neither came.',
    ])
    assert.deepEqual(await refusal('/v1/multi-search', { searches: [{ collection: 'c' }] }), [
      'missing fields',
      '`searches.0.query`: a text that is not empty is expected, such as "markdown search"; nothing came.',
    ])
  })

  it('hint: invalid names the field, what is expected and what was received, whether the schema or the operation refuses', async () => {
    const search = (fields: object): Promise<readonly [string, string]> => refusal('/v1/search', { collection: 'c', ...fields })
    assert.deepEqual(await search({ limit: 'ten' }), [
      'invalid limit',
      '`limit`: a whole number, 0 or more, is expected; the text "ten" came.',
    ])
    assert.deepEqual(await search({ limit: -1 }), ['invalid limit', '`limit`: a whole number, 0 or more, is expected; -1 came.'])
    assert.deepEqual(await search({ sort: 7 }), ['invalid sort', '`sort`: one of addedAt, updatedAt, key is expected; 7 came.'])
    assert.deepEqual(await search({ filterMeta: { tags: 'a' } }), [
      'invalid filterMeta.tags',
      '`filterMeta.tags`: a list of texts is expected; the text "a" came.',
    ])
    const document = { collection: 'c', key: 'k', lang: 'en', contentMd: '' }
    assert.deepEqual(await refusal('/v1/add', { ...document, key: 'a\0b' }), [
      'invalid key: NUL is not allowed',
      '`key`: a text that is not empty is expected, such as "hello-world"; NUL is not allowed; the text "a\\u0000b" came.',
    ])
    assert.deepEqual(await refusal('/v1/multi-search', { searches: [{ collection: 'c', query: 'x', fuzzy: 9.5 }] }), [
      'invalid searches.0.fuzzy',
      '`searches.0.fuzzy`: a whole number, 0 or more, is expected; 9.5 came.',
    ])
    // Refused on the write lane, where the request is no longer available.
    assert.deepEqual(await refusal('/v1/collection-config', { collection: 'c', encrypted: true }, 'PUT'), [
      'invalid encrypted: SVC_ENCRYPTION_KEY is not set',
      '`encrypted`: SVC_ENCRYPTION_KEY is not set',
    ])
  })

  it('hint: invalid JSON names the position and quotes nothing of the body', async () => {
    for (const [body, hint] of [
      ['{"apiKey":"hunter2",}', 'The body is expected to be a JSON object; it is not JSON at character 21.'],
      ['["hunter2"]', 'The body is expected to be a JSON object; a list came.'],
      ['"hunter2"', 'The body is expected to be a JSON object; a single value came.'],
    ] as const)
      assert.deepEqual(await refusal('/v1/add', body), ['invalid JSON', hint])
    assert.doesNotMatch((await refusal('/v1/add', '{"apiKey":hunter2}'))[1], /hunter/)
  })

  it('hint: a long value is cut, a hint has a bound, and what may be a secret is not shown', async () => {
    const long = 'x'.repeat(100_000)
    const [, cut] = await refusal('/v1/search', { collection: 'c', limit: long })
    assert.match(cut, /; the text "x{40}"… \(100000 bytes\) came\.$/)
    const [, pair] = await refusal('/v1/search', { collection: 'c', limit: `${'x'.repeat(39)}😀` })
    assert.ok(pair.isWellFormed())
    for (const body of [{ filterMeta: { [long]: 'a' } }, { filterMeta: { ['\ud83d'.repeat(5000)]: 'a' } }]) {
      const [, hint] = await refusal('/v1/search', { collection: 'c', ...body })
      assert.ok(hint.length <= HINT_CHARACTERS_MAX && hint.isWellFormed(), hint)
    }
    const config = async (fields: object): Promise<string> =>
      (await refusal('/v1/collection-config', { collection: 'c', ...fields }, 'PUT'))[1]
    for (const fields of [
      { storageConfig: { secretKey: ['hunter2'] } },
      { storageConfig: { endpoint: ['https://user:hunter2@x'] } },
      { storageConfig: { secretKey: 2277, endpoint: 'x' } },
      { cms: { apiKey: 2277 } },
      { storageBackend: 's3', storageConfig: { endpoint: 'https://user:hunter2@x', bucket: 'b' } },
    ])
      assert.doesNotMatch(await config(fields), /hunter|2277/, JSON.stringify(fields))
    const ingest = { collection: 'c', documents: [{ key: 'k', lang: 'en', contentMd: '' }], callbackUrl: 'ftp://user:hunter2@x' }
    assert.doesNotMatch((await refusal('/v1/bulk-ingest-job', ingest))[1], /hunter/)
    assert.doesNotMatch((await refusal('/v1/get', { collection: 'c', key: 'k', lang: 'en', env: 'hunter2' }))[1], /hunter/)
  })

  it('hint: other refusals have none', async () => {
    const unknown = await server.post('/v1/get', { collection: 'c', key: 'nobody', lang: 'en' })
    assert.equal(`${unknown.status} ${unknown.text}`, '404 {"error":"not found"}')
    const format = await server.post('/v1/export', { collection: 'c', format: 'tar' })
    assert.equal(`${format.status} ${format.text}`, '400 {"error":"unsupported format"}')
  })
})
