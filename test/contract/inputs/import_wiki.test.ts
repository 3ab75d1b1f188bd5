/**
 * POST /v1/import-wiki: service-1, "Import" and "Metadata"; http.md 1; events.md 13. Options, counters,
 * limits and what is refused before anything is imported. What the pages become is tested with the converter.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { decodeEntry } from '../../../src/store/entries/entry.js'
import { ENTRY_FLAGS } from '../../../src/store/entries/entry_kind.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { lsnOfKey } from '../../../src/store/rows/keys.js'
import { encodedForm } from '../../harness/clients/upload_form.js'
import { embeddingEnv, vectorStats, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { sharedPath } from '../../harness/shared_folder.js'
import { dumpXml, pageOf } from '../../harness/wiki_dumps.js'
import { documentsIn, type ImportAnswer, importWiki } from '../../harness/wiki_imports.js'

interface Stored {
  readonly contentMd: string
  readonly meta: Readonly<Record<string, readonly string[]>>
}

const bzip2 = (bytes: string): Buffer => execFileSync('bzip2', ['-c'], { input: bytes })
const FIVE = dumpXml([
  pageOf('First page', "'''Bold''' walrus", { id: 11 }),
  pageOf('Talk:First page', 'a talk', { ns: 1, id: 12 }),
  pageOf('Old name', '#REDIRECT [[First page]]', { redirect: 'First page', id: 13 }),
  pageOf('Nothing', '{{template}}', { id: 14 }),
  pageOf('...', 'no key', { id: 15 }),
])

let server: Server
let limited: Server

async function imported(
  collection: string,
  dump: string | Buffer,
  options: Record<string, string | number | boolean> = {},
): Promise<ImportAnswer> {
  const answer = await importWiki(server, collection, dump, options)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<ImportAnswer>()
}

async function read(collection: string, key: string, of = server): Promise<Stored> {
  const answer = await of.post('/v1/get', { collection, key, lang: 'en' })
  assert.equal(answer.status, 200, `${key}: ${answer.text}`)
  return answer.json<Stored>()
}

async function found(collection: string, query: string): Promise<number> {
  return (await server.post('/v1/fts', { collection, query })).json<{ results: unknown[] }>().results.length
}

before(async () => {
  server = await startServer()
  limited = await startServer({ env: { SVC_WIKI_MAX_PAGES: '3', SVC_WIKI_MAX_DECOMPRESSED_BYTES: '20000' } })
})
after(async () => {
  await server.stop()
  await limited.stop()
})

describe('import-wiki', () => {
  it('import-wiki: a dump as a raw body is imported, with exact counters and all metadata of the pages', async () => {
    const answer = await imported('plain', FIVE)
    const { durationMs, errors, ...counts } = answer
    assert.deepEqual(counts, { imported: 2, skipped: 2, failed: 1, collection: 'plain', profile: 'default' })
    assert.ok(Number.isInteger(durationMs) && durationMs >= 0)
    assert.deepEqual(errors, ['...: its title gives an empty key'])
    assert.equal(await documentsIn(server, 'plain'), 2)
    const page = await read('plain', 'first-page')
    assert.equal(page.contentMd.trim(), '**Bold** walrus')
    assert.deepEqual(page.meta, {
      source: ['wikipedia'],
      wiki_contributor: ['A user'],
      wiki_id: ['11'],
      wiki_ns: ['0'],
      wiki_rev_id: ['2'],
      wiki_timestamp: ['2020-01-01T00:00:00Z'],
      wiki_title: ['First page'],
    })
    assert.deepEqual((await read('plain', 'old-name')).meta['wiki_redirect'], ['First page'])
  })

  it('import-wiki: bzip2 and gzip are known by their first bytes, whatever name or type say', async () => {
    for (const [name, dump] of [
      ['gz', gzipSync(FIVE)],
      ['bz2', bzip2(FIVE)],
    ] as const) {
      const answer = await importWiki(server, name, dump, { filename: 'dump.xml' }, 'application/x-bzip2')
      assert.equal(answer.json<ImportAnswer>().imported, 2, answer.text)
    }
    assert.equal((await imported('misnamed', FIVE, { filename: 'dump.xml.bz2' })).imported, 2)
  })

  it('import-wiki: namespaces names those that are imported, by default 0', async () => {
    assert.deepEqual(pick(await imported('both', FIVE, { namespaces: '0, 1' })), [3, 1, 1])
    assert.deepEqual(pick(await imported('talk', FIVE, { namespaces: '1' })), [1, 4, 0])
    assert.deepEqual(pick(await imported('articles', FIVE)), [2, 2, 1])
    assert.equal((await read('talk', 'talk:first-page')).meta['wiki_ns']?.[0], '1')
  })

  it('import-wiki: skipRedirects leaves out pages that lead to another, by default they are imported', async () => {
    assert.deepEqual(pick(await imported('redirects', FIVE, { skipRedirects: true })), [1, 3, 1])
    assert.deepEqual(pick(await imported('redirects-too', FIVE, { skipRedirects: false })), [2, 2, 1])
    assert.deepEqual(pick(await imported('redirects-still', FIVE)), [2, 2, 1])
  })

  it('import-wiki: skipFts leaves the texts out of the index until a reindex, by default they are found', async () => {
    await imported('unindexed', FIVE, { skipFts: true })
    assert.equal(await found('unindexed', 'walrus'), 0)
    await server.post('/v1/fts-reindex', { collection: 'unindexed' })
    assert.equal(await found('unindexed', 'walrus'), 1)
    await imported('indexed', FIVE)
    assert.equal(await found('indexed', 'walrus'), 1)
  })

  it('import-wiki: maxPages counts imported pages, and 0 is no bound', async () => {
    const dump = dumpXml(Array.from({ length: 9 }, (_, index) => pageOf(`P${index}`, index % 2 === 0 ? 'text' : '{{x}}')))
    assert.deepEqual(pick(await imported('most', dump, { maxPages: 3 })), [3, 2, 0])
    assert.equal(await documentsIn(server, 'most'), 3)
    assert.deepEqual(pick(await imported('all', dump, { maxPages: 0 })), [5, 4, 0])
    assert.deepEqual(pick(await imported('all-by-default', dump)), [5, 4, 0])
  })

  it('import-wiki: batchSize pages are stored together, 500 by default, and any gives the same documents', async () => {
    const dump = dumpXml(Array.from({ length: 1203 }, (_, index) => pageOf(`Page ${index}`, `text ${index}`)))
    for (const batchSize of [1, 7, 64, 65, 500, 10_000]) {
      const answer = await imported(`batches-${batchSize}`, dump, batchSize === 1 ? { batchSize, maxPages: 100 } : { batchSize })
      assert.deepEqual(pick(answer), [batchSize === 1 ? 100 : 1203, 0, 0], `${batchSize}`)
    }
    assert.deepEqual(pick(await imported('batches', dump)), [1203, 0, 0])
    assert.equal(await documentsIn(server, 'batches'), 1203)
  })

  it('import-wiki: profile fast skips unchanged pages and keeps no revisions; default writes them again', async () => {
    const first = dumpXml([pageOf('A', 'one'), pageOf('B', 'two')])
    const second = dumpXml([pageOf('A', 'one'), pageOf('B', 'changed')])
    assert.equal((await imported('fast', first, { profile: 'fast' })).profile, 'fast')
    assert.deepEqual(pick(await imported('fast', second, { profile: 'fast' })), [1, 1, 0])
    assert.deepEqual(pick(await imported('slow', first)), [2, 0, 0])
    assert.deepEqual(pick(await imported('slow', second)), [2, 0, 0])
    const revisions = async (collection: string): Promise<number> =>
      (await server.post('/v1/revisions', { collection, key: 'b', lang: 'en' })).json<{ total: number }>().total
    assert.equal(await revisions('fast'), 0)
    assert.equal(await revisions('slow'), 2)
    assert.equal((await importWiki(server, 'slow', first, { profile: 'other' })).status, 400)
  })

  it('import-wiki: of titles that give one key the last one stays, and all are counted, in one batch or in two', async () => {
    const dump = dumpXml([pageOf('A b', 'one'), pageOf('A-B', 'two'), pageOf('A/b', 'three')])
    for (const batchSize of [1, 500]) {
      assert.deepEqual(pick(await imported(`same-${batchSize}`, dump, { batchSize })), [3, 0, 0])
      assert.equal((await read(`same-${batchSize}`, 'a-b')).contentMd.trim(), 'three')
    }
  })

  it('import-wiki: a page of nothing but what is dropped is skipped', async () => {
    assert.deepEqual(pick(await imported('empty', dumpXml([pageOf('A', '{{x}}'), pageOf('B', ''), pageOf('C', 'c')]))), [1, 2, 0])
  })

  it('import-wiki: collection and lang are required, and wrong options are refused before anything is imported', async () => {
    const wrong: readonly Record<string, string>[] = [
      { collection: '' }, { lang: '' }, { namespaces: 'main' }, { namespaces: '0,,1' }, { namespaces: '1.5' }, { maxPages: '-1' },
      { maxPages: 'many' }, { maxPages: '1.5' }, { batchSize: '0' }, { batchSize: '10001' }, { batchSize: 'x' }, { skipFts: 'perhaps' },
      { skipRedirects: '2' }, { job: 'soon' },
    ] // prettier-ignore
    for (const options of wrong) {
      const answer = await importWiki(server, 'never', FIVE, options)
      assert.equal(answer.status, 400, `${JSON.stringify(options)}: ${answer.text}`)
      const isMissing = options['collection'] === '' || options['lang'] === ''
      assert.equal(answer.json<ImportAnswer>().error === 'missing fields', isMissing, answer.text)
    }
    assert.equal(await documentsIn(server, 'never'), 0)
  })

  it('import-wiki: at most 10 errors are given, and only where there are some', async () => {
    const bad = dumpXml(Array.from({ length: 25 }, () => pageOf('...', 'text')))
    const answer = await imported('errors', bad)
    assert.deepEqual(pick(answer), [0, 0, 25])
    assert.equal(answer.errors?.length, 10)
    assert.ok(!('errors' in (await imported('no-errors', dumpXml([pageOf('A', 'a')])))))
  })

  it('import-wiki: a schema of the collection holds for each page', async () => {
    const schema = { type: 'object', required: ['wiki_redirect'] }
    const set = await server.post('/v1/schema/set', { collection: 'schema', schema: JSON.stringify(schema) })
    assert.equal(set.status, 200, set.text)
    const answer = await imported('schema', FIVE)
    assert.deepEqual(pick(answer), [1, 2, 2])
    assert.match(answer.errors?.[0] ?? '', /^First page: .*wiki_redirect/)
  })

  it('import-wiki: what is no dump, is cut off or damaged is 400 with the counters of the pages before', async () => {
    for (const dump of ['', 'no xml', '<html></html>', 'BZh9 nothing of the kind']) {
      const answer = await importWiki(server, 'nothing', dump)
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.json<ImportAnswer>().error ?? '', /^the dump can't be read: |empty/)
    }
    const cut = await importWiki(server, 'cut', FIVE.slice(0, FIVE.indexOf('Nothing')))
    assert.equal(cut.status, 400)
    assert.deepEqual(pick(cut.json<ImportAnswer>()), [2, 1, 0])
    assert.equal(await documentsIn(server, 'cut'), 2)
  })

  it('import-wiki: more pages than SVC_WIKI_MAX_PAGES are 413 with the counters of what was imported', async () => {
    const dump = dumpXml(Array.from({ length: 5 }, (_, index) => pageOf(`P${index}`, 'text')))
    const answer = await importWiki(limited, 'pages', dump)
    assert.equal(answer.status, 413, answer.text)
    assert.deepEqual(pick(answer.json<ImportAnswer>()), [3, 0, 0])
    assert.equal(answer.json<ImportAnswer>().error, 'more than 3 pages')
    assert.equal(await documentsIn(limited, 'pages'), 3)
    assert.equal((await importWiki(limited, 'few', dump, { maxPages: 3 })).status, 200)
  })

  it('import-wiki: more bytes than SVC_WIKI_MAX_DECOMPRESSED_BYTES are 413 with the counters, also of a bomb', async () => {
    const dump = dumpXml([pageOf('A', 'a'), pageOf('B', '{{x}}'.repeat(1000)), pageOf('C', '{{y}}'.repeat(1_000_000))])
    for (const [name, bytes] of [
      ['gz', gzipSync(dump)],
      ['bz2', bzip2(dump)],
    ] as const) {
      const answer = await importWiki(limited, `bytes-${name}`, bytes)
      assert.equal(answer.status, 413, answer.text)
      const { imported: pages, error } = answer.json<ImportAnswer>()
      assert.deepEqual([pages, error], [1, 'more than 20000 bytes, decompressed'])
    }
  })

  it('import-wiki: a form with the file is imported, with options before and behind it', async () => {
    const parts = [
      ['collection', 'form'],
      ['skipRedirects', 'true'],
      { name: 'dump.xml', content: FIVE },
      ['lang', 'en'],
      ['namespaces', '0,1'],
    ] as const
    const form = await encodedForm(parts)
    const answer = await server.request('POST', '/v1/import-wiki', Buffer.from(form.body), form.headers)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(pick(answer.json<ImportAnswer>()), [2, 2, 1])
    assert.equal(await documentsIn(server, 'form'), 2)
  })

  it('import-wiki: a body of type JSON is 400', async () => {
    const answer = await server.post('/v1/import-wiki?collection=json&lang=en', {
      files: [{ name: 'x', spooled: 'spool-0000000000000000', bytes: 1 }],
    })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /Content-Type/)
  })

  it('import-wiki: is refused in read mode', async () => {
    const reading = await startServer({ env: { SVC_MODE: 'read' } })
    try {
      const answer = await importWiki(reading, 'c', FIVE)
      assert.deepEqual([answer.status, answer.json()], [403, { error: 'read-only mode' }])
    } finally {
      await reading.stop()
    }
  })

  it('import-wiki: computes no vectors and marks its writes, so that no webhook is notified', async (test) => {
    const provider = await EmbeddingServer.start()
    test.after(() => provider.stop())
    const directory = mkdtempSync(join(tmpdir(), 'mds-wiki-'))
    test.after(() => rmSync(directory, { recursive: true, force: true }))
    const embedding = await startServer({ directory, env: embeddingEnv(provider) })
    test.after(() => embedding.kill())
    await importWiki(embedding, 'wiki', FIVE)
    await embedding.post('/v1/add', { collection: 'other', key: 'a', lang: 'en', contentMd: 'text' })
    await whenEmbedded(embedding, { other: 1 })
    assert.equal((await vectorStats(embedding)).collections['wiki']?.embedded_documents ?? 0, 0)
    await embedding.stop()
    const environment = openEnvironment(currentGeneration(directory))
    const marked = [...environment.binlog.getRange()].flatMap(({ key, value }) => {
      const entry = decodeEntry(lsnOfKey(key), Buffer.from(value))
      return entry.kind === 'put' ? [[entry.key, ((entry.flags ?? 0) & ENTRY_FLAGS.skipsWebhooks) !== 0]] : []
    })
    await environment.root.close()
    assert.deepEqual(Object.fromEntries(marked), { 'first-page': true, 'old-name': true, a: false })
  })

  const samples = sharedPath('corpora/wiki')
  const skip = existsSync(samples) ? false : `SKIPPED, no corpus at ${samples}`
  it('import-wiki: the sample dumps are imported, one of which is UTF-16', { skip }, async () => {
    for (const name of ['bgwiki-latest-pages-articles-shortened', 'enwiki-table-markup', 'testcorpus']) {
      const dump = readFileSync(join(samples, `${name}.xml.bz2`))
      const answer = await imported(name, dump, { namespaces: '0,1,2,3,4,10,14' })
      assert.ok(answer.imported > 0 && answer.failed === 0, JSON.stringify(answer))
      assert.equal(await documentsIn(server, name), answer.imported)
    }
  })
})

function pick({ imported: pages, skipped, failed }: ImportAnswer): readonly number[] {
  return [pages, skipped, failed]
}
