/**
 * Stores of versions before content hashes: their documents get them in the background, in rounds that
 * survive kills. Until all documents of a collection have theirs, its checksums are not shown, and nothing
 * else is different.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openEnvironment } from '../../../src/store/environment.js'
import { bodyKey } from '../../../src/store/rows/keys.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { View } from '../../../src/store/view.js'
import type { Checksums } from '../../harness/store/checksums.js'
import { GOLDEN_KEY, goldenKeyring } from '../../harness/store/golden_store.js'
import { countUnhashed, forgetHashes } from '../../harness/store/unhashed_store.js'
import { checksumOf, isWhole, NOTICE, PENDING, ROUND, rounds, Servers, SLOW, until, upgraded } from './hash_upgrades.js'

const DOCUMENTS = 400
const COLLECTIONS = ['plain', 'sealed']
const env = { SVC_ENCRYPTION_KEY: GOLDEN_KEY }
const folder = mkdtempSync(join(tmpdir(), 'mds-hash-upgrade-'))
const written = join(folder, 'written')
const servers = new Servers(env)
after(async () => {
  await servers.killAll()
  rmSync(folder, { recursive: true, force: true })
})

/** A copy of the store in its old form. */
async function unhashed(name: string): Promise<string> {
  const directory = join(folder, name)
  cpSync(written, directory, { recursive: true })
  await forgetHashes(directory, goldenKeyring())
  return directory
}

describe('a store without content hashes', () => {
  let checksums: Checksums[]
  before(async () => {
    const server = await servers.start(written)
    await server.post('/v1/collection-config', { collection: 'sealed', encrypted: true })
    for (const collection of COLLECTIONS) {
      const documents = Array.from({ length: DOCUMENTS }, (_, number) => ({
        key: `doc-${number}`,
        lang: 'en',
        meta: { number: [String(number % 7)] },
        contentMd: `# Document ${number}\n\n${'A text that is compressed. '.repeat(number % 40)}`,
        ...(number % 10 === 0 ? { ttl: 100_000 } : {}),
      }))
      assert.equal((await server.post('/v1/add-batch', { collection, documents })).status, 200)
      await server.request('PATCH', '/v1/update', { collection, key: 'doc-3', lang: 'en', contentMd: 'a second state' })
    }
    checksums = await upgraded(server, COLLECTIONS)
    assert.equal(await server.stop(), 0, server.output())
  })

  it('hash upgrade: kills lose a round at most, and the checksums are those of documents written in the present form', async () => {
    const directory = await unhashed('killed')
    let left = await countUnhashed(directory)
    assert.equal(left, 2 * DOCUMENTS)
    for (let kills = 0; kills < 3; kills++) {
      const server = await servers.start(directory, SLOW)
      // The first rounds walk over what has its hashes.
      const met = 5 + (2 * DOCUMENTS - left) / ROUND
      await until(server, async () => (await rounds(server)) >= met)
      assert.equal(await checksumOf(server, 'plain'), PENDING)
      await server.kill()
      const before = left
      left = await countUnhashed(directory)
      assert.ok(left < before && left > 0, `${before}, then ${left}`)
    }
    const server = await servers.start(directory)
    assert.deepEqual(await upgraded(server, COLLECTIONS), checksums)
    assert.equal(await server.stop(), 0, server.output())
    assert.equal(await countUnhashed(directory), 0)
    isWhole(directory, env)
  })

  it('hash upgrade: meanwhile writes are answered, a checksum is 503 with Retry-After, stats shows none', async () => {
    const directory = await unhashed('served')
    const server = await servers.start(directory, SLOW)
    const pending = await server.get('/v1/checksum?collection=plain')
    assert.deepEqual([pending.status, pending.headers['retry-after']], [503, '5'])
    const { collections } = (await server.get('/v1/stats')).json<{ collections: (Checksums & { readonly name: string })[] }>()
    for (const { name, checksum, checksum64 } of collections) assert.deepEqual([name, checksum, checksum64], [name, '', ''])
    const own = { collection: 'plain', lang: 'en' }
    const last = `doc-${DOCUMENTS - 1}`
    const answers = [
      await server.post('/v1/add', { ...own, key: 'new', contentMd: 'new' }),
      await server.request('PATCH', '/v1/update', { ...own, key: last, contentMd: 'changed' }),
      await server.post('/v1/set-ttl', { ...own, key: 'doc-7', ttl: 60_000 }),
      await server.post('/v1/delete', { ...own, key: 'doc-8' }),
      await server.post('/v1/truncate', { collection: 'plain', keepRevs: 0 }),
      await server.post('/v1/get', { ...own, key: last }),
    ]
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 200]) // prettier-ignore
    assert.equal(await checksumOf(server, 'plain'), PENDING)
    assert.equal(await server.stop(), 0, server.output())
    const again = await servers.start(directory)
    const [plain, sealed] = await upgraded(again, COLLECTIONS)
    assert.notEqual(plain?.checksum, checksums[0]?.checksum)
    assert.deepEqual(sealed, checksums[1])
    assert.equal(await again.stop(), 0, again.output())
  })

  it('hash upgrade: a content that cannot be read keeps the checksums of its collection back until it is written anew', async () => {
    const directory = await unhashed('damaged')
    const environment = openEnvironment(currentGeneration(directory), goldenKeyring())
    const view = new View(environment, 0)
    const head = view.find(view.collection('plain')?.id ?? 0, 'doc-5', 'en') ?? assert.fail('no doc-5')
    environment.root.transactionSync(() => environment.bodies.remove(bodyKey(head.collection, head.docid, head.bodyLsn)))
    await environment.root.close()
    const server = await servers.start(directory, { SVC_LIMIT_HASH_UPGRADE_RETRY_MS: '50' })
    const [sealed] = await upgraded(server, ['sealed'])
    assert.deepEqual(sealed, checksums[1])
    // Each pass begins with a round, so the document was tried again by then.
    const begun = await rounds(server)
    await until(server, async () => (await rounds(server)) >= begun + 4)
    assert.equal(await checksumOf(server, 'plain'), PENDING)
    assert.match(server.output(), NOTICE)
    const added = await server.post('/v1/add', { collection: 'plain', key: 'doc-5', lang: 'en', contentMd: 'written anew' })
    assert.equal(added.status, 200, added.text)
    await upgraded(server, ['plain'])
    assert.equal(await server.stop(), 0, server.output())
  })
})
