/**
 * `POST /v1/ingest`: documents as scrapers and importers have them. service-1, "Document operations" and
 * "Metadata"; decisions.md, "Inputs"; docs/decisions/documents/ingest.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, type IngestJson, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'

const item = (key: string, contentMd = `content of ${key}`, more: Fields = {}): Fields => ({ key, lang: 'en', contentMd, ...more })

/** Without the duration, which no test can know. */
function counts({ durationMs, ...rest }: IngestJson): Omit<IngestJson, 'durationMs'> {
  assert.ok(Number.isSafeInteger(durationMs) && durationMs >= 0 && durationMs < 60_000, String(durationMs))
  return rest
}

describe('ingest', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  it('ingest: new documents are added, known ones updated, and the answer names collection, time and profile', async () => {
    const c = client.collection()
    await client.add(c, 'known', { contentMd: 'old' })
    const answer = await client.ingest(c, [item('new', 'walrus', { meta: { a: ['1'] }, ttl: 600 }), item('known', 'penguin')])
    assert.deepEqual(counts(answer), { added: 1, updated: 1, skipped: 0, failed: 0, errors: [], collection: c, profile: 'default' })
    const added = await client.get(c, 'new')
    assert.deepEqual([added?.contentMd, added?.meta, added?.expiresAt], ['walrus', { a: ['1'] }, (added?.updatedAt ?? 0) + 600])
    assert.equal((await client.get(c, 'known'))?.contentMd, 'penguin')
    assert.deepEqual(await client.found(c, 'walrus'), ['new'])
  })

  it('ingest: collection and documents are required, an empty list gives zeros', async () => {
    const c = client.collection()
    assert.equal(summary(await client.post('/v1/ingest', { documents: [] })), MISSING_FIELDS)
    assert.equal(summary(await client.post('/v1/ingest', { collection: c })), MISSING_FIELDS)
    const none = { added: 0, updated: 0, skipped: 0, failed: 0, errors: [], collection: c, profile: 'default' }
    assert.deepEqual(counts(await client.ingest(c, [])), none)
  })

  it('ingest: a document without lang, contentMd, or key and url fails alone and is named', async () => {
    const c = client.collection()
    const bad = [
      { ...item('x'), lang: '' },
      { ...item('x'), contentMd: undefined },
      { ...item(''), url: '' },
      null,
      'text',
      item('l'.repeat(1025)),
    ]
    const answer = await client.ingest(c, [item('first'), ...bad, item('last')])
    assert.deepEqual([answer.added, answer.failed], [2, bad.length])
    assert.deepEqual(answer.errors, [
      'documents[1]: missing fields',
      'documents[2]: missing fields',
      'documents[3]: missing fields',
      'documents[4]: an object is expected',
      'documents[5]: an object is expected',
      'documents[6]: invalid key: 1025 bytes, at most 1024 are allowed',
    ])
    assert.deepEqual(await client.keys(c), ['first', 'last'])
    assert.equal(
      summary(await client.post('/v1/ingest', { collection: c, documents: [item('')] })),
      '400 {"error":"all documents failed: documents[0]: missing fields"}',
    )
  })

  it('ingest: a document with a field of the wrong type fails alone, and its error names the field', async () => {
    const c = client.collection()
    const cases: readonly (readonly [field: string, values: readonly unknown[]])[] = [
      ['key', [1, ['k'], {}]],
      ['url', [1, true, {}]],
      ['lang', [1, ['en']]],
      ['contentMd', [0, ['x'], { text: 'x' }]],
      ['meta', ['text', 1, { a: 'b' }, { a: [1] }]],
      ['ttl', ['60', -1, 1.5, {}]],
      ['scraper', [1, {}]],
      ['scrapedAt', ['2026', -1, 1.5, {}]],
      ['extractFrontmatter', ['yes', 1, {}]],
    ]
    const bad = cases.flatMap(([field, values]) => values.map((value) => ({ ...item('bad'), [field]: value })))
    const fields = cases.flatMap(([field, values]) => values.map(() => field))
    const answer = await client.ingest(c, [...bad, item('good')])
    assert.deepEqual([answer.added, answer.failed], [1, bad.length])
    fields.forEach((field, index) => assert.match(answer.errors[index] ?? '', new RegExp(`^documents\\[${index}\\]: invalid ${field}`)))
  })

  it('ingest: more than 10 000 documents are refused as a whole', async () => {
    const c = client.collection()
    const answer = await client.post('/v1/ingest', { collection: c, documents: Array.from({ length: 10_001 }, () => 1) })
    assert.equal(summary(answer), '400 {"error":"invalid documents: 10001, at most 10000 are allowed"}')
  })

  describe('keys and origin', () => {
    it('ingest: a url gives the key: its last path segment, decoded, without extension and query', async () => {
      const c = client.collection()
      const urls = {
        'https://example.com/docs/start.html': 'start',
        'https://example.com/docs/Getting%20Started/': 'Getting Started',
        'https://example.com/a/v1.2.md?raw=1#top': 'v1.2',
        'https://example.com/caf%C3%A9': 'café',
        'https://example.com/100%': '100%',
        'http://example.com/.well-known': '.well-known',
      }
      await client.ingest(
        c,
        Object.keys(urls).map((url) => ({ url, lang: 'en', contentMd: url })),
      )
      assert.deepEqual((await client.keys(c)).sort(), Object.values(urls).sort())
    })

    it('ingest: a key has priority over the url, which is stored as source_url', async () => {
      const c = client.collection()
      const answer = await client.ingest(c, [item('own', 'x', { url: 'https://example.com/other' })])
      assert.equal(answer.added, 1)
      assert.deepEqual((await client.get(c, 'own'))?.meta, { source_url: ['https://example.com/other'] })
    })

    it('ingest: a url without a path, or that is none, fails its document', async () => {
      const c = client.collection()
      const bad = ['https://example.com', 'https://example.com/?page=1', 'no url', 'https://']
      const answer = await client.ingest(c, [...bad.map((url) => ({ url, lang: 'en', contentMd: '' })), item('good')])
      assert.deepEqual(
        answer.errors,
        bad.map((_, at) => `documents[${at}]: cannot derive key from URL; provide key explicitly`),
      )
    })

    it('ingest: scrapedAt and scraper are stored as metadata, and replace what the client says there', async () => {
      const c = client.collection()
      const meta = { scraped_at: ['1'], scraper: ['me'], source_url: ['elsewhere'], kept: ['yes'] }
      const origin = { scrapedAt: 1_735_689_600, scraper: 'crawl/2', url: 'https://example.com/a' }
      await client.ingest(c, [item('all', 'x', { meta, ...origin }), item('none', 'x', { meta })])
      assert.deepEqual((await client.get(c, 'all'))?.meta, {
        kept: ['yes'],
        scraped_at: ['1735689600'],
        scraper: ['crawl/2'],
        source_url: ['https://example.com/a'],
      })
      assert.deepEqual((await client.get(c, 'none'))?.meta, meta)
    })

    it('ingest: keys that differ in case only are written, the last one counts, and keyCollisions names all spellings', async () => {
      const c = client.collection()
      const answer = await client.ingest(c, [
        item('Start', '1'),
        item('other'),
        item('start', '2'),
        item('START', '3'),
        item('start', 'de', { lang: 'de' }),
      ])
      assert.deepEqual([answer.added, answer.updated, answer.keyCollisions], [3, 2, ['"Start", "start", "START" (en)']])
      assert.equal((await client.get(c, 'start'))?.contentMd, '3')
      assert.equal((await client.ingest(c, [item('a'), item('a'), item('b')])).keyCollisions, undefined)
    })

    it('ingest: urls that give one key are named in keyCollisions', async () => {
      const c = client.collection()
      const of = (url: string): Fields => ({ url, lang: 'en', contentMd: url })
      const answer = await client.ingest(c, [
        of('https://a.example/x/index.html'),
        of('https://a.example/y/index.html'),
        of('https://a.example/z'),
      ])
      assert.deepEqual(answer.keyCollisions, ['"index" (en): https://a.example/x/index.html, https://a.example/y/index.html'])
      assert.equal((await client.get(c, 'index'))?.contentMd, 'https://a.example/y/index.html')
    })

    it('ingest: keyCollisions names at most 50 collisions, and of each at most 10 spellings', async () => {
      const c = client.collection()
      const spelled = Array.from({ length: 12 }, (_, at) => item(`${'a'.repeat(at)}${'A'.repeat(12 - at)}`))
      const many = Array.from({ length: 60 }, (_, at) => [item(`k${at}`), item(`K${at}`)]).flat()
      const { keyCollisions = [] } = await client.ingest(c, [...spelled, ...many])
      assert.equal(keyCollisions.length, 50)
      assert.match(keyCollisions[0] ?? '', /^("[aA]{12}", ){9}"[aA]{12}" and 2 more \(en\)$/)
    })
  })

  describe('frontmatter', () => {
    const BLOCK = '---\ntitle: Hello\ntags: [a, b]\nseo:\n  title: x\nempty: null\n---\n'

    it('ingest: extractFrontmatter moves a leading YAML block into the metadata, nested values by flattened keys', async () => {
      const c = client.collection()
      await client.ingest(c, [item('on', `${BLOCK}# Text`, { extractFrontmatter: true }), item('off', `${BLOCK}# Text`)])
      const on = await client.get(c, 'on')
      assert.deepEqual([on?.contentMd, on?.meta], ['# Text', { 'seo.title': ['x'], tags: ['a', 'b'], title: ['Hello'] }])
      const off = await client.get(c, 'off')
      assert.deepEqual([off?.contentMd, off?.meta], [`${BLOCK}# Text`, {}])
      assert.deepEqual(await client.keys(c, { filterMeta: { 'seo.title': ['x'] } }), ['on'])
    })

    it('ingest: meta has priority over frontmatter, key by key', async () => {
      const c = client.collection()
      await client.ingest(c, [item('k', `${BLOCK}x`, { extractFrontmatter: true, meta: { title: ['Mine'], more: ['1'] } })])
      assert.deepEqual((await client.get(c, 'k'))?.meta, { more: ['1'], 'seo.title': ['x'], tags: ['a', 'b'], title: ['Mine'] })
    })

    it('ingest: broken frontmatter stays in the text with a warning, and the document is written', async () => {
      const c = client.collection()
      const broken = '---\ntags: [a\n---\ntext'
      const answer = await client.ingest(c, [item('fine'), item('broken', broken, { extractFrontmatter: true })])
      assert.equal(answer.added, 2)
      assert.match((answer.warnings ?? []).join('|'), /^documents\[1\]: frontmatter: [^|]*$/)
      assert.deepEqual([(await client.get(c, 'broken'))?.contentMd, (await client.get(c, 'broken'))?.meta], [broken, {}])
    })

    it('ingest: a block that is no map is text', async () => {
      const c = client.collection()
      const answer = await client.ingest(c, [item('k', '---\n- a\n---\nx', { extractFrontmatter: true })])
      assert.deepEqual([answer.warnings, (await client.get(c, 'k'))?.contentMd], [undefined, '---\n- a\n---\nx'])
    })
  })

  describe('duplicates', () => {
    const skipping = { skipDuplicates: true }

    it('ingest: skipDuplicates leaves a document with the same content as it is, whatever its metadata', async () => {
      const c = client.collection()
      await client.add(c, 'same', { contentMd: 'text é\n"quoted"', meta: { v: ['1'] } })
      await client.add(c, 'other', { contentMd: 'one' })
      const documents = [item('SAME', 'text é\n"quoted"', { meta: { v: ['2'] } }), item('other', 'two'), item('new')]
      const answer = await client.ingest(c, documents, skipping)
      assert.deepEqual([answer.added, answer.updated, answer.skipped, answer.failed], [1, 1, 1, 0])
      assert.deepEqual((await client.get(c, 'same'))?.meta, { v: ['1'] })
      assert.deepEqual([(await client.revisions(c, 'same')).length, (await client.revisions(c, 'other')).length], [1, 2])
      assert.equal((await client.ingest(c, documents)).updated, 3, 'without the option all are written')
    })

    it('ingest: skipDuplicates compares the content without its frontmatter', async () => {
      const c = client.collection()
      await client.add(c, 'k', { contentMd: 'text' })
      const draft = item('k', '---\na: b\n---\ntext', { extractFrontmatter: true })
      assert.equal((await client.ingest(c, [draft], skipping)).skipped, 1)
    })

    it('ingest: skipDuplicates knows no deleted, expired and foreign documents', async () => {
      const c = client.collection()
      await client.add(c, 'deleted', { contentMd: 'x' })
      await client.delete(c, 'deleted')
      await client.add(c, 'expired', { contentMd: 'x', ttl: 1 })
      await client.until(async () => (await client.get(c, 'expired')) === undefined, 'it expires')
      await client.add(client.collection(), 'foreign', { contentMd: 'x' })
      await client.add(c, 'language', { contentMd: 'x', lang: 'de' })
      const answer = await client.ingest(
        c,
        ['deleted', 'expired', 'foreign', 'language'].map((key) => item(key, 'x')),
        skipping,
      )
      assert.deepEqual([answer.added, answer.skipped], [4, 0])
    })

    it('ingest: skipDuplicates compares a document that is twice in a batch with the one before', async () => {
      const c = client.collection()
      await client.add(c, 'k', { contentMd: 'stored' })
      const documents = [item('k', 'stored'), item('k', 'new'), item('K', 'new'), item('k', 'stored')]
      const answer = await client.ingest(c, documents, skipping)
      assert.deepEqual([answer.updated, answer.skipped], [2, 2])
      assert.equal((await client.get(c, 'k'))?.contentMd, 'stored')
    })
  })

  describe('options', () => {
    it('ingest: saveRevision false keeps no revisions of the batch', async () => {
      const c = client.collection()
      await client.ingest(c, [item('with', '1'), item('with', '2')], { saveRevision: true })
      await client.ingest(c, [item('without', '1'), item('without', '2')], { saveRevision: false })
      await client.ingest(c, [item('default', '1'), item('default', '2')])
      const kept = async (key: string): Promise<number> => (await client.revisions(c, key)).length
      assert.deepEqual([await kept('with'), await kept('without'), await kept('default')], [2, 0, 2])
    })

    it('ingest: autoConfigureCollection gives a collection that does not exist the type scraping', async () => {
      const [made, known, plain, empty] = [client.collection(), client.collection(), client.collection(), client.collection()] as const
      await client.add(known, 'k')
      for (const c of [made, known]) await client.ingest(c, [item('a'), item('b')], { autoConfigureCollection: true })
      await client.ingest(plain, [item('a')])
      await client.post('/v1/ingest', { collection: empty, documents: [item('')], options: { autoConfigureCollection: true } })
      const typeOf = async (c: string): Promise<unknown> =>
        (await client.server.get(`/v1/collection-config?collection=${encodeURIComponent(c)}`)).json<{ config?: { type?: string } }>().config
          ?.type
      assert.equal(await typeOf(made), 'scraping')
      for (const c of [known, plain]) assert.notEqual(await typeOf(c), 'scraping')
      assert.equal(await client.stats(empty), undefined, 'a batch that fails creates nothing')
    })

    it('ingest: profile fast skips duplicates and keeps no revisions, and the answer names it', async () => {
      const c = client.collection()
      await client.ingest(c, [item('k', 'same')], { profile: 'default' })
      const answer = await client.ingest(c, [item('k', 'same'), item('new', '1'), item('new', '2')], { profile: 'fast' })
      assert.deepEqual([answer.added, answer.updated, answer.skipped, answer.profile], [1, 1, 1, 'fast'])
      assert.equal((await client.revisions(c, 'new')).length, 0)
      assert.deepEqual(await client.found(c, '2'), ['new'])
    })

    it('ingest: a flag that is given overrides the profile', async () => {
      const c = client.collection()
      await client.ingest(c, [item('k', 'same')])
      const options = { profile: 'fast', skipDuplicates: false, saveRevision: true }
      const answer = await client.ingest(c, [item('k', 'same')], options)
      assert.deepEqual([answer.updated, answer.skipped, (await client.revisions(c, 'k')).length], [1, 0, 2])
    })

    it('ingest: titles makes the first heading the title of documents that have none, behind the frontmatter', async () => {
      const c = client.collection()
      const documents = [
        item('plain', 'Text\n\n## The *first* heading\n\n# Second'),
        item('own', '# Heading', { meta: { title: ['Mine'] } }),
        item('front', '---\ntitle: Front\n---\n# Heading', { extractFrontmatter: true }),
        item('tagged', '---\ntags: a\n---\n# Heading', { extractFrontmatter: true }),
        item('none', 'no heading'),
      ]
      const titles = async (): Promise<unknown[]> =>
        Promise.all(documents.map(async ({ key }) => (await client.get(c, String(key)))?.meta['title']?.[0]))
      await client.ingest(c, documents, { titles: true })
      assert.deepEqual(await titles(), ['The first heading', 'Mine', 'Front', 'Heading', undefined])
      await client.ingest(c, documents)
      assert.deepEqual(await titles(), [undefined, 'Mine', 'Front', undefined, undefined])
    })

    it('ingest: textOnly leaves markdown as it is, and is a boolean', async () => {
      const c = client.collection()
      const content = '# Title\n\n*emphasis* and [a link](https://example.org)'
      await client.ingest(c, [item('k', content)], { textOnly: true })
      assert.equal((await client.get(c, 'k'))?.contentMd, content)
      const refused = await client.post('/v1/ingest', { collection: c, documents: [item('k', 'x')], options: { textOnly: 'yes' } })
      assert.equal(refused.status, 400, refused.text)
    })

    it('ingest: an unknown profile is refused, and nothing is written', async () => {
      const c = client.collection()
      const answer = await client.post('/v1/ingest', { collection: c, documents: [item('k')], options: { profile: 'turbo' } })
      assert.equal(summary(answer), '400 {"error":"unknown ingest profile"}')
      assert.equal(await client.stats(c), undefined)
    })

    it('ingest: a schema holds for each document', async () => {
      const c = client.collection()
      const schema = { required: ['title'] }
      assert.equal((await client.post('/v1/schema/set', { collection: c, schema })).status, 200)
      const good = item('good', '---\ntitle: x\n---\ny', { extractFrontmatter: true })
      const answer = await client.ingest(c, [item('bad'), good])
      assert.deepEqual([answer.added, answer.failed], [1, 1])
      assert.match(answer.errors[0] ?? '', /^documents\[0\]: schema validation failed: /)
    })
  })
})
