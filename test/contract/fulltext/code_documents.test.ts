/**
 * Source code as documents: service-1, "Code documents". Which documents count as code, which of their terms
 * are indexed, and how queries match them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { FulltextClient } from './client.js'

const CODE = 'function getUserName(requests) { return parse_html(requests, 7) } // the running tests of HTTPServer'

const DOCUMENTS = [
  { key: 'lib/by-key.JS', lang: 'en', contentMd: CODE },
  { key: 'by-path', lang: 'en', meta: { path: ['src/x.py'] }, contentMd: CODE },
  { key: 'by-kind', lang: 'en', meta: { kind: ['code'] }, contentMd: CODE },
  { key: 'prose.js', lang: 'en', meta: { kind: ['prose'] }, contentMd: CODE },
  { key: 'notes.md', lang: 'en', contentMd: CODE },
]
const ALL_CODE = ['by-kind', 'by-path', 'lib/by-key.JS']

describe('code documents', () => {
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.shared()
    await client.add('code_documents-code', DOCUMENTS)
  })
  after(() => client.stop())

  const keys = (query: string, more: Record<string, unknown> = {}): Promise<string[]> =>
    client.sortedKeys(query, { collection: 'code_documents-code', ...more })

  it('are recognised by `kind`, which wins both ways, or by the extension of path or key', async () => {
    assert.deepEqual(await keys('html', { disableStem: true }), ALL_CODE.concat('notes.md', 'prose.js').sort())
    assert.deepEqual(await keys('user'), ALL_CODE)
    assert.deepEqual(await keys('server'), ALL_CODE)
  })

  it('keep the whole identifier, and its parts across camelCase, snake_case and runs of capitals', async () => {
    for (const query of ['getusername', 'user', 'parse_html', 'httpserver', 'http'])
      for (const key of ALL_CODE) assert.ok((await keys(query, { disableStem: true })).includes(key), `${query}: ${key}`)
  })

  it('have no stop words and keep single characters and digits', async () => {
    assert.deepEqual(await keys('7'), ALL_CODE.concat('notes.md', 'prose.js').sort())
    assert.deepEqual(await keys('"return parse_html"'), [...ALL_CODE, 'notes.md', 'prose.js'].sort())
    assert.deepEqual(await keys('"the running tests of"'), ALL_CODE.concat('notes.md', 'prose.js').sort())
  })

  it('are not stemmed while a query is, so that an English plural does not match', async () => {
    assert.deepEqual(await keys('requests'), ['notes.md', 'prose.js'])
    assert.deepEqual(await keys('requests', { disableStem: true }), ALL_CODE)
  })

  it('are found by identifiers as people paste them, in every mode', async () => {
    for (const query of ['getUserName', 'getUserName(requests)', 'parse_html', 'HTTPServer']) {
      for (const mode of ['simple', 'boolean', 'phrase']) {
        if (mode === 'boolean' && query.includes('(')) continue
        const found = await keys(query, { mode })
        for (const key of ALL_CODE) assert.ok(found.includes(key), `${mode} ${query}: ${key}`)
      }
    }
    assert.deepEqual(await keys('getUserName AND parse_html', { mode: 'boolean' }), ALL_CODE.concat('notes.md', 'prose.js').sort())
    assert.deepEqual(await keys('"parse_html return"'), [])
  })

  it('change with their metadata: what becomes prose is read as prose, and the other way round', async () => {
    await client.add('code_documents-code', [{ key: 'moves', lang: 'en', contentMd: 'fooBar' }])
    assert.ok(!(await keys('foo')).includes('moves'))
    await client.add('code_documents-code', [{ key: 'moves', lang: 'en', meta: { kind: ['code'] }, contentMd: 'fooBar' }])
    assert.ok((await keys('foo')).includes('moves'))
    assert.equal((await client.request('POST', '/v1/fts-reindex?collection=code_documents-code')).status, 200)
    assert.ok((await keys('foo')).includes('moves'))
    await client.add('code_documents-code', [{ key: 'moves', lang: 'en', contentMd: 'fooBar' }])
    assert.ok(!(await keys('foo')).includes('moves'))
  })
})
