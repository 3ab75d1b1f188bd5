/**
 * Input forms that clients of some languages send, and names and texts that are easily misinterpreted:
 * docs/decisions/interfaces/http-conventions.md. A refused request changes nothing.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient } from '../../harness/clients/documents_client.js'
import type { TestResponse } from '../../harness/server/server.js'

type Body = Readonly<Record<string, unknown>>

const ID = { collection: 'input_forms-guarded', key: 'doc', lang: 'en' }
/** Operations that write documents, each with a valid body. */
const WRITES = [
  { method: 'POST', path: '/v1/add', body: { ...ID, contentMd: 'changed' } },
  { method: 'PATCH', path: '/v1/update', body: { ...ID, contentMd: 'changed' } },
] as const

describe('forms of input', () => {
  let client: DocumentsClient
  let original: unknown
  before(async () => {
    client = await DocumentsClient.shared()
    await client.add('input_forms-guarded', 'doc', { contentMd: 'walrus', meta: { a: ['1'] } })
    original = await state()
  })
  after(() => client.stop())

  const state = async (): Promise<unknown> => [
    await client.get('input_forms-guarded', 'doc'),
    await client.revisions('input_forms-guarded', 'doc'),
  ]
  const unchanged = async (what: string): Promise<void> => assert.deepEqual(await state(), original, `${what} changed something`)

  it('bad input: __proto__ is a name like others: ignored where unknown, kept and found where a map has it, refused where its value is wrong', async () => {
    const c = client.collection()
    const own = (value: string): string => `{"__proto__":${value},"constructor":["b"]}`
    const send = (path: string, fields: string, method = 'POST'): Promise<TestResponse> =>
      client.server.request(
        method,
        path,
        `{"collection":"${c}","__proto__":{"collection":"input_forms-guarded","key":"doc","polluted":true},${fields}}`,
      )
    const put = '"key":"k","lang":"en","contentMd":"walrus %%__proto__%%"'
    const added = await send('/v1/add', `${put},"meta":${own('["a"]')}`)
    assert.equal(added.status, 200, added.text)
    assert.match(added.text, /"meta":\{"__proto__":\["a"\],"constructor":\["b"\]\}/)
    assert.match((await send('/v1/add', `${put},"meta":${own('"a"')}`)).text, /^\{"error":"invalid meta.__proto__"/)
    const batch = await send('/v1/add-batch', `"documents":[{"key":"l","lang":"en","contentMd":"walrus","meta":${own('["c"]')}}]`)
    assert.equal(batch.json().added, 1, batch.text)
    const keys = async (answer: Promise<TestResponse>): Promise<string[]> => (await answer).json<{ key: string }[]>().map(({ key }) => key)
    assert.deepEqual(await keys(send('/v1/search', '"filterMeta":{"__proto__":["a"]}')), ['k'])
    assert.deepEqual(await keys(send('/v1/search', '"filterMeta":{"toString":["a"]}')), [])
    const filled = await send('/v1/get', '"key":"k","lang":"en","env":{"__proto__":"filled"}')
    assert.equal(filled.json().contentMd, 'walrus filled')
    const found = await send('/v1/fts', '"query":"walrus","facetBy":["__proto__","toString"],"boost":{"__proto__:c":5}')
    assert.match(found.text, /"facets":\{"__proto__":\[\{"value":"a","count":1\},\{"value":"c","count":1\}\],"toString":\[\]\}/)
    const byQuery = await client.server.get(`/v1/fts?collection=${c}&q=walrus&meta.__proto__=c&__proto__=x`)
    assert.equal(byQuery.json().total, 1, byQuery.text)
    const counted = await send('/v1/aggregate', '"facets":[{"field":"__proto__"}]')
    assert.match(counted.text, /"facets":\{"__proto__":\[\{"value":"a"/)
    for (const field of ['__proto__', 'constructor', 'toString'])
      assert.equal((await client.server.get(`/v1/autocomplete?collection=${c}&q=a&field=meta.${field}`)).status, 200, field)
    assert.equal((await send('/v1/collection-config', '"customMeta":{"__proto__":{"a":1}}', 'PUT')).status, 200)
    assert.match((await client.server.get(`/v1/collection-config?collection=${c}`)).text, /"customMeta":\{"__proto__":\{"a":1\}\}/)
    assert.equal((await send('/v1/schema/set', '"schema":{"properties":{"__proto__":{"enum":["a"]}}}')).status, 200)
    assert.match((await send('/v1/add', `${put},"meta":${own('["z"]')}`)).text, /schema validation failed.*__proto__/)
    assert.match((await send('/v1/update', `"key":"k","lang":"en","meta":${own('["a","a"]')}`, 'PATCH')).text, /"__proto__":\["a","a"\]/)
    await client.post('/v1/delete-collection', { collection: c })
    await client.server.request('DELETE', '/v1/collection-config', { collection: c })
    await unchanged('__proto__')
  })

  it('bad input: an empty list counts as an empty map wherever a map is expected, as PHP sends it', async () => {
    const c = client.collection()
    const send = async (path: string, fields: Body, method = 'POST'): Promise<Body> => {
      const answer = await client.server.request(method, path, { collection: c, key: 'k', lang: 'en', ...fields })
      assert.equal(answer.status, 200, `${path}: ${answer.text}`)
      return answer.json()
    }
    const content = { contentMd: 'walrus %%a%%' }
    assert.deepEqual((await send('/v1/add', { ...content, meta: { a: ['b'] } })).meta, { a: ['b'] })
    assert.deepEqual((await send('/v1/add', { ...content, meta: [] })).meta, {})
    await send('/v1/update', { meta: { a: ['b'] } }, 'PATCH')
    assert.deepEqual((await send('/v1/update', { meta: [] }, 'PATCH')).meta, {}, 'clears, as {} does')
    const documents = [{ key: 'l', lang: 'en', contentMd: 'walrus', meta: [] }]
    assert.equal((await send('/v1/add-batch', { documents })).added, 1)
    assert.equal((await send('/v1/get', { env: [] })).contentMd, 'walrus %%a%%')
    const maps = { filterMeta: [], boost: [], fieldWeights: [], rangeMeta: [] }
    assert.equal((await send('/v1/fts', { query: 'walrus', algorithm: 'bm25f', ...maps })).total, 2)
    await send('/v1/multi-search', { searches: [{ collection: c, query: 'walrus', ...maps }] })
    assert.equal((await client.search(c, { filterMeta: [] })).total, 2)
    await send('/v1/hybrid-search', { query: 'walrus', filterMeta: [], boost: [] })
    await send('/v1/vector-search', { queryVector: [1], filterMeta: [] })
    await send('/v1/cross-search', { queryVector: [1], filterMeta: [] })
    await send('/v1/aggregate', { filterMeta: [] })
    assert.equal((await client.post('/v1/export', { collection: c, format: 'ndjson', filterMeta: [] })).text.split('\n').length, 3)
    await send('/v1/collection-config', { customMeta: [], retrieval: [], cms: [] }, 'PUT')
    const { config } = (await client.server.get(`/v1/collection-config?collection=${c}`)).json<{ config: Body }>()
    assert.deepEqual(config.customMeta, {})
    await send('/v1/schema/set', { schema: { required: [], properties: [] } })
    await send('/v1/schema/set', { schema: [] })
    await send('/v1/schema/set', { schema: '{"properties":[]}' })
    assert.equal((await send('/v1/validate', { meta: [] })).valid, true)
    assert.equal((await client.post('/v1/add', { collection: c, key: 'k', lang: 'en', contentMd: '', meta: [[]] })).status, 400)
    await client.post('/v1/delete-collection', { collection: c })
    await client.server.request('DELETE', '/v1/collection-config', { collection: c })
    await unchanged('empty lists')
  })

  it('bad input: a lone surrogate in content or metadata is 400 invalid UTF-8, as in a key, in every operation that writes documents', async () => {
    const lone = ['\ud800', 'a\udc00b', '\udc00\ud800', 'x'.repeat(100_000).concat('\ud83d')]
    for (const { method, path, body } of WRITES) {
      const refusal = async (fields: Body): Promise<unknown> =>
        (await client.server.request(method, path, { ...body, ...fields })).json().error
      for (const bad of lone) {
        assert.equal(await refusal({ contentMd: bad }), 'invalid contentMd: invalid UTF-8')
        assert.equal(await refusal({ meta: { a: ['b', bad] } }), 'invalid meta.a: invalid UTF-8')
        assert.equal(await refusal({ meta: { [bad.slice(-300)]: ['b'] } }), 'invalid meta: a key is invalid UTF-8')
      }
    }
    const documents = lone.flatMap((bad) => [{ key: 'doc', lang: 'en', contentMd: bad }, { key: 'doc', lang: 'en', contentMd: '', meta: { a: [bad] } }]) // prettier-ignore
    const batch = await client.post('/v1/add-batch', { collection: 'input_forms-guarded', documents })
    assert.match(
      batch.text,
      /^\{"error":"all documents failed: documents\[0\]: invalid contentMd: invalid UTF-8; documents\[1\]: invalid meta.a: invalid UTF-8/,
    )
    await unchanged('lone surrogates')
    const c = client.collection()
    for (const contentMd of ['😀', '\ufffd', '\uffff']) assert.equal((await client.add(c, 'pair', { contentMd, meta: { a: [contentMd] } })).contentMd, contentMd) // prettier-ignore
    await client.post('/v1/delete-collection', { collection: c })
  })
})
