/**
 * Stores of versions before content hashes whose bodies lie in an object store: the upgrade fetches them. The
 * object store may be away or hang meanwhile, and an object may be lost: then the collections that need it
 * wait, and nothing else does.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import type { Checksums } from '../../harness/store/checksums.js'
import { GOLDEN_KEY, goldenKeyring } from '../../harness/store/golden_store.js'
import { ACCESS_KEY, noObjectStore, ObjectStore, REGION, SECRET_KEY } from '../../harness/store/object_store.js'
import { backUpUnhashed, countUnhashed, forgetHashes } from '../../harness/store/unhashed_store.js'
import { checksumOf, NOTICE, PENDING, ROUND, rounds, Servers, SLOW, stateOf, until, upgraded } from './hash_upgrades.js'

const DOCUMENTS = 120
/** Collections with bodies in the object store. */
const AWAY = ['bodies', 'sealed']
const COLLECTIONS = [...AWAY, 'local']
const SOON = { SVC_LIMIT_HASH_UPGRADE_RETRY_MS: '50' }
const folder = mkdtempSync(join(tmpdir(), 'mds-hash-upgrade-bodies-'))
const written = join(folder, 'written')
const servers = new Servers({ SVC_ENCRYPTION_KEY: GOLDEN_KEY, SVC_OUTBOUND_ALLOW_PRIVATE: 'true' })
after(async () => {
  await servers.killAll()
  rmSync(folder, { recursive: true, force: true })
})

async function unhashed(name: string): Promise<string> {
  const directory = join(folder, name)
  cpSync(written, directory, { recursive: true })
  await forgetHashes(directory, goldenKeyring())
  return directory
}

const textOf = (number: number): string => `# Document ${number}\n\n${'A text in an object store. '.repeat(number % 40)}`

