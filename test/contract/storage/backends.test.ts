/**
 * Storage backends of collections over HTTP, against a real S3-compatible server: service-2, "Storage
 * backends". Only bodies move. Acknowledged data is readable. A failing store makes writes fail and nothing
 * else.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Fields, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'
import { blocksOf, GUIDES_FOLDER } from '../../harness/guides.js'
import { noObjectStore, ObjectStore, SECRET_KEY } from '../../harness/store/object_store.js'
import { readZip } from '../../harness/zip_files.js'
import { configure, configured, locationIn, metricOf, Restarted, UNAVAILABLE, unkept } from './client.js'

describe('bodies in memory', () => {
  const server = new Restarted()
  before(() => server.start())
  after(() => server.stop())

  it('storage memory: documents are read, found, changed and exported like others, and are gone after a restart with their configuration kept', async () => {
    let { client } = server
    assert.equal(await configure(client, 'mem', { storageBackend: 'memory' }), configured('mem'))
    await client.add('mem', 'kept', { contentMd: 'A revision: kingfisher.' })
    assert.equal((await client.addBatch('mem', unkept('one', 'two'))).added, 2)
    assert.equal((await client.get('mem', 'one'))?.contentMd, 'The body of one: kingfisher.')
    assert.deepEqual(await client.found('mem', 'kingfisher'), ['kept', 'one', 'two'])
    assert.equal((await client.setTtl('mem', 'two', 1000)).contentMd, 'The body of two: kingfisher.')
    await client.update('mem', 'one', { meta: { tags: ['blue'] } })
    await client.addBatch('mem', [{ ...unkept('two')[0], contentMd: 'Another body: kingfisher.' }])
    const exported = await client.post('/v1/export', { collection: 'mem', format: 'ndjson' })
    assert.deepEqual(
      exported.text.trimEnd().split('\n').map((line) => (JSON.parse(line) as { contentMd: string }).contentMd),
      ['A revision: kingfisher.', 'The body of one: kingfisher.', 'Another body: kingfisher.'],
    ) // prettier-ignore
    await client.add('plain', 'doc', { contentMd: 'kingfisher' })
    await client.stop()

    client = await server.start()
    assert.equal(await client.get('mem', 'one'), undefined)
    assert.deepEqual(await client.found('mem', 'kingfisher'), [])
    assert.deepEqual([(await client.stats('mem'))?.documentCount, (await client.stats('plain'))?.documentCount], [0, 1])
    const { config } = (await client.server.get('/v1/collection-config?collection=mem')).json<{ config: Fields }>()
    assert.equal(config.storageBackend, 'memory')
    await client.addBatch('mem', unkept('one'))
    assert.equal((await client.get('mem', 'one'))?.contentMd, 'The body of one: kingfisher.', 'a new write makes the document again')
  })

  it('storage memory: a collection that leaves memory survives the next restart', async () => {
    let { client } = server
    assert.equal(await configure(client, 'moved', { storageBackend: 'memory' }), configured('moved'))
    await client.addBatch('moved', unkept('a', 'b'))
    assert.equal(await configure(client, 'moved', { storageBackend: 'boltdb' }), configured('moved'))
    await client.until(async () => /^mddb_bodies_moved_total 2$/m.test((await client.server.get('/metrics')).text), 'the move')
    await client.stop()
    client = await server.start()
    assert.deepEqual(await client.found('moved', 'kingfisher'), ['a', 'b'])
    assert.equal((await client.get('moved', 'b'))?.contentMd, 'The body of b: kingfisher.')
  })
})

describe('bodies in an object store', { skip: noObjectStore }, () => {
  const server = new Restarted()
  let store: ObjectStore
  before(async () => {
    store = await ObjectStore.start('docs', 'others', 'guide')
    await server.start()
  })
  after(async () => {
    await server.stop()
    await store.stop()
  })

  it('storage s3: the configuration of docs/guides/storage.md is accepted with names of a real store', async () => {
    const guide = readFileSync(join(GUIDES_FOLDER, 'storage.md'), 'utf8')
    const block = blocksOf(guide).find(({ text }) => text.includes('"s3"'))?.text ?? assert.fail('no such block')
    const body = JSON.parse(/-d '(.*)'$/s.exec(block)?.[1] ?? '') as { collection: string; storageConfig: Fields }
    assert.deepEqual(Object.keys(body.storageConfig).sort(), ['accessKey', 'bucket', 'endpoint', 'prefix', 'region', 'secretKey', 'useTLS'])
    const { prefix } = body.storageConfig
    const { storageConfig } = locationIn(store, { prefix, bucket: 'guide', useTLS: false })
    assert.equal(await configure(server.client, body.collection, { ...body, storageConfig }), configured(body.collection))
    await server.client.addBatch(body.collection, unkept('one'))
    assert.ok(store.objects('guide').some((path) => path.startsWith('mds/mds-')))
  })

  const location = (change?: Fields): Fields => locationIn(store, change)
  /** Objects below a prefix, without probes. */
  const below = (prefix: string, bucket = 'docs'): string[] => store.objects(bucket).filter((path) => path.startsWith(prefix))
  const metric = (name: string): Promise<number> => metricOf(server.client, name)

  it('storage s3: a location that cannot store and return an object is refused when it is configured, and nothing is changed', async () => {
    const { client } = server
    const refused: readonly (readonly [Fields, RegExp])[] = [
      [{ bucket: 'nobodys' }, /NoSuchBucket/],
      [{ accessKey: 'somebody' }, /40[34] \w+/],
      [{ secretKey: 'wrong' }, /SignatureDoesNotMatch/],
      [{ region: 'us-west-1' }, /AuthorizationHeaderMalformed|4\d\d/],
      [{ endpoint: '127.0.0.1:1025' }, /no answer/],
      // The gateway speaks plain HTTP.
      [{ useTLS: true }, /no answer/],
    ]
    for (const [change, reason] of refused) {
      const answer = await client.server.request('PUT', '/v1/collection-config', { collection: 'refused', ...location(change) })
      assert.equal(answer.status, 400, JSON.stringify(change))
      const { error } = answer.json<{ error: string }>()
      assert.match(error, /^storage backend unreachable: /)
      assert.match(error, reason)
      assert.ok(!error.includes(SECRET_KEY))
    }
    assert.equal(await client.stats('refused'), undefined)
    assert.deepEqual(store.objects('docs'), [])
  })

  it('storage s3: each present body is an object below the prefix; every way to read a document shows it', async () => {
    const { client } = server
    assert.equal(await configure(client, 'far', location({ prefix: 'far/' })), configured('far'))
    await client.add('far', 'kept', { contentMd: 'A revision: kingfisher.' })
    assert.equal((await client.addBatch('far', unkept('one', 'two'))).added, 2)
    assert.equal(below('far/').length, 3)
    await client.stop()
    // Memory is empty after the restart.
    const fresh = await server.start()
    const files = await readZip((await fresh.post('/v1/export', { collection: 'far', format: 'zip' })).body)
    assert.deepEqual([...files].sort(), [['kept.en.md', 'A revision: kingfisher.'], ['one.en.md', 'The body of one: kingfisher.'], ['two.en.md', 'The body of two: kingfisher.']]) // prettier-ignore
    assert.equal((await fresh.get('far', 'one'))?.contentMd, 'The body of one: kingfisher.')
    assert.deepEqual((await fresh.search('far')).documents.map(({ contentMd }) => contentMd.slice(0, 15)), ['A revision: kin', 'The body of one', 'The body of two']) // prettier-ignore
    assert.deepEqual(await fresh.found('far', 'kingfisher'), ['kept', 'one', 'two'])
    const exported = await fresh.post('/v1/export', { collection: 'far', format: 'ndjson' })
    assert.equal(exported.text.trimEnd().split('\n').length, 3)
    assert.deepEqual((await fresh.post('/v1/fts-reindex', { collection: 'far' })).json(), { status: 'ok', reindexed: 3, collection: 'far' })
    assert.equal((await fresh.setTtl('far', 'two', 1000)).contentMd, 'The body of two: kingfisher.')
    assert.equal((await fresh.update('far', 'one', { meta: { tags: ['blue'] } })).contentMd, 'The body of one: kingfisher.')
    assert.equal((await fresh.get('far', 'one'))?.meta.tags?.[0], 'blue')
    await fresh.delete('far', 'two')
    assert.deepEqual(await fresh.found('far', 'kingfisher'), ['kept', 'one'])
  })

  it('storage s3: a restored revision gets an object of its own, and revisions are read without the store', async () => {
    const { client } = server
    assert.equal(await configure(client, 'old', location({ prefix: 'old/' })), configured('old'))
    for (const content of ['first', 'second']) await client.add('old', 'doc', { contentMd: content })
    const [, first] = await client.revisions('old', 'doc')
    const objects = below('old/').length
    const restored = await client.post('/v1/revisions/restore', { collection: 'old', key: 'doc', lang: 'en', timestamp: first?.timestamp, revision: first?.revision }) // prettier-ignore
    assert.equal(restored.json<{ contentMd: string }>().contentMd, 'first', restored.text)
    assert.equal(below('old/').length, objects + 1)
    await store.kill()
    assert.deepEqual(
      (await client.revisions('old', 'doc')).map(({ contentMd }) => contentMd),
      ['first', 'second', 'first'],
    )
    await store.resume()
  })

  it('storage s3: the body is written before the transaction: a store that fails makes writes fail at once with nothing written, and nothing else', async () => {
    const { client } = server
    assert.equal(await configure(client, 'failing', location({ prefix: 'failing/' })), configured('failing'))
    await client.addBatch('failing', unkept('there'))
    await store.kill()
    const attempts = [
      ['/v1/add', { key: 'new', lang: 'en', contentMd: 'never: kingfisher' }],
      ['/v1/add', { key: 'there', lang: 'en', contentMd: 'never: kingfisher' }],
      ['/v1/add-batch', { documents: unkept('x', 'y') }],
    ] as const
    for (const [path, body] of attempts) assert.equal(summary(await client.post(path, { collection: 'failing', ...body })), UNAVAILABLE)
    assert.equal(summary(await client.post('/v1/get', { collection: 'failing', key: 'new', lang: 'en' })), NOT_FOUND)
    assert.equal((await client.stats('failing'))?.documentCount, 1)
    assert.equal((await client.add('elsewhere', 'doc', { contentMd: 'here' })).contentMd, 'here')
    assert.equal(
      await configure(client, 'failing', { description: 'what does not concern the location can be said' }),
      configured('failing'),
    )
    assert.deepEqual(await client.delete('failing', 'there'), { status: 'deleted', deleted: true, collection: 'failing', key: 'there', lang: 'en' }) // prettier-ignore
    await store.resume()
    assert.equal((await client.addBatch('failing', unkept('x', 'y'))).added, 2)
    assert.deepEqual(await client.found('failing', 'kingfisher'), ['x', 'y'])
  })

  it('storage s3: a lost object of an encrypted collection is named to who asks, and by numbers only in the log', async () => {
    assert.equal(
      await configure(server.client, 'secretly', { ...location({ prefix: 'secretly/' }), encrypted: true }),
      configured('secretly'),
    )
    await server.client.addBatch('secretly', unkept('private'))
    await server.client.stop()
    for (const path of below('secretly/')) store.place('docs', path, null)
    const client = await server.start()
    const answer = summary(await client.post('/v1/get', { collection: 'secretly', key: 'private', lang: 'en' }))
    assert.match(answer, /: it is not there: the body of document \\"private\\" \(en\) of collection \\"secretly\\""}$/)
    assert.equal(await configure(client, 'secretly', { storageBackend: 'boltdb' }), configured('secretly'))
    await client.until(() => Promise.resolve(client.server.output().includes('not moved: document')), 'the move that fails')
    assert.match(client.server.output(), / error not read: object .*: it is not there: the body of document \d+\/1$/m)
    assert.doesNotMatch(client.server.output(), /private/)
  })

  it('storage s3: a read that needs the store reports that it is unavailable, and a lost or changed object is reported, never returned', async () => {
    assert.equal(await configure(server.client, 'lost', location({ prefix: 'lost/' })), configured('lost'))
    await server.client.addBatch('lost', unkept('a'))
    const before = below('lost/')
    await server.client.addBatch('lost', unkept('b'))
    await server.client.stop()
    const client = await server.start()
    await store.kill()
    const get = (key: string): Promise<string> => client.post('/v1/get', { collection: 'lost', key, lang: 'en' }).then(summary)
    assert.equal(await get('a'), UNAVAILABLE)
    await store.resume()
    const [a = ''] = before
    const [b = ''] = below('lost/').filter((path) => path !== a)
    store.place('docs', a, null)
    store.place('docs', b, Buffer.concat([store.read('docs', b) ?? Buffer.alloc(0), Buffer.from('x')]))
    assert.match(
      await get('a'),
      /^500 {"error":"object mds-[0-9a-f]{16}\/[0-9a-f]{32}: it is not there: the body of document \\"a\\" \(en\) of collection \\"lost\\""}$/,
    )
    assert.match(
      await get('b'),
      /^500 {"error":"object mds-[0-9a-f]{16}\/[0-9a-f]{32}: it was changed: the body of document \\"b\\" \(en\) of collection \\"lost\\""}$/,
    )
    assert.match(
      client.server.output(),
      / error not read: object .*: it is not there: the body of document "a" \(en\) of collection "lost"$/m,
    )
    const exported = await client.server.request('POST', '/v1/export', { collection: 'lost', format: 'ndjson' })
    assert.match(summary(exported), /^500 .* of collection \\"lost\\""}$/)
    await client.addBatch('lost', unkept('c'))
    const moved = await metric('bodies_moved_total')
    assert.equal(await configure(client, 'lost', { storageBackend: 'boltdb' }), configured('lost'))
    await client.until(async () => (await metric('bodies_moved_total')) > moved, 'the move of what is whole')
    await store.kill()
    assert.match(await get('c'), /^200 /)
    await store.resume()
  })

  it('storage s3: an object as large as a document may be is written, read and found', async () => {
    const { client } = server
    assert.equal(await configure(client, 'big', location({ prefix: 'big/' })), configured('big'))
    const contentMd = `kingfisher ${'0123456789abcdef'.repeat(600_000)}`
    assert.equal((await client.addBatch('big', [{ key: 'doc', lang: 'en', contentMd, saveRevision: false }])).added, 1)
    assert.equal((await client.get('big', 'doc'))?.contentMd.length, contentMd.length)
  })

  it('storage s3: bodies move with the configuration: to another location, into the server, and back, while they are read', async () => {
    const { client } = server
    const keys = Array.from({ length: 150 }, (_, n) => `doc-${n}`)
    await client.addBatch('moving', unkept(...keys))
    const moves: readonly (readonly [Fields, string, string])[] = [
      [location({ prefix: 'one/' }), 'docs', 'one/'],
      [location({ bucket: 'others', prefix: 'two/' }), 'others', 'two/'],
      [{ storageBackend: 'boltdb' }, '', ''],
      [location({ prefix: 'three/' }), 'docs', 'three/'],
    ]
    for (const [fields, bucket, prefix] of moves) {
      const before = await metric('bodies_moved_total')
      assert.equal(await configure(client, 'moving', fields), configured('moving'))
      await client.until(async () => {
        assert.equal((await client.get('moving', 'doc-77'))?.contentMd, 'The body of doc-77: kingfisher.')
        return (await metric('bodies_moved_total')) - before >= keys.length
      }, `the move to ${prefix}`)
      if (bucket !== '') assert.equal(below(prefix, bucket).length, keys.length)
      assert.equal((await client.found('moving', 'kingfisher')).length, keys.length)
    }
  })

  it('storage s3: a sweep removes unreferenced objects once they are old enough, and no objects of other servers', async () => {
    assert.equal(await configure(server.client, 'swept', location({ prefix: 'swept/' })), configured('swept'))
    await server.client.addBatch('swept', unkept('stays', 'goes'))
    const [folder = ''] = below('swept/').map((path) => path.split('/').slice(0, 2).join('/'))
    const foreign = ['swept/mds-00112233445566aa/018000000000ffffffffffffffffffff', `${folder}/notes.txt`]
    for (const path of foreign) store.place('docs', path, Buffer.from('not ours'))
    store.place('docs', `${folder}/018000000000ffffffffffffffffffff`, Buffer.from('a write that a crash has cut off'))
    await server.client.delete('swept', 'goes')
    const stays = below('swept/')
    await server.client.stop()
    await server.start()
    await server.client.until(async () => (await metric('objects_swept_total')) >= 1, 'the first sweep')
    const orphan = `${folder}/018000000000ffffffffffffffffffff`
    assert.deepEqual(
      below('swept/'),
      stays.filter((path) => path !== orphan),
      'the deleted document is kept for backups of before',
    )
    await server.client.stop()
    await server.start({ SVC_S3_RETENTION: '0' })
    await server.client.until(() => Promise.resolve(below('swept/').length === 1 + foreign.length), 'the sweep of everything')
    assert.equal((await server.client.get('swept', 'stays'))?.contentMd, 'The body of stays: kingfisher.')
    for (const path of foreign) assert.ok(below('swept/').includes(path))
  })

  it('storage s3: of an encrypted collection nothing can be read in the store, and encryption that comes later reaches it', async () => {
    const { client } = server
    assert.equal(await configure(client, 'sealed', { ...location({ prefix: 'sealed/' }), encrypted: true }), configured('sealed'))
    assert.equal(await configure(client, 'later', location({ prefix: 'later/' })), configured('later'))
    const contains = (prefix: string): number =>
      below(prefix).filter((path) => store.read('docs', path)?.includes('kingfisher') === true).length
    for (const name of ['sealed', 'later']) await client.addBatch(name, unkept('secret'))
    assert.deepEqual([contains('sealed/'), contains('later/')], [0, 1])
    const before = await metric('bodies_moved_total')
    assert.equal(await configure(client, 'later', { encrypted: true }), configured('later'))
    await client.until(async () => (await metric('bodies_moved_total')) > before, 'the move')
    await client.stop()
    const fresh = await server.start({ SVC_S3_RETENTION: '0' })
    await fresh.until(() => Promise.resolve(contains('later/') === 0), 'the sweep')
    for (const name of ['sealed', 'later']) assert.equal((await fresh.get(name, 'secret'))?.contentMd, 'The body of secret: kingfisher.')
  })

  it('storage s3: the index is built from the store where it has to be', async () => {
    assert.equal(await configure(server.client, 'rebuilt', location({ prefix: 'rebuilt/' })), configured('rebuilt'))
    await server.client.addBatch('rebuilt', unkept('a', 'b'))
    await server.client.server.kill()
    const client = await server.start()
    assert.deepEqual(await client.found('rebuilt', 'kingfisher'), ['a', 'b'], 'replayed')
    await client.stop()
    // Another default language makes the start rebuild the whole index.
    const fresh = await server.start({ SVC_FTS_DEFAULT_LANG: 'de' })
    assert.deepEqual(await fresh.found('rebuilt', 'kingfisher'), ['a', 'b'], 'rebuilt')
  })
})

