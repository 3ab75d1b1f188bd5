/**
 * Live restores of backups that a version before content hashes wrote: the restored documents get their
 * hashes in the background, whatever the server did before, and also if it is killed meanwhile.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Checksums } from '../../harness/store/checksums.js'
import { GOLDEN_KEY, goldenKeyring } from '../../harness/store/golden_store.js'
import type { Server } from '../../harness/server/server.js'
import { backUpUnhashed, countUnhashed, forgetHashes } from '../../harness/store/unhashed_store.js'
import { checksumOf, isWhole, PENDING, ROUND, rounds, Servers, SLOW, stateOf, until, upgraded } from './hash_upgrades.js'

const DOCUMENTS = 300
const COLLECTIONS = ['plain', 'sealed']
const RESTORED = '{"restored":"old.db"}'
const env = { SVC_ENCRYPTION_KEY: GOLDEN_KEY }
const folder = mkdtempSync(join(tmpdir(), 'mds-hash-upgrade-restore-'))
/** In its old form. */
const old = join(folder, 'old')
const servers = new Servers(env)
after(async () => {
  await servers.killAll()
  rmSync(folder, { recursive: true, force: true })
})

async function add(server: Server, collection: string, documents: number, text: string): Promise<void> {
  const all = Array.from({ length: documents }, (_, number) => ({
    key: `doc-${number}`,
    lang: 'en',
    meta: { number: [String(number % 7)] },
    contentMd: `${text} ${number}\n\n${'A text that is compressed. '.repeat(number % 40)}`,
    ...(number % 10 === 0 ? { ttl: 100_000 } : {}),
  }))
  assert.equal((await server.post('/v1/add-batch', { collection, documents: all })).status, 200)
}

describe('a restored backup without content hashes', () => {
  let checksums: Checksums[]
  before(async () => {
    const server = await servers.start(old)
    await server.post('/v1/collection-config', { collection: 'sealed', encrypted: true })
    for (const collection of COLLECTIONS) await add(server, collection, DOCUMENTS, `${collection}, to be backed up`)
    checksums = await upgraded(server, COLLECTIONS)
    assert.equal(await server.stop(), 0, server.output())
    await forgetHashes(old, goldenKeyring())
  })

  it('hash upgrade: a live restore of a backup of the earlier format is followed by it, and both checksums are those that were backed up', async () => {
    const directory = join(folder, 'live')
    await backUpUnhashed(old, join(directory, 'backups'))
    const server = await servers.start(directory, SLOW)
    await add(server, 'plain', 20, 'replaced by the restore')
    const [replaced] = await upgraded(server, ['plain'])
    assert.equal(await stateOf(server), 'idle')
    assert.equal((await server.post('/v1/restore', { from: 'old.db' })).text, RESTORED)
    const pending = await server.get('/v1/checksum?collection=plain')
    assert.deepEqual([`${pending.status} ${pending.text}`, pending.headers['retry-after']], [PENDING, '5'])
    const { collections } = (await server.get('/v1/stats')).json<{ collections: (Checksums & { readonly name: string })[] }>()
    for (const { name, checksum, checksum64 } of collections) assert.deepEqual([name, checksum, checksum64], [name, '', ''])
    assert.deepEqual(await upgraded(server, COLLECTIONS), checksums)
    assert.notEqual(replaced?.checksum64, checksums[0]?.checksum64)
    assert.equal(await server.stop(), 0, server.output())
    assert.equal(await countUnhashed(directory), 0)
    isWhole(directory, env)
  })

  it('hash upgrade: a restore while the replaced store has it begins it anew, and it survives writes and a kill', async () => {
    const directory = join(folder, 'meanwhile')
    cpSync(old, directory, { recursive: true })
    await backUpUnhashed(old, join(directory, 'backups'))
    let server = await servers.start(directory, SLOW)
    await until(server, async () => (await rounds(server)) >= 5)
    assert.equal(await checksumOf(server, 'plain'), PENDING)
    assert.equal((await server.post('/v1/restore', { from: 'old.db' })).text, RESTORED)
    const met = (await rounds(server)) + 5
    await until(server, async () => (await rounds(server)) >= met)
    const own = { collection: 'plain', lang: 'en' }
    assert.equal((await server.post('/v1/add', { ...own, key: 'new', contentMd: 'written meanwhile' })).status, 200)
    assert.equal((await server.post('/v1/delete', { ...own, key: 'doc-8' })).status, 200)
    assert.equal(await checksumOf(server, 'plain'), PENDING)
    await server.kill()
    const left = await countUnhashed(directory)
    assert.ok(left > 0 && left <= 2 * DOCUMENTS - ROUND, `${left} left`)

    server = await servers.start(directory)
    const [plain, sealed] = await upgraded(server, COLLECTIONS)
    assert.notEqual(plain?.checksum, checksums[0]?.checksum)
    assert.deepEqual(sealed, checksums[1])
    assert.equal(await server.stop(), 0, server.output())
    assert.equal(await countUnhashed(directory), 0)
    isWhole(directory, env)
  })
})
