/**
 * Names that every JavaScript object has (`__proto__`, `constructor` and others) are ordinary names wherever
 * a client chooses a name: in bodies that are parsed directly, and in those of 64 KiB or more, which are
 * first scanned and stripped of fields that the operation does not know. Answers are compared as text,
 * because a comparison of objects does not notice a lost `__proto__`. Cases of input_forms.test.ts are not
 * repeated.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'
import type { TestResponse } from '../../harness/server/server.js'

const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString']
/** fromEntries defines own properties. */
const mapOf = (value: unknown): unknown => Object.fromEntries(NAMES.map((name) => [name, value]))
const text = (value: unknown): string => JSON.stringify(value)

for (const paddingBytes of [0, 70_000]) {
  describe(`names that every object has, ${paddingBytes === 0 ? 'in small bodies' : 'in bodies that are scanned first'}`, () => {
    let client: DocumentsClient
    before(async () => {
      client = await DocumentsClient.start({ env: { SVC_SPELL: 'true' } })
    })
    after(() => client.stop())

    /** Puts unknown members with these names before the known ones, and the padding. */
    const send = async (path: string, fields: object, method = 'POST'): Promise<TestResponse> => {
      const unknown = text({ ...(mapOf({ collection: 'other', meta: {} }) as object), ignored: 'x'.repeat(paddingBytes) })
      const body = `${unknown.slice(0, -1)},${text(fields).slice(1)}`
      const answer = await client.server.request(method, path, body)
      assert.ok(answer.status === 200 || answer.status === 202, `${path}: ${answer.text.slice(0, 300)}`)
      return answer
    }

    it('names: __proto__, constructor and the like are metadata keys like others in writes, reads, filters, ranges, facets, lists, schemas and exports', async () => {
      const c = client.collection()
      const id = { collection: c, key: 'k', lang: 'en' }
      assert.ok((await send('/v1/add', { ...id, contentMd: 'walrus', meta: mapOf(['1']) })).text.includes(`"meta":${text(mapOf(['1']))}`))
      const documents = [{ key: 'l', lang: 'en', contentMd: 'walrus', meta: mapOf(['2', '3']) }]
      assert.equal((await send('/v1/add-batch', { collection: c, documents })).json().added, 1)
      assert.ok((await send('/v1/get', { ...id, key: 'l' })).text.includes(`"meta":${text(mapOf(['2', '3']))}`))
      assert.ok((await send('/v1/update', { ...id, meta: mapOf(['4']) }, 'PATCH')).text.includes(`"meta":${text(mapOf(['4']))}`))
      assert.ok((await send('/v1/revisions', id)).text.includes(`"meta":${text(mapOf(['1']))}`))
      const changed = mapOf({ from: ['1'], to: ['4'] })
      assert.ok((await send('/v1/revisions/diff', id)).text.includes(`"changed":${text(changed)}`))
      const keys = async (path: string, fields: object): Promise<string[]> => {
        const found = (await send(path, { collection: c, query: 'walrus', ...fields })).json<unknown>()
        const rows = Array.isArray(found) ? found : (found as { results: { document: unknown }[] }).results.map(({ document }) => document)
        return (rows as { key: string }[]).map(({ key }) => key).sort()
      }
      for (const path of ['/v1/search', '/v1/fts']) {
        assert.deepEqual(await keys(path, { filterMeta: mapOf(['4']) }), ['k'], path)
        assert.deepEqual(await keys(path, { filterMeta: mapOf(['1']) }), [], path)
      }
      for (const field of NAMES) {
        const own = (value: unknown): unknown => Object.fromEntries([[field, value]])
        assert.deepEqual(await keys('/v1/search', { filterMeta: own(['3']) }), ['l'], field)
        assert.deepEqual(await keys('/v1/fts', { rangeMeta: [{ field, gte: 3.5 }] }), ['k'], field)
        assert.deepEqual(await keys('/v1/fts', { rangeMeta: own({ lt: 3.5 }) }), ['l'], field)
      }
      const facets = (await send('/v1/fts', { collection: c, query: 'walrus', facetBy: NAMES })).text
      const counted = (await send('/v1/aggregate', { collection: c, facets: NAMES.map((field) => ({ field })) })).text
      for (const field of NAMES)
        for (const answer of [facets, counted])
          assert.match(
            answer,
            new RegExp(`"${field}":\\[\\{"value":"2","count":1\\},\\{"value":"3","count":1\\},\\{"value":"4","count":1\\}\\]`),
          )
      const listed = (await client.server.get(`/v1/meta-keys?collection=${c}`)).text
      for (const field of NAMES) assert.match(listed, new RegExp(`"${field}":`))
      await send('/v1/schema/set', { collection: c, schema: { required: NAMES, properties: mapOf({ pattern: '^[0-9]$' }) } })
      for (const missing of NAMES) {
        const meta = Object.fromEntries(NAMES.filter((name) => name !== missing).map((name) => [name, ['1']]))
        const refused = (await send('/v1/validate', { collection: c, meta })).json<{ valid: boolean; errors: unknown }>()
        assert.ok(!refused.valid && text(refused.errors).includes(missing), `${missing}: ${text(refused)}`)
      }
      assert.equal((await send('/v1/validate', { collection: c, meta: mapOf(['1']) })).json().valid, true)
      const exported = (await send('/v1/export', { collection: c, format: 'ndjson' })).text
      const copied = `{"collection":"${c}-copy","keepTimes":true,"x":"${'x'.repeat(paddingBytes)}","documents":[${exported.trim().split('\n').join(',')}]}`
      assert.equal((await client.server.post('/v1/add-batch', copied)).json().added, 2)
      assert.equal((await send('/v1/export', { collection: `${c}-copy`, format: 'ndjson' })).text.replaceAll(`${c}-copy`, c), exported)
    })

    it('names: __proto__, constructor and the like are collections, keys, languages, variables, synonyms, stop words and dictionary words like others', async () => {
      const env = mapOf('filled')
      for (const name of NAMES) {
        const id = { collection: name, key: name, lang: name }
        const contentMd = NAMES.map((one) => `%%${one}%%`).join(' ')
        assert.equal((await send('/v1/add', { ...id, contentMd })).json().id, `${name}|${name}|${name}`.toLowerCase())
        assert.equal((await send('/v1/get', { ...id, env })).json().contentMd, NAMES.map(() => 'filled').join(' '))
        assert.equal((await send('/v1/get', { ...id, env: {} })).json().contentMd, contentMd)
        await send('/v1/collection-config', { collection: name, description: name, customMeta: mapOf({ a: 1 }) }, 'PUT')
        await send('/v1/synonyms', { collection: name, term: name, synonyms: NAMES })
        await send('/v1/stopwords', { collection: name, lang: 'en', words: NAMES })
        await send('/v1/spell-dictionary', { collection: name, lang: 'en', words: NAMES }, 'PUT')
        const get = async (path: string): Promise<string> => (await client.server.get(`${path}?collection=${name}&lang=en`)).text
        assert.ok((await get('/v1/collection-config')).includes(`"customMeta":${text(mapOf({ a: 1 }))}`), name)
        assert.ok((await get('/v1/synonyms')).toLowerCase().includes(`{"${name}":[`.toLowerCase()), name)
        for (const word of NAMES)
          for (const path of ['/v1/stopwords', '/v1/spell-dictionary']) assert.match(await get(path), new RegExp(`"${word}"`, 'i'), path)
      }
      const lists = ['/v1/stats', '/v1/vector-stats', '/v1/collection-configs']
      for (const path of lists) {
        const answer = (await client.server.get(path)).text
        for (const name of NAMES) assert.ok(answer.includes(`"${name}"`), `${path} ${name}: ${answer.slice(0, 600)}`)
      }
      for (const name of NAMES) {
        const documents = [{ key: name, lang: name }]
        assert.equal((await send('/v1/delete-batch', { collection: name, documents })).json().deleted, 1)
        await send('/v1/delete-collection', { collection: name })
        assert.equal(summary(await client.post('/v1/get', { collection: name, key: name, lang: name })), NOT_FOUND)
      }
      // The inherited properties are unchanged: nothing was written into them.
      assert.equal((await client.add('plain', 'plain', { meta: { a: ['b'] } })).id, 'plain|plain|en')
      assert.equal((await client.search('other')).total, 0)
    })
  })
}
