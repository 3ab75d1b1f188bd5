/**
 * Unusual text: stored text is returned character by character in every answer that contains it, after
 * updates, restores and a restart.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'

const EVERY_ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('')

const CONTENTS: Readonly<Record<string, string>> = {
  ascii: EVERY_ASCII,
  nul: 'a\0b\0\0c',
  emoji: '👩‍👩‍👧‍👦 🇩🇪 👍🏽 🙂',
  astral: '\u{1d54f}\u{20000}\u{10ffff}',
  combining: 'e\u0301 \u00e9 A\u030a \u212b',
  direction: 'abc \u202eשלום\u202c مرحبا',
  separators: 'a\u2028b\u2029c\u0085d\u00a0e\ufeff',
  noncharacters: '\ufffe\uffff\ufdd0',
  replacement: 'a\ufffdb',
  script: '</script><!-- --> \\u0041 \\n %s ${x} {{y}}',
  lines: '\r\n\n\r\t  \n\n',
  json: '{"collection":"x","contentMd":"\\"}',
}

/** Half of a surrogate pair is not a character: UTF-8 cannot encode it. */
const LONE_SURROGATES = ['a\ud800b', 'a\udfffb', '\udc00\ud800', 'emoji cut in half \ud83d']

describe('unusual text', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start()
  })
  after(() => client.stop())

  it('text: any content, NUL included, comes back as it was from add, get, search, revisions, update and restore; lone surrogates are 400', async () => {
    const c = client.collection()
    for (const [key, contentMd] of Object.entries(CONTENTS)) {
      assert.equal((await client.add(c, key, { contentMd })).contentMd, contentMd, key)
      assert.equal((await client.get(c, key))?.contentMd, contentMd, key)
      assert.equal((await client.get(c, key, { env: { x: 'y' } }))?.contentMd, contentMd, key)
      const { timestamp } = (await client.revisions(c, key))[0] ?? {}
      await client.update(c, key, { contentMd: 'between' })
      const restored = await client.post('/v1/revisions/restore', { collection: c, key, lang: 'en', timestamp, revision: 1 })
      assert.equal(restored.json().contentMd, contentMd, key)
      assert.equal((await client.update(c, key, { meta: { updated: ['1'] } })).contentMd, contentMd, key)
      assert.equal((await client.setTtl(c, key, 600)).contentMd, contentMd, key)
    }
    const { documents } = await client.search(c, { limit: 1000 })
    assert.deepEqual(Object.fromEntries(documents.map(({ key, contentMd }) => [key, contentMd])), CONTENTS)
    for (const contentMd of LONE_SURROGATES) {
      const refused = await client.post('/v1/add', { collection: c, key: 'lone', lang: 'en', contentMd })
      assert.equal(summary(refused), '400 {"error":"invalid contentMd: invalid UTF-8"}')
      assert.equal(await client.get(c, 'lone'), undefined)
    }
  })

  it('text: template values and contents with unusual text are put together character by character', async () => {
    for (const [key, text] of Object.entries(CONTENTS)) {
      await client.add('template-text', key, { contentMd: `${text}%%value%%${text}` })
      assert.equal((await client.get('template-text', key, { env: { value: text } }))?.contentMd, text + text + text, key)
    }
  })

  it('text: any metadata comes back as it was and is found by its value; lone surrogates are 400', async () => {
    const c = client.collection()
    for (const [key, text] of Object.entries(CONTENTS)) {
      const meta = { [`key ${text}`]: [text, 'other'], value: [`only ${key}`, text] }
      assert.deepEqual((await client.add(c, key, { meta })).meta, meta, key)
      assert.deepEqual((await client.get(c, key))?.meta, meta, key)
      assert.ok((await client.keys(c, { filterMeta: { value: [text] }, limit: 1000 })).includes(key), key)
      assert.deepEqual(await client.keys(c, { filterMeta: { value: [`only ${key}`] } }), [key])
    }
    for (const text of LONE_SURROGATES) {
      const refused = async (meta: object): Promise<string> =>
        summary(await client.post('/v1/add', { collection: c, key: 'lone', lang: 'en', contentMd: '', meta }))
      assert.equal(await refused({ value: ['other', text] }), '400 {"error":"invalid meta.value: invalid UTF-8"}')
      assert.equal(await refused({ [text]: ['other'] }), '400 {"error":"invalid meta: a key is invalid UTF-8"}')
      assert.equal(await client.get(c, 'lone'), undefined)
    }
  })

  it('text: keys of any text but NUL work in every look-up and come back as they were', async () => {
    const c = client.collection()
    const keys = [
      'a b',
      ' ',
      '/',
      '../..',
      '%2e%2f',
      'a?b#c&d=e',
      '"',
      '\\',
      "'",
      '__proto__',
      'constructor',
      'toString',
      '🙂',
      'e\u0301',
      '\u202e',
      '\n',
      '\t\r',
      '0',
      '|',
      'ı',
    ]
    for (const key of keys) {
      const written = await client.add(c, key, { contentMd: `content of ${key}` })
      assert.deepEqual([written.key, await client.get(c, key)], [key, written], JSON.stringify(key))
      const query = new URLSearchParams({ collection: c, key }).toString()
      assert.equal((await client.server.get(`/v1/doc-meta?${query}`)).json().key, key)
      assert.equal((await client.revisions(c, key)).length, 1)
    }
    assert.deepEqual((await client.keys(c, { limit: 1000 })).sort(), [...keys].sort())
    for (const key of keys) assert.equal((await client.delete(c, key)).key, key)
    assert.deepEqual(await client.keys(c), [])
  })

  it('text: collections of any printable name keep apart and work in bodies and query strings', async () => {
    const names = [
      'a b',
      'a/b',
      'a',
      '/',
      '..',
      'Ünïcödé 🙂',
      '中文',
      '__proto__',
      'constructor',
      '**',
      '"',
      '%41',
      'a&collection=b',
      '[]',
      '0',
    ]
    for (const name of names) await client.add(name, 'doc', { contentMd: `in ${name}`, meta: { name: [name] } })
    for (const name of names) {
      assert.equal((await client.get(name, 'doc'))?.contentMd, `in ${name}`)
      assert.deepEqual([await client.metaKeys(name), (await client.stats(name))?.documentCount], [{ name: [name] }, 1], name)
      assert.equal((await client.search(name, { filterMeta: { name: [name] } })).total, 1)
    }
    for (const name of names) assert.equal((await client.post('/v1/delete-collection', { collection: name })).json().deleted, 1, name)
  })

  it('text: languages of any printable text are stored and distinguished', async () => {
    const c = client.collection()
    const langs = ['en', 'en_GB', 'zh-Hant', 'x', '日本語', '__proto__', 'xx yy', 'e/n']
    for (const lang of langs) await client.add(c, 'doc', { lang, contentMd: `in ${lang}` })
    for (const lang of langs) assert.deepEqual((await client.get(c, 'doc', { lang }))?.contentMd, `in ${lang}`)
    assert.equal((await client.search(c)).total, langs.length)
  })

  it('text: unusual text survives a kill and a restart, and the index built from it finds its words', async () => {
    const first = await DocumentsClient.start()
    let second: DocumentsClient | undefined
    try {
      for (const [key, contentMd] of Object.entries(CONTENTS))
        await first.add('c', key, { contentMd: `${contentMd} walrus`, meta: { text: [contentMd] } })
      const before = await first.search('c', { limit: 100 })
      await first.server.kill()
      second = await DocumentsClient.start({ directory: first.server.directory })
      assert.deepEqual(await second.search('c', { limit: 100 }), before)
      assert.deepEqual(await second.found('c', 'walrus'), await first.stop().then(() => Object.keys(CONTENTS).sort()))
    } finally {
      await second?.stop()
      await first.stop()
    }
  })
})