describe('bodies in backends with little space', { skip: noObjectStore }, () => {
  const server = new Restarted()
  let store: ObjectStore
  before(async () => {
    store = await ObjectStore.start('docs')
    await server.start({ SVC_LIMIT_SHARED_BODIES_KEPT_BYTES_MAX: '300000', SVC_LIMIT_SHARED_BODIES_CACHED_BYTES_MAX: '300000' })
  })
  after(async () => {
    await server.stop()
    await store.stop()
  })

  /** 20 KB that hardly compress. */
  const large = (key: string): Fields => ({
    key,
    lang: 'en',
    contentMd: `${key} ${Array.from({ length: 3_000 }, (_, n) => Math.imul(n + key.length, 0x9e3779b1).toString(36)).join(' ')}`,
    saveRevision: false,
  })

  it('storage memory: a write beyond the capacity is refused whole, and every delete frees capacity', async () => {
    const { client } = server
    assert.equal(await configure(client, 'mem', { storageBackend: 'memory' }), configured('mem'))
    const { added, failed, errors } = await client.addBatch(
      'mem',
      Array.from({ length: 40 }, (_, n) => large(`doc-${n}`)),
    )
    assert.ok(added > 3 && failed === 40 - added, `${added} of 40`)
    assert.match(errors[0] ?? '', /^doc-\d+: storage backend memory is full$/)
    assert.equal((await client.stats('mem'))?.documentCount, added)
    const refused = await client.post('/v1/add', { collection: 'mem', ...large('more') })
    assert.equal(summary(refused), '503 {"error":"storage backend memory is full"}')
    assert.equal(await client.get('mem', 'more'), undefined)
    await client.delete('mem', 'doc-0')
    assert.equal((await client.post('/v1/add', { collection: 'mem', ...large('more') })).status, 200)
  })

  it('storage s3: a collection larger than the memory is exported and reindexed completely', async () => {
    const { client } = server
    assert.equal(await configure(client, 'far', locationIn(store)), configured('far'))
    const documents = Array.from({ length: 150 }, (_, n) => large(`doc-${n}`))
    assert.equal((await client.addBatch('far', documents)).added, documents.length)
    const exported = await client.post('/v1/export', { collection: 'far', format: 'ndjson' })
    const contents = exported.text.trimEnd().split('\n').map((line) => (JSON.parse(line) as { contentMd: string }).contentMd) // prettier-ignore
    assert.deepEqual(contents, documents.map(({ contentMd }) => contentMd)) // prettier-ignore
    assert.deepEqual((await client.post('/v1/fts-reindex', { collection: 'far' })).json(), {
      status: 'ok',
      reindexed: 150,
      collection: 'far',
    })
  })
})
