/**
 * Storage backends while parts are unavailable, lost, restored or rolled back and the server continues:
 * acknowledged data stays readable, missing data is found again, and a fault affects nothing else.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { openEnvironment } from '../../../src/store/environment.js'
import { generationPath } from '../../../src/store/files/layout.js'
import { isIndexIncomplete } from '../../../src/store/index_mark.js'
import { isUnwanted } from '../../../src/store/objects.js'
import { type DocumentsClient, summary } from '../../harness/clients/documents_client.js'
import { noObjectStore, ObjectStore } from '../../harness/store/object_store.js'
import { configure, configured, locationIn, metricOf, Restarted, unkept } from './client.js'

const FIRST_KEY = Buffer.alloc(32, 7).toString('base64')
const SECOND_KEY = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 8).toString('base64'), SVC_ENCRYPTION_KEY_ID: '2' }
const BOTH_KEYS = { ...SECOND_KEY, SVC_ENCRYPTION_KEYS_PREVIOUS: JSON.stringify([{ id: 1, key: FIRST_KEY }]) }
/** Number of polls within which a rotation of so few rows ends, if nothing blocks it. */
const QUESTIONS = 300

interface Job {
  readonly id: string
  readonly status: string
}

interface Counts {
  readonly collection: string
  readonly withPrimary: number
  readonly withLegacy: number
}

async function countsOf(client: DocumentsClient, collection: string): Promise<Counts | undefined> {
  const { collections } = (await client.server.get('/v1/encryption/status')).json<{ collections: Counts[] }>()
  return collections.find((counts) => counts.collection === collection)
}

async function jobOf(client: DocumentsClient, id: string): Promise<Job> {
  return (await client.server.get(`/v1/encryption/jobs/${id}`)).json<Job>()
}

