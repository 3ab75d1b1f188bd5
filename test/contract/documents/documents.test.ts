/**
 * Single documents over HTTP: add, get, doc-meta, update, delete. service-1, "Document operations"; http.md,
 * section 1.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

describe('documents', () => {
  let client: DocumentsClient
  let c: string
  before(async () => {
    client = await DocumentsClient.shared()
    c = client.collection()
  })
  after(() => client.stop())

  describe('"`POST /v1/add`: Upserts by identity, creates a revision, updates indexes. Returns the Document"', () => {
    it('add: the answer is the document as written, with id, times in unix seconds and no expiry', async () => {
      const before = Math.floor(Date.now() / 1000)
      const meta = { category: ['guide', 'intro'], author: ['Ada'] }
      const document = await client.add(c, 'Guides/First', { lang: 'en_GB', contentMd: '# One\n', meta })
      const now = Math.floor(Date.now() / 1000)
      assert.ok(document.addedAt >= before && document.addedAt <= now, String(document.addedAt))
      assert.deepEqual(document, {
        id: `${c}|guides/first|en_gb`,
        key: 'Guides/First',
        lang: 'en_GB',
        meta,
        contentMd: '# One\n',
        addedAt: document.addedAt,
        updatedAt: document.addedAt,
      })
      assert.deepEqual(await client.get(c, 'Guides/First', { lang: 'en_GB' }), document)
    })

    it('add: the same metadata in another order of keys is the same, the order of values is kept', async () => {
      await client.add(c, 'order-1', { meta: { b: ['2', '1', '2'], a: ['x'] } })
      await client.add(c, 'order-2', { meta: { a: ['x'], b: ['2', '1', '2'] } })
      const [one, two] = [await client.get(c, 'order-1'), await client.get(c, 'order-2')]
      assert.equal(JSON.stringify(one?.meta), JSON.stringify(two?.meta))
      assert.deepEqual(one?.meta, { a: ['x'], b: ['2', '1', '2'] })
    })

    it('add: an empty contentMd is allowed, absent and null metadata are empty, an empty list of values is kept', async () => {
      assert.equal((await client.add(c, 'empty')).contentMd, '')
      assert.deepEqual((await client.add(c, 'empty', { meta: null })).meta, {})
      assert.deepEqual((await client.add(c, 'empty', { meta: { none: [] } })).meta, { none: [] })
      assert.deepEqual((await client.get(c, 'empty'))?.meta, { none: [] })
    })

    it('add: writing again replaces content, metadata and expiry, keeps addedAt and counts as a revision', async () => {
      const first = await client.add(c, 'again', { contentMd: 'walrus', meta: { a: ['1'] }, ttl: 1000 })
      await client.until(async () => Math.floor(Date.now() / 1000) > first.addedAt, 'the next second')
      const second = await client.add(c, 'again', { contentMd: 'penguin' })
      assert.equal(second.addedAt, first.addedAt)
      assert.ok(second.updatedAt > first.updatedAt)
      assert.deepEqual(await client.get(c, 'again'), { ...second, meta: {}, contentMd: 'penguin' })
      assert.ok(!('expiresAt' in second))
      assert.equal((await client.revisions(c, 'again')).length, 2)
    })

    it('add: indexes are updated with the answer: listing, full text and meta-keys show the new state only', async () => {
      const own = client.collection()
      await client.add(own, 'seen', { contentMd: 'walrus', meta: { colour: ['red'] } })
      assert.deepEqual(await client.found(own, 'walrus'), ['seen'])
      assert.deepEqual(await client.keys(own, { filterMeta: { colour: ['red'] } }), ['seen'])
      await client.add(own, 'seen', { contentMd: 'penguin', meta: { colour: ['blue'] } })
      assert.deepEqual([await client.found(own, 'walrus'), await client.found(own, 'penguin')], [[], ['seen']])
      assert.deepEqual(await client.keys(own, { filterMeta: { colour: ['red'] } }), [])
      assert.deepEqual(await client.metaKeys(own), { colour: ['blue'] })
    })

    it('add: saveRevision is ignored, a revision is always written', async () => {
      await client.add(c, 'kept', { saveRevision: false })
      await client.add(c, 'kept', { saveRevision: false })
      assert.equal((await client.revisions(c, 'kept')).length, 2)
    })

    it('add: 64 clients that write one document leave one document with 64 revisions', async () => {
      const contents = Array.from({ length: 64 }, (_, number) => `content ${number}`)
      const answers = await Promise.all(contents.map((contentMd) => client.add(c, 'crowd', { contentMd })))
      assert.equal(new Set(answers.map(({ addedAt }) => addedAt)).size, 1)
      const revisions = await client.revisions(c, 'crowd')
      assert.deepEqual(revisions.map(({ contentMd }) => contentMd).sort(), contents.sort())
      assert.equal((await client.get(c, 'crowd'))?.contentMd, revisions[0]?.contentMd)
    })
  })

  describe('"`POST /v1/get`: Returns the latest Document; 404 `not found`"', () => {
    it('get: another key, language or collection is 404 not found', async () => {
      await client.add(c, 'there')
      const others = [{ key: 'ther' }, { key: 'there ' }, { lang: 'de' }, { collection: 'elsewhere' }, { collection: `${c}x` }]
      for (const other of others) assert.equal(await client.get(c, 'there', other), undefined, JSON.stringify(other))
    })

    it('get: one key in several languages is several documents', async () => {
      for (const lang of ['en', 'de', 'en_GB']) await client.add(c, 'polyglot', { lang, contentMd: `in ${lang}` })
      for (const lang of ['en', 'de', 'en_GB']) assert.equal((await client.get(c, 'polyglot', { lang }))?.contentMd, `in ${lang}`)
      assert.equal((await client.delete(c, 'polyglot')).deleted, true)
      assert.equal((await client.get(c, 'polyglot', { lang: 'de' }))?.contentMd, 'in de')
    })
  })

  describe('"`GET /v1/doc-meta?collection=&key=&lang=`: metadata without content; `lang` default `en`"', () => {
    it('doc-meta: key, lang, meta, times and expiry of the document without its content, by GET and by POST', async () => {
      const { key, lang, meta, addedAt, updatedAt, expiresAt } = await client.add(c, 'a b/ö', { meta: { k: ['v'] }, ttl: 600 })
      assert.equal(expiresAt, updatedAt + 600)
      const query = new URLSearchParams({ collection: c, key: 'a b/ö' }).toString()
      const byGet = (await client.server.get(`/v1/doc-meta?${query}`)).json()
      const byPost = (await client.post('/v1/doc-meta', { collection: c, key, lang })).json()
      for (const answer of [byGet, byPost]) {
        const { id, ...rest } = answer
        assert.ok(id === undefined || id === `${c}|a b/ö|en`)
        assert.deepEqual(rest, { key, lang, meta, addedAt, updatedAt, expiresAt })
      }
    })

    it('doc-meta: another language is asked for by lang, a missing document is 404 not found', async () => {
      await client.add(c, 'meta-de', { lang: 'de' })
      assert.equal(summary(await client.server.get(`/v1/doc-meta?collection=${c}&key=meta-de`)), NOT_FOUND)
      assert.equal((await client.server.get(`/v1/doc-meta?collection=${c}&key=meta-de&lang=de`)).json().lang, 'de')
    })
  })

  describe('"`PATCH /v1/update`: `meta` (replaces all; `{}` clears), `contentMd` (replaces), `ttl` (0 removes). Each part independent"', () => {
    const original = { contentMd: 'walrus', meta: { a: ['1'], b: ['2'] }, ttl: 5000 }

    it('update: contentMd alone replaces the content and leaves metadata and expiry', async () => {
      const { expiresAt, addedAt } = await client.add(c, 'u-content', original)
      const updated = await client.update(c, 'u-content', { contentMd: 'penguin' })
      assert.deepEqual(
        [updated.contentMd, updated.meta, updated.expiresAt, updated.addedAt],
        ['penguin', original.meta, expiresAt, addedAt],
      )
      assert.deepEqual(await client.get(c, 'u-content'), updated)
    })

    it('update: meta alone replaces all metadata, {} clears it, content and expiry stay', async () => {
      const { expiresAt } = await client.add(c, 'u-meta', original)
      const replaced = await client.update(c, 'u-meta', { meta: { c: ['3'] } })
      assert.deepEqual([replaced.contentMd, replaced.meta, replaced.expiresAt], ['walrus', { c: ['3'] }, expiresAt])
      const cleared = await client.update(c, 'u-meta', { meta: {} })
      assert.deepEqual([cleared.contentMd, cleared.meta, cleared.expiresAt], ['walrus', {}, expiresAt])
      assert.deepEqual(await client.get(c, 'u-meta'), cleared)
    })

    it('update: ttl alone replaces the expiry, 0 removes it, content and metadata stay', async () => {
      await client.add(c, 'u-ttl', original)
      const later = await client.update(c, 'u-ttl', { ttl: 9000 })
      assert.equal(later.expiresAt, later.updatedAt + 9000)
      const endless = await client.update(c, 'u-ttl', { ttl: 0 })
      assert.ok(!('expiresAt' in endless))
      assert.deepEqual([endless.contentMd, endless.meta], ['walrus', original.meta])
    })

    it('update: all parts at once, empty content included', async () => {
      await client.add(c, 'u-all', original)
      const updated = await client.update(c, 'u-all', { contentMd: '', meta: { z: [] }, ttl: 0 })
      assert.deepEqual([updated.contentMd, updated.meta, updated.expiresAt], ['', { z: [] }, undefined])
      assert.deepEqual(await client.found(c, 'walrus').then((keys) => keys.includes('u-all')), false, 'the old text is gone from the index')
    })

    it('update: without a part, or with all parts null, 400 no fields to update, and nothing is written', async () => {
      await client.add(c, 'u-none', original)
      for (const change of [{}, { meta: null, contentMd: null, ttl: null }, { key2: 'x' }]) {
        const answer = await client.server.request('PATCH', '/v1/update', { collection: c, key: 'u-none', lang: 'en', ...change })
        assert.equal(summary(answer), '400 {"error":"no fields to update"}')
      }
      assert.equal((await client.revisions(c, 'u-none')).length, 1)
    })

    it('update: a part that is null counts as absent beside one that is given', async () => {
      await client.add(c, 'u-null', original)
      const updated = await client.update(c, 'u-null', { contentMd: 'new', meta: null, ttl: null })
      assert.deepEqual([updated.meta, updated.expiresAt !== undefined], [original.meta, true])
    })

    it('update: a document that is not there is 404 not found and is not created', async () => {
      const body = { collection: c, key: 'u-missing', lang: 'en', contentMd: 'x' }
      assert.equal(summary(await client.server.request('PATCH', '/v1/update', body)), NOT_FOUND)
      assert.equal(await client.get(c, 'u-missing'), undefined)
    })

    it('update: writes a revision', async () => {
      await client.add(c, 'u-revision', original)
      await client.update(c, 'u-revision', { meta: {} })
      const revisions = await client.revisions(c, 'u-revision')
      assert.deepEqual(
        revisions.map(({ contentMd, meta }) => [contentMd, meta]),
        [
          ['walrus', {}],
          ['walrus', original.meta],
        ],
      )
    })

    it('update: clients that change different parts at once lose none of the changes', async () => {
      await client.add(c, 'u-crowd', original)
      const changes = Array.from({ length: 40 }, (_, number) =>
        number % 2 === 0 ? { contentMd: `half ½ of ${number}` } : { meta: { n: [String(number)], half: ['½'] } },
      )
      await Promise.all(changes.map((change) => client.update(c, 'u-crowd', change)))
      const final = await client.get(c, 'u-crowd')
      const revisions = await client.revisions(c, 'u-crowd')
      assert.equal(revisions.length, 41)
      assert.match(final?.contentMd ?? '', /^half ½ of \d+$/)
      assert.deepEqual(final?.meta.half, ['½'])
      for (const { contentMd, meta } of changes) {
        const kept = revisions.some((state) => (contentMd === undefined ? state.meta.n?.[0] === meta?.n[0] : state.contentMd === contentMd))
        assert.ok(kept, JSON.stringify({ contentMd, meta }))
      }
      revisions.slice(0, -1).forEach((state, index) => {
        const before = revisions[index + 1]
        const changed = Number(state.contentMd !== before?.contentMd) + Number(state.meta.n?.[0] !== before?.meta.n?.[0])
        assert.equal(changed, 1, 'each revision differs from the one before in the part of one request')
      })
    })
  })

  describe('"`POST /v1/delete`: Two response shapes are documented, `{deleted: bool}` and `{status, collection, key, lang}`"', () => {
    it('delete: answers both documented shapes at once', async () => {
      await client.add(c, 'gone')
      assert.deepEqual(await client.delete(c, 'gone'), { status: 'deleted', deleted: true, collection: c, key: 'gone', lang: 'en' })
    })

    it('delete: the document is gone from get, listing, full text, revisions and meta-keys; a second delete is 404 not found', async () => {
      const own = client.collection()
      await client.add(own, 'left', { contentMd: 'walrus', meta: { colour: ['red'] } })
      await client.add(own, 'gone', { contentMd: 'walrus', meta: { colour: ['blue'] } })
      await client.delete(own, 'gone')
      assert.equal(await client.get(own, 'gone'), undefined)
      assert.deepEqual([await client.keys(own), await client.found(own, 'walrus')], [['left'], ['left']])
      assert.deepEqual(await client.metaKeys(own), { colour: ['red'] })
      for (const path of ['/v1/revisions', '/v1/delete', '/v1/doc-meta'])
        assert.equal(summary(await client.post(path, { collection: own, key: 'gone', lang: 'en' })), NOT_FOUND, path)
    })

    it('delete: a document added again has a history of its own', async () => {
      await client.add(c, 'reborn', { contentMd: 'old' })
      await client.delete(c, 'reborn')
      await client.add(c, 'reborn', { contentMd: 'new' })
      assert.deepEqual(
        (await client.revisions(c, 'reborn')).map(({ contentMd }) => contentMd),
        ['new'],
      )
    })
  })
})
