/**
 * The identity of a document, and the template variables of its content. service-1, "Document", identity
 * rules 1 to 5; http.md, "Document id".
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

describe('identity', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  describe('rule 1: "The identity of a document is lowercased collection, key and language"', () => {
    it('identity: keys, languages and collections that differ only in case are one document', async () => {
      await client.add('Identity-Blog', 'Post', { lang: 'en_GB', contentMd: 'one' })
      await client.add('identity-bLOG', 'pOST', { lang: 'EN_gb', contentMd: 'two' })
      const { documents, total } = await client.search('Identity-BLOG')
      assert.equal(total, 1)
      assert.deepEqual(documents[0]?.contentMd, 'two')
      assert.equal((await client.revisions('identity-blog', 'pOST', { lang: 'EN_gb' })).length, 2)
      assert.equal((await client.stats('Identity-Blog'))?.documentCount, 1)
    })

    it('identity: the id is lower-cased collection, key and language joined by |, key and lang keep their case', async () => {
      const { id, key, lang } = await client.add('Identity Mixed', 'Über/Straße|X', { lang: 'DE_at' })
      assert.deepEqual([id, key, lang], ['identity mixed|über/straße|x|de_at', 'Über/Straße|X', 'DE_at'])
    })

    it('identity: letters beyond ASCII fold too, what only looks alike does not', async () => {
      const c = client.collection()
      for (const key of ['ÜBER', 'über', 'ДОМ', 'дом', 'e\u0301', '\u00e9', 'ﬁ', 'fi', 'ß', 'SS']) await client.add(c, key)
      assert.deepEqual((await client.keys(c)).sort(), ['über', 'дом', 'e\u0301', '\u00e9', 'ﬁ', 'fi', 'ß', 'SS'].sort())
    })

    it('identity: the forms of the Greek sigma are one letter in collections, keys and languages, sealed or not', async () => {
      const keyed = await DocumentsClient.start({ env: { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64') } })
      try {
        const sealed = await keyed.server.request('PUT', '/v1/collection-config', { collection: 'sealedΣ', encrypted: true })
        assert.equal(sealed.status, 200, sealed.text)
        for (const c of ['plain', 'sealed']) await meetsByAnySigma(keyed, c)
      } finally {
        await keyed.stop()
      }
    })

    it('identity: collections and languages with a | are refused, also by settings and batches', async () => {
      const c = client.collection()
      const refusedCollection = '400 {"error":"invalid collection: | is not allowed"}'
      const add = async (collection: string, lang: string): Promise<string> =>
        summary(await client.post('/v1/add', { collection, key: 'k', lang, contentMd: '' }))
      assert.equal(await add(`${c}|one`, 'en'), refusedCollection)
      assert.equal(await add(c, 'e|n'), '400 {"error":"invalid lang: | is not allowed"}')
      const documents = [{ key: 'k', lang: 'a|b', contentMd: '' }, { key: 'fine', lang: 'en', contentMd: '' }] // prettier-ignore
      const batch = (await client.post('/v1/add-batch', { collection: c, documents })).json()
      assert.deepEqual([batch.added, batch.failed, batch.errors], [1, 1, ['k: invalid lang: | is not allowed']])
      const config = await client.server.request('PUT', '/v1/collection-config', { collection: `${c}|one`, description: 'x' })
      assert.equal(summary(config), refusedCollection)
    })

    it('identity: a separator in a key does not make two documents one', async () => {
      const c = client.collection()
      await client.add(c, 'a|en', { lang: 'x', contentMd: 'one' })
      const second = await client.post('/v1/add', { collection: c, key: 'a', lang: 'en|x', contentMd: 'two' })
      assert.equal(summary(second), '400 {"error":"invalid lang: | is not allowed"}')
      await client.add(c, 'a', { lang: 'x', contentMd: 'two' })
      assert.equal((await client.get(c, 'a|en', { lang: 'x' }))?.contentMd, 'one')
      assert.equal((await client.get(c, 'a', { lang: 'x' }))?.contentMd, 'two')
    })
  })

  describe('rule 2: "Writing two spellings leaves the content that arrived last"', () => {
    it('identity: the last of two spellings gives content, key and lang, under either spelling', async () => {
      const c = client.collection()
      await client.add(c, 'README', { contentMd: 'first' })
      await client.add(c, 'readme', { contentMd: 'second' })
      for (const key of ['README', 'readme']) {
        const document = await client.get(c, key)
        assert.deepEqual([document?.key, document?.contentMd], ['readme', 'second'])
      }
      await client.add(c, 'README', { contentMd: 'third' })
      assert.deepEqual((await client.get(c, 'readme'))?.key, 'README')
    })

    it('identity: two spellings in one batch leave one document with the later content', async () => {
      const c = client.collection()
      const documents = ['A', 'a', 'A'].map((key, number) => ({ key, lang: 'en', contentMd: `content ${number}` }))
      const { added, updated } = await client.addBatch(c, documents)
      assert.deepEqual([added, updated], [1, 2])
      assert.deepEqual((await client.get(c, 'a'))?.contentMd, 'content 2')
    })
  })

  describe('rule 3: "a fetch by another spelling finds the document only if that spelling was also written at some point"', () => {
    const paths = [
      ['POST', '/v1/get', {}],
      ['POST', '/v1/doc-meta', {}],
      ['POST', '/v1/revisions', {}],
      ['PATCH', '/v1/update', { contentMd: 'x' }],
      ['POST', '/v1/set-ttl', { ttl: 10 }],
      ['POST', '/v1/delete', {}],
    ] as const

    it('identity: a spelling never written is 404 not found in every operation and changes nothing', async () => {
      const c = client.collection()
      const written = await client.add(c, 'Spelled', { contentMd: 'original' })
      for (const [method, path, more] of paths) {
        const answer = await client.server.request(method, path, { collection: c, key: 'SPELLED', lang: 'en', ...more })
        assert.equal(summary(answer), NOT_FOUND, path)
      }
      assert.deepEqual(await client.get(c, 'Spelled'), written)
    })

    it('identity: the language is part of the spelling, the collection is not', async () => {
      await client.add('Identity-Cased', 'k', { lang: 'en_GB' })
      assert.equal(await client.get('Identity-Cased', 'k', { lang: 'en_gb' }), undefined)
      assert.notEqual(await client.get('identity-cASED', 'k', { lang: 'en_GB' }), undefined)
    })

    it('identity: every spelling that was written works in every operation', async () => {
      const c = client.collection()
      for (const key of ['One', 'ONE', 'one']) await client.add(c, key)
      for (const key of ['One', 'ONE', 'one']) {
        for (const [method, path, more] of paths.slice(0, -1)) {
          assert.equal(
            (await client.server.request(method, path, { collection: c, key, lang: 'en', ...more })).status,
            200,
            `${path} ${key}`,
          )
        }
      }
      assert.equal((await client.get(c, 'One'))?.key, 'one', 'an update by an older spelling keeps the one that was written last')
      assert.equal((await client.delete(c, 'ONE')).deleted, true)
    })

    it('identity: a delete forgets all spellings', async () => {
      const c = client.collection()
      for (const key of ['Two', 'TWO']) await client.add(c, key)
      await client.delete(c, 'TWO')
      await client.add(c, 'two', { contentMd: 'new' })
      assert.deepEqual([await client.get(c, 'Two'), await client.get(c, 'TWO')], [undefined, undefined])
      assert.equal((await client.get(c, 'two'))?.contentMd, 'new')
    })

    it('identity: delete-batch counts a spelling never written as not found', async () => {
      const c = client.collection()
      await client.add(c, 'Three')
      const documents = ['three', 'Three'].map((key) => ({ key, lang: 'en' }))
      const answer = (await client.post('/v1/delete-batch', { collection: c, documents })).json()
      assert.deepEqual(answer, { deleted: 1, not_found: 1, failed: 0, errors: null })
    })
  })

  describe('rule 4: "A write to an existing identity updates it, keeps `addedAt` and creates a revision"', () => {
    it('identity: a write by another spelling keeps addedAt and creates a revision', async () => {
      const c = client.collection()
      const first = await client.add(c, 'Four', { contentMd: 'one' })
      await client.until(async () => Math.floor(Date.now() / 1000) > first.addedAt, 'the next second')
      const second = await client.add(c, 'FOUR', { contentMd: 'two' })
      assert.equal(second.addedAt, first.addedAt)
      assert.ok(second.updatedAt > first.updatedAt)
      assert.equal(second.id, first.id)
      assert.deepEqual(
        (await client.revisions(c, 'Four')).map(({ contentMd }) => contentMd),
        ['two', 'one'],
      )
    })
  })

  describe('rule 5: "in `/v1/get`, each `%%name%%` in contentMd is replaced by the value of `env.name`"', () => {
    const filled = async (contentMd: string, env: unknown): Promise<string | undefined> => {
      await client.add('identity-templates', 'template', { contentMd })
      return (await client.get('identity-templates', 'template', { env }))?.contentMd
    }

    it('template: every occurrence of every name is replaced, also side by side', async () => {
      assert.equal(await filled('%%a%%%%b%% and %%a%%', { a: '1', b: '2' }), '12 and 1')
      assert.equal(await filled('# %%Titel über%%\n', { 'Titel über': 'Ä "quoted" \\ \n 🙂' }), '# Ä "quoted" \\ \n 🙂\n')
    })

    it('template: names without a value stay unchanged, and names are case-sensitive', async () => {
      assert.equal(await filled('%%a%% %%A%% %%missing%% %a% %% a', { a: 'x' }), 'x %%A%% %%missing%% %a% %% a')
    })

    it('template: a value is not expanded again, and replacement patterns have no effect', async () => {
      assert.equal(await filled('%%a%%|%%b%%', { a: '%%b%%', b: '%%a%% $& $1 $$' }), '%%b%%|%%a%% $& $1 $$')
    })

    it('template: an empty value removes, an empty or absent env leaves the content', async () => {
      assert.equal(await filled('[%%a%%]', { a: '' }), '[]')
      assert.equal(await filled('[%%a%%]', {}), '[%%a%%]')
      assert.equal(await filled('[%%a%%]', null), '[%%a%%]')
    })

    it('template: a name may be long, and hold percent signs and line ends', async () => {
      const long = 'n'.repeat(3_000)
      assert.equal(await filled(`[%%${long}%%]`, { [long]: 'x' }), '[x]')
      assert.equal(await filled('%%50%%% %%a%b%% %%%%', { '50%': 'half', 'a%b': 'both' }), 'half both %%%%')
      assert.equal(await filled('%%a\r\n"b\\%%', { 'a\r\n"b\\': 'x' }), 'x')
      // Text that is not a variable does not hide the next variable. Of two overlapping ones the one that
      // ends first counts.
      assert.equal(await filled('100%% of %%a%% %%%b%%', { a: '1', b: '2' }), '100%% of 1 %2')
      assert.equal(await filled('%%a%%b%%', { 'a%%b': 'long', a: 'short' }), 'shortb%%')
      assert.equal(await filled('%%a%%b%%', { 'a%%b': 'long', b: 'short' }), 'long')
    })

    it('template: names of together more than 1 MiB are refused', async () => {
      await filled('%%a%%', {})
      const answer = await client.post('/v1/get', {
        collection: 'identity-templates',
        key: 'template',
        lang: 'en',
        env: { ['x'.repeat(1_048_577)]: 'x' },
      })
      assert.deepEqual(
        [answer.status, answer.json()['error']],
        [400, 'invalid env: names of together 1048581 bytes, at most 1048576 are allowed'],
      )
    })

    it('template: names of Object.prototype are ordinary names', async () => {
      const contentMd = '%%constructor%% %%toString%% %%__proto__%% %%hasOwnProperty%%'
      assert.equal(await filled(contentMd, { other: 'x' }), contentMd)
      assert.equal(await filled(contentMd, { constructor: 'c', toString: 't' }), 'c t %%__proto__%% %%hasOwnProperty%%')
    })

    it('template: only get replaces: the stored content, listings and searches keep the variable', async () => {
      await filled('walrus %%a%%', { a: 'x' })
      assert.equal((await client.get('identity-templates', 'template'))?.contentMd, 'walrus %%a%%')
      assert.equal((await client.search('identity-templates')).documents[0]?.contentMd, 'walrus %%a%%')
      assert.equal((await client.revisions('identity-templates', 'template'))[0]?.contentMd, 'walrus %%a%%')
    })

    it('template: 256 variables are taken, 257 are 400 and name the bound', async () => {
      const env = (count: number): unknown =>
        Object.fromEntries(Array.from({ length: count }, (_, number) => [`v${number}`, String(number)]))
      assert.equal(await filled('%%v0%% %%v255%%', env(256)), '0 255')
      const answer = await client.post('/v1/get', { collection: 'identity-templates', key: 'template', lang: 'en', env: env(257) })
      assert.equal(answer.status, 400)
      assert.match(answer.text, /257 variables, at most 256/)
    })

    it('template: a content full of percent signs takes no longer than it is long', async () => {
      const contentMd = '%'.repeat(1_000_000) + '%%a%%'
      const started = performance.now()
      const text = await filled(contentMd, { a: 'x' })
      assert.ok(performance.now() - started < 10_000)
      assert.ok(text !== undefined && text.startsWith('%%%%'))
    })
  })
})

async function meetsByAnySigma(client: DocumentsClient, c: string): Promise<void> {
  for (const [name, spellings] of [
    ['οδος', ['ΟΔΟΣ', 'οδος', 'οδοσ', 'Οδος']],
    ['σισυφος', ['ΣΙΣΥΦΟΣ', 'σισυφος', 'σισυφοσ']],
  ] as const) {
    for (const [at, key] of spellings.entries()) {
      const { id } = await client.add(`${c}Σ`, key, { lang: 'ΕΛΣ', contentMd: `text ${at}` })
      assert.equal(id, `${c}ς|${name}|ελς`)
    }
    assert.equal((await client.search(`${c}ς`)).total, 1)
    for (const key of spellings)
      assert.equal((await client.get(`${c}σ`, key, { lang: 'ΕΛΣ' }))?.contentMd, `text ${spellings.length - 1}`, key)
    const deleted = await client.post('/v1/delete', { collection: `${c}ς`, key: name, lang: 'ΕΛΣ' })
    assert.equal(deleted.status, 200, deleted.text)
    for (const key of spellings) assert.equal(await client.get(`${c}Σ`, key, { lang: 'ΕΛΣ' }), undefined, key)
  }
}