describe('storage backends after faults', { skip: noObjectStore }, () => {
  let server: Restarted
  let store: ObjectStore
  before(async () => {
    store = await ObjectStore.start('docs', 'others')
  })
  after(() => store.stop())
  beforeEach(async () => {
    server = new Restarted()
    await server.start()
  })
  afterEach(async () => {
    await server.stop()
    await store.kill()
    await store.resume()
  })

  it('storage recovery: a rotation is not completed before the last object has left the old key, so that the key may go then', async () => {
    assert.equal(
      await configure(server.client, 'keyed', { ...locationIn(store, { prefix: 'keyed/' }), encrypted: true }),
      configured('keyed'),
    )
    await server.client.addBatch('keyed', unkept('a', 'b', 'c'))
    await server.client.stop()
    await store.kill()
    const client = await server.start(BOTH_KEYS)
    const { id } = (await client.post('/v1/encryption/rotate', {})).json<Job>()
    for (let question = 0; question < QUESTIONS; question++) assert.notEqual((await jobOf(client, id)).status, 'completed')
    assert.deepEqual(await countsOf(client, 'keyed').then((counts) => [counts?.withPrimary, counts?.withLegacy]), [0, 3])
    await store.resume()
    await client.server.kill()
    const again = await server.start(BOTH_KEYS)
    await again.until(async () => (await jobOf(again, id)).status === 'completed', 'the moves, and then the end of the rotation')
    assert.deepEqual(await countsOf(again, 'keyed').then((counts) => [counts?.withPrimary, counts?.withLegacy]), [3, 0])
    await again.stop()
    const without = await server.start(SECOND_KEY)
    for (const key of ['a', 'b', 'c']) assert.equal((await without.get('keyed', key))?.contentMd, `The body of ${key}: kingfisher.`)
  })

  it('storage recovery: plaintext objects are removed soon after their collection was encrypted, and residue is reported until then', async () => {
    const { client } = server
    const location = locationIn(store, { prefix: 'cleared/' })
    const residueOf = async (shown: DocumentsClient): Promise<boolean> =>
      (await shown.server.get('/v1/encryption/status')).json<{ residue: boolean }>().residue
    const inClear = (): readonly string[] =>
      store.objects('docs').filter((path) => path.startsWith('cleared/') && store.read('docs', path)?.includes('kingfisher') === true)
    assert.equal(await configure(client, 'cleared', location), configured('cleared'))
    await client.addBatch('cleared', unkept('a', 'b', 'replaced'))
    await client.addBatch('cleared', unkept('replaced'))
    assert.equal(inClear().length, 4)
    assert.equal(await configure(client, 'cleared', { encrypted: true }), configured('cleared'))
    const { id } = (await client.post('/v1/encryption/rotate', {})).json<Job>()
    await client.until(async () => (await jobOf(client, id)).status === 'completed', 'the rotation')
    const second = Math.floor(Date.now() / 1000)
    await client.until(() => Promise.resolve(Math.floor(Date.now() / 1000) > second), 'the next second')
    assert.deepEqual([inClear().length, await residueOf(client)], [4, true])
    await client.stop()
    await store.kill()
    const waiting = await server.start()
    assert.equal(await residueOf(waiting), true, 'the store is away')
    await waiting.stop()
    await store.resume()
    const again = await server.start()
    assert.doesNotMatch(again.server.output(), /was rewritten/, 'plaintext objects in a store need no new files')
    await again.until(async () => !(await residueOf(again)), 'the sweep')
    assert.deepEqual(inClear(), [])
    for (const key of ['a', 'b', 'replaced']) assert.equal((await again.get('cleared', key))?.contentMd, `The body of ${key}: kingfisher.`)
  })

  const SOON = { SVC_LIMIT_UNINDEXED_RETRY_MS: '300' }
  /** Reads the directory of a stopped server. */
  async function isIndexMarked(): Promise<boolean> {
    const environment = openEnvironment(generationPath(server.directory, 'gen-000001'))
    const isMarked = isIndexIncomplete(environment)
    await environment.root.close()
    return isMarked
  }

  it('storage recovery: documents that a start could not index are found once their store is back, also by a later process', async () => {
    assert.equal(await configure(server.client, 'missed', locationIn(store, { prefix: 'missed/' })), configured('missed'))
    await server.client.addBatch('missed', unkept('a', 'b'))
    await server.client.add('present', 'here', { contentMd: 'A kingfisher that is here.' })
    await server.client.server.kill()
    await store.kill()
    const replaying = await server.start(SOON)
    assert.deepEqual(await replaying.found('missed', 'kingfisher'), [])
    assert.deepEqual(await replaying.found('present', 'kingfisher'), ['here'])
    await replaying.stop()
    assert.equal(await isIndexMarked(), true)
    // It begins at the checkpoint, above which there is nothing.
    const again = await server.start(SOON)
    assert.deepEqual(await again.found('missed', 'kingfisher'), [])
    await store.resume()
    await again.until(async () => (await again.found('missed', 'kingfisher')).length === 2, 'what the replay had missed')
    await again.stop()
    await store.kill()
    const rebuilding = await server.start({ ...SOON, SVC_FTS_DEFAULT_LANG: 'de' })
    assert.deepEqual(await rebuilding.found('missed', 'kingfisher'), [])
    assert.deepEqual(await rebuilding.found('present', 'kingfisher'), ['here'])
    await rebuilding.stop()
    await store.resume()
    const last = await server.start({ ...SOON, SVC_FTS_DEFAULT_LANG: 'de' })
    await last.until(async () => (await last.found('missed', 'kingfisher')).length === 2, 'what the rebuild had missed')
  })

  it('storage recovery: a lost object is reported as damage when the index is built, and is not requested again', async () => {
    assert.equal(await configure(server.client, 'damaged', locationIn(store, { prefix: 'damaged/' })), configured('damaged'))
    await server.client.addBatch('damaged', unkept('gone'))
    const [gone = ''] = store.objects('docs').filter((path) => path.startsWith('damaged/'))
    await server.client.addBatch('damaged', unkept('whole'))
    await server.client.stop()
    store.place('docs', gone, null)
    // Another default language makes the start rebuild the whole index.
    const ANEW = { ...SOON, SVC_FTS_DEFAULT_LANG: 'de' }
    const client = await server.start(ANEW)
    assert.deepEqual(await client.found('damaged', 'kingfisher'), ['whole'])
    assert.match(client.server.output(), / error not indexed: \d+\/1: object mds-[0-9a-f]{16}\/[0-9a-f]{32}: it is not there$/m)
    await client.until(async () => {
      await server.client.stop()
      const isMarked = await isIndexMarked()
      await server.start(ANEW)
      return !isMarked
    }, 'a look through that ends')
  })

  it('storage recovery: a write whose collection is deleted and made again while its object is sent is refused, not acknowledged under keys that are gone', async () => {
    const { client } = server
    assert.equal(await configure(client, 'remade', { ...locationIn(store, { prefix: 'remade/' }), encrypted: true }), configured('remade'))
    store.hang()
    const writing = client.post('/v1/add-batch', { collection: 'remade', documents: unkept('late') }).then(summary)
    await client.until(async () => (await metricOf(client, 'slots_used')) >= 2, 'the write under way')
    assert.equal((await client.post('/v1/delete-collection', { collection: 'remade' })).status, 200)
    assert.equal(await configure(client, 'remade', { encrypted: true }), configured('remade'))
    store.goOn()
    assert.match(await writing, /the collection was changed meanwhile, please retry/)
    assert.equal(await client.get('remade', 'late'), undefined)
  })

  it('storage recovery: what newer backups refer to is kept after an older one was restored', async () => {
    const { client } = server
    assert.equal(await configure(client, 'restored', locationIn(store, { prefix: 'restored/' })), configured('restored'))
    assert.equal((await client.server.get('/v1/backup?to=old.db')).status, 200)
    await client.addBatch('restored', unkept('newer'))
    assert.equal((await client.post('/v1/restore', { from: 'old.db' })).status, 200)
    await client.stop()
    const environment = openEnvironment(generationPath(server.directory, 'gen-000002'))
    const now = Math.floor(Date.now() / 1000)
    const isKept = (seconds: number): boolean => !isUnwanted(environment, 1, Buffer.alloc(16), now, seconds)
    assert.deepEqual([isKept(3600), isKept(0)], [true, false], 'as old as the store is served, not as its name says')
    await environment.root.close()
    await server.start()
  })

  it('storage recovery: a change of something else does not bring back the secret that another collection has replaced', async () => {
    const { client } = server
    const shared = locationIn(store, { prefix: 'shared/' })
    for (const name of ['one', 'two']) assert.equal(await configure(client, name, shared), configured(name))
    await store.kill()
    await store.resume('newer-secret')
    assert.equal(await configure(client, 'one', locationIn(store, { prefix: 'shared/', secretKey: 'newer-secret' })), configured('one'))
    assert.equal(await configure(client, 'two', { description: 'says nothing of a location' }), configured('two'))
    for (const name of ['one', 'two']) assert.equal((await client.addBatch(name, unkept('doc'))).added, 1)
  })

  it('storage recovery: lost credentials fail what needs them and nothing else, and work again once they are set', async () => {
    assert.equal(await configure(server.client, 'sealed', locationIn(store, { prefix: 'sealed/' })), configured('sealed'))
    assert.equal(await configure(server.client, 'other', locationIn(store, { prefix: 'other/' })), configured('other'))
    await server.client.addBatch('sealed', unkept('a'))
    await server.client.add('plain', 'doc', { contentMd: 'here' })
    await server.client.stop()
    const client = await server.start({ SVC_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') })
    assert.match(client.server.output(), /credentials in the configuration of .* can't be opened/)
    const named = { collection: 'sealed', key: 'a', lang: 'en' }
    const [read, changed, beside] = await Promise.all([
      client.post('/v1/get', named).then(summary),
      client.post('/v1/set-ttl', { ...named, ttl: 1000 }).then(summary),
      client.post('/v1/get', { ...named, collection: 'plain', key: 'doc' }),
    ])
    for (const answer of [read, changed]) assert.match(answer, /^500 .*location 1 in an object store.*set them again/)
    assert.equal(beside.status, 200)
    assert.match(await configure(client, 'sealed', { description: 'no credentials' }), /^500 /)
    assert.equal(await configure(client, 'sealed', locationIn(store, { prefix: 'sealed/' })), configured('sealed'))
    assert.equal((await client.get('sealed', 'a'))?.contentMd, 'The body of a: kingfisher.')
    assert.equal((await client.addBatch('sealed', unkept('b'))).added, 1)
    assert.equal(store.objects('docs').filter((path) => path.startsWith('sealed/')).length, 2)
    assert.equal((await client.setTtl('sealed', 'a', 1000)).contentMd, 'The body of a: kingfisher.')
  })

  it('storage recovery: bodies of one collection move while those of another with an unavailable store wait', async () => {
    const away = await ObjectStore.start('docs')
    assert.equal(await configure(server.client, 'first', locationIn(away)), configured('first'))
    await server.client.addBatch('first', unkept('stuck'))
    await server.client.addBatch('second', unkept('a', 'b'))
    await server.client.stop()
    await away.kill()
    const client = await server.start()
    assert.equal(await configure(client, 'first', { storageBackend: 'boltdb' }), configured('first'))
    assert.equal(await configure(client, 'second', locationIn(store, { prefix: 'second/' })), configured('second'))
    await client.until(async () => (await metricOf(client, 'bodies_moved_total')) >= 2, 'the moves of the second')
    assert.equal(store.objects('docs').filter((path) => path.startsWith('second/')).length, 2)
    await away.stop()
  })

  it('storage recovery: a get that has to fetch its body is counted once, and one that fails is not', async () => {
    assert.equal(
      await configure(server.client, 'counted', { ...locationIn(store, { prefix: 'counted/' }), trackAccess: true }),
      configured('counted'),
    )
    await server.client.addBatch('counted', unkept('doc', 'gone'))
    await server.client.stop()
    const objects = store.objects('docs').filter((path) => path.startsWith('counted/'))
    const client = await server.start({ SVC_TEMPORAL: 'true' })
    assert.equal((await client.get('counted', 'doc'))?.contentMd, 'The body of doc: kingfisher.')
    for (const path of objects) store.place('docs', path, null)
    assert.match(summary(await client.post('/v1/get', { collection: 'counted', key: 'gone', lang: 'en' })), /^500 /)
    await client.get('counted', 'doc')
    const readsOf = async (key: string): Promise<number> => {
      const answer = await client.post('/v1/temporal/query', { collection: 'counted', key, lang: 'en', eventType: 'access' })
      return answer.json<{ total: number }>().total
    }
    await client.until(async () => (await readsOf('doc')) >= 2, 'what was counted')
    assert.deepEqual([await readsOf('doc'), await readsOf('gone')], [2, 0])
  })
})