describe('a store without content hashes, with bodies in an object store', { skip: noObjectStore }, () => {
  let store: ObjectStore
  let checksums: Checksums[]
  before(async () => {
    store = await ObjectStore.start('docs')
    const storageConfig = { endpoint: store.endpoint, bucket: 'docs', region: REGION, accessKey: ACCESS_KEY, secretKey: SECRET_KEY }
    const server = await servers.start(written)
    for (const collection of COLLECTIONS) {
      const config = {
        collection,
        ...(collection === 'local' ? {} : { storageBackend: 's3', storageConfig }),
        encrypted: collection === 'sealed',
      }
      assert.equal((await server.request('PUT', '/v1/collection-config', config)).status, 200)
      const documents = Array.from({ length: DOCUMENTS }, (_, number) => ({
        key: `doc-${number}`,
        lang: 'en',
        meta: { number: [String(number % 7)] },
        contentMd: `${collection}: ${textOf(number)}`,
        ...(number % 10 === 0 ? { ttl: 100_000 } : {}),
        // A kept revision would have its body in the store of the server, too.
        saveRevision: false,
      }))
      assert.equal((await server.post('/v1/add-batch', { collection, documents })).status, 200)
      const second = { ...documents[3], contentMd: 'a second state' }
      assert.equal((await server.post('/v1/add-batch', { collection, documents: [second] })).status, 200)
    }
    checksums = await upgraded(server, COLLECTIONS)
    assert.equal(await server.stop(), 0, server.output())
  })
  afterEach(async () => {
    await store.kill()
    await store.resume()
  })
  after(() => store.stop())

  it('hash upgrade: bodies are fetched from an object store once it answers, over restarts, and only its collections wait', async () => {
    const directory = await unhashed('away')
    await store.kill()
    const waiting = await servers.start(directory, { ...SLOW, ...SOON })
    assert.deepEqual(await upgraded(waiting, ['local']), checksums.slice(2))
    await until(waiting, () => NOTICE.test(waiting.output()))
    // One more pass over both collections.
    const passed = (await rounds(waiting)) + (3 * DOCUMENTS) / ROUND
    await until(waiting, async () => (await rounds(waiting)) >= passed)
    for (const collection of AWAY) assert.equal(await checksumOf(waiting, collection), PENDING)
    await waiting.kill()
    assert.equal(await countUnhashed(directory), 2 * DOCUMENTS)

    await store.resume()
    for (let left = 2 * DOCUMENTS, restarts = 0; restarts < 2; restarts++) {
      const server = await servers.start(directory, { ...SLOW, ...SOON })
      // The first rounds find what needs no fetch, the next walk over what has its hashes. The others fetch
      // bodies and hash them in turn.
      const met = 15 + (4 * DOCUMENTS - left) / ROUND
      await until(server, async () => (await rounds(server)) >= met)
      assert.equal(await checksumOf(server, 'bodies'), PENDING)
      await server.kill()
      const before = left
      left = await countUnhashed(directory)
      assert.ok(left < before && left > 0, `${before}, then ${left}`)
    }
    await store.kill()
    const server = await servers.start(directory, SOON)
    await until(server, () => NOTICE.test(server.output()))
    assert.equal(await checksumOf(server, 'bodies'), PENDING)
    await store.resume()
    assert.deepEqual(await upgraded(server, COLLECTIONS), checksums)
    assert.equal(await server.stop(), 0, server.output())
    assert.equal(await countUnhashed(directory), 0)
  })

  it('hash upgrade: an object store that hangs delays neither other collections nor writes', async () => {
    const directory = await unhashed('hangs')
    store.hang()
    const hanging = await servers.start(directory, SOON)
    assert.deepEqual(await upgraded(hanging, ['local']), checksums.slice(2))
    assert.doesNotMatch(hanging.output(), NOTICE, 'it did not wait for the first fetch')
    await until(hanging, async () => (await stateOf(hanging)) === 'running')
    const own = { collection: 'local', lang: 'en' }
    assert.equal((await hanging.post('/v1/add', { ...own, key: 'new', contentMd: 'written meanwhile' })).status, 200)
    assert.equal((await hanging.post('/v1/delete', { ...own, key: 'doc-8' })).status, 200)
    assert.equal((await hanging.post('/v1/delete', { ...own, collection: 'sealed', key: 'doc-8' })).status, 200)
    for (const collection of AWAY) assert.equal(await checksumOf(hanging, collection), PENDING)
    await hanging.kill()

    const server = await servers.start(directory, SOON)
    await until(server, async () => (await stateOf(server)) === 'running')
    assert.equal(await checksumOf(server, 'bodies'), PENDING)
    store.goOn()
    const [bodies] = await upgraded(server, COLLECTIONS)
    assert.deepEqual(bodies, checksums[0])
    assert.equal(await server.stop(), 0, server.output())
    assert.equal(await countUnhashed(directory), 0)
  })

  it('hash upgrade: a lost object is named and keeps back the checksums of its collection until its document is written anew', async () => {
    const directory = await unhashed('lost')
    const [lost = ''] = store.objects('docs').filter((path) => store.read('docs', path)?.includes('bodies: # Document 0') ?? false)
    const bytes = store.read('docs', lost) ?? assert.fail('no object of doc-0')
    store.place('docs', lost, null)
    const server = await servers.start(directory, SOON)
    const [sealed, local] = await upgraded(server, ['sealed', 'local'])
    assert.deepEqual([sealed, local], checksums.slice(1))
    await until(server, () => / error documents are not in the checksum .*: \d+\/\d+: object \S+: it is not there$/m.test(server.output()))
    assert.equal(await checksumOf(server, 'bodies'), PENDING)
    const own = { collection: 'bodies', key: 'doc-0', lang: 'en' }
    assert.equal((await server.post('/v1/add', { ...own, contentMd: 'written anew' })).status, 200)
    await upgraded(server, ['bodies'])
    assert.equal(await server.stop(), 0, server.output())
    assert.equal(await countUnhashed(directory), 0)
    store.place('docs', lost, bytes)
  })

  it('hash upgrade: a restored backup of the earlier format gets its hashes from an object store, too', async () => {
    const directory = join(folder, 'restored')
    await backUpUnhashed(await unhashed('backed-up'), join(directory, 'backups'))
    const server = await servers.start(directory, { ...SLOW, ...SOON })
    assert.equal((await server.post('/v1/restore', { from: 'old.db' })).text, '{"restored":"old.db"}')
    assert.equal(await checksumOf(server, 'bodies'), PENDING)
    assert.deepEqual(await upgraded(server, COLLECTIONS), checksums)
    assert.equal(await server.stop(), 0, server.output())
  })
})
