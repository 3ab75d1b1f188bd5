/**
 * Rows that identify others (identities, collections, counters), damaged with the server down: the request is
 * refused with the name of the row, no other document or collection is shown, changed or deleted, and the
 * server continues.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Environment, TableName } from '../../../src/store/environment.js'
import { openEnvironment, openTable, TABLES, tablesOfCollections } from '../../../src/store/environment.js'
import { collectionKey, counterKey, identityKey, settingKey, spellingKey } from '../../../src/store/rows/keys.js'
import { View } from '../../../src/store/view.js'
import type { Server } from '../../harness/server/server.js'
import { runToEnd, startServer } from '../../harness/server/server.js'
import { contentOfStored, makeFilledStore, STORE_ENV as env, STORED_KEYS, storeKeyring } from '../../harness/store/filled_store.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-row-damage-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const COLLECTIONS = ['Plain', 'sealed'] as const
const whole = join(folder, 'whole')
before(() => makeFilledStore(whole))

/** A copy of the whole store. */
function copied(name: string): string {
  const directory = join(folder, name)
  cpSync(whole, directory, { recursive: true })
  return directory
}

/** Collections whose row is missing, and the only table that still has rows of them. */
const LOST: readonly (readonly [collection: string, left: TableName | 'all'])[] = [
  ['plain', 'all'],
  ['sealed', 'all'],
  ['plain', 'heads'],
  ['plain', 'identities'],
  ['sealed', 'sealedIdentities'],
  ['sealed', 'sealings'],
  ['plain', 'collectionSettings'],
]

const started: Server[] = []
// Servers of failed tests would keep this process from ending.
after(() => Promise.all(started.map((server) => server.kill())))

async function start(directory: string): Promise<Server> {
  const server = await startServer({ directory, env })
  started.push(server)
  return server
}

async function contentOf(server: Server, collection: string, key: string): Promise<string> {
  const { status, text } = await server.post('/v1/get', { collection, key, lang: 'en' })
  assert.equal(status, 200, text)
  return (JSON.parse(text) as { readonly contentMd: string }).contentMd
}

async function checkStored(server: Server): Promise<void> {
  for (const collection of COLLECTIONS)
    for (const [document, key] of STORED_KEYS.entries())
      assert.equal(await contentOf(server, collection, key), contentOfStored(document), `${collection} ${key}`)
}

async function change(directory: string, how: (environment: Environment, view: View) => void): Promise<void> {
  const environment = openEnvironment(join(directory, 'gen-000001'), storeKeyring())
  environment.root.transactionSync(() => how(environment, new View(environment, 0)))
  await environment.root.close()
}

/** Changes a value in its stored form, at the position chosen by `change`. */
async function damage(
  directory: string,
  of: TableName,
  key: (view: View) => Buffer,
  change: (stored: Buffer, view: View) => void,
): Promise<void> {
  const environment = openEnvironment(join(directory, 'gen-000001'), storeKeyring())
  const view = new View(environment, 0)
  const raw = openTable(environment.root, TABLES[of][0])
  const at = key(view)
  const stored = Buffer.from(raw.get(at) as Buffer)
  change(stored, view)
  environment.root.transactionSync(() => void raw.put(at, stored))
  await environment.root.close()
}

const idOf = (view: View, name: string): number => view.collection(name)?.id ?? assert.fail(name)

/** Points an identity to the previous document. */
function pointElsewhere(stored: Buffer): void {
  stored.writeUInt32LE(stored.readUInt32LE(0) - 1, 0)
}

/** Checks that doc-3 of Plain is refused and doc-2 is unchanged. */
async function refusesDocument(server: Server): Promise<void> {
  const address = { collection: 'Plain', key: 'doc-3', lang: 'en' }
  for (const [path, body] of [
    ['/v1/get', address],
    ['/v1/add', { ...address, contentMd: 'overwritten' }],
    ['/v1/delete', address],
    ['/v1/set-ttl', { ...address, ttl: 60 }],
  ] as const) {
    const { status, text } = await server.post(path, body)
    assert.equal(status, 500, `${path}: ${text}`)
    assert.match(text, /corrupt record identity/, path)
  }
  const batch = await server.post('/v1/delete-batch', { collection: 'Plain', documents: [{ key: 'doc-3', lang: 'en' }] })
  assert.equal((JSON.parse(batch.text) as { readonly deleted: number }).deleted, 0, batch.text)
  assert.equal(await contentOf(server, 'Plain', 'doc-2'), contentOfStored(2))
  assert.equal(await contentOf(server, 'sealed', 'doc-3'), contentOfStored(3))
}

describe('a store with a damaged row', () => {
  it('row damage: a changed identity serves, overwrites and deletes no other document', async () => {
    const directory = copied('identity')
    await damage(directory, 'identities', (view) => identityKey(idOf(view, 'plain'), 'doc-3', 'en'), pointElsewhere)
    const server = await start(directory)
    await refusesDocument(server)
    assert.equal(await server.stop(), 0)
  })

  it('row damage: a changed row of a collection shows and deletes no other collection', async () => {
    const directory = copied('collection')
    await damage(
      directory,
      'collections',
      () => collectionKey('dropped'),
      (stored, view) => stored.writeUInt32LE(idOf(view, 'plain'), 0),
    )
    const server = await start(directory)
    for (const [path, body] of [
      ['/v1/search', { collection: 'dropped' }],
      ['/v1/delete-collection', { collection: 'dropped' }],
      ['/v1/add', { collection: 'dropped', key: 'a', lang: 'en', contentMd: 'a' }],
    ] as const) {
      const { status, text } = await server.post(path, body)
      assert.equal(status, 500, `${path}: ${text}`)
      assert.match(text, /corrupt record collection \\"dropped\\"/, path)
    }
    await checkStored(server)
    assert.equal(await server.stop(), 0)
  })

  it('row damage: a collection whose row is lost is not created a second time, as plaintext where it was encrypted, and nothing else is refused', async () => {
    const directory = copied('collection-gone')
    await change(directory, (environment) => environment.collections.remove(collectionKey('sealed')))
    const server = await start(directory)
    await refusesToMake(server, 'sealed', /it may be one that is lost: collection \d+ has rows, and no name leads to it/)
    await refusesToMake(server, 'another', /it may be one that is lost/)
    assert.equal(await server.stop(), 0)
    await change(directory, (_, view) => assert.equal(view.collection('sealed'), undefined))
  })

  it('row damage: a backup of a store that has lost the row of a collection is not restored: the damage is reported, and the present store is still served', async () => {
    for (const [collection, left] of LOST) {
      const at = `${collection}-${left}`
      const directory = copied(`backup-${at}`)
      await change(directory, (environment, view) => {
        if (left === 'collectionSettings') environment.collectionSettings.put(settingKey(idOf(view, collection), 1, 'x'), Buffer.alloc(8))
        removeAllBut(environment, idOf(view, collection), left)
        environment.collections.remove(collectionKey(collection))
      })
      const server = await start(directory)
      const { backup } = (await server.get('/v1/backup')).json<{ backup: string }>()
      const refused = await server.post('/v1/restore', { from: backup })
      assert.equal(refused.status, 500, `${at}: ${refused.text}`)
      const reason = String.raw`^\{"error":"restore failed: backup \S+ is damaged: corrupt record collection \d+: it has rows, and no name leads to it"`
      assert.match(refused.text, new RegExp(reason), at)
      const other = collection === 'plain' ? 'sealed' : 'Plain'
      assert.equal(await contentOf(server, other, 'doc-3'), contentOfStored(3))
      assert.equal(await server.stop(), 0)
    }
  })

  it('row damage: a collection whose row has another key is not made a second time, and others are', async () => {
    const directory = copied('collection-moved')
    await moveRow(directory, 'collections', () => collectionKey('sealed'))
    const server = await start(directory)
    await refusesToMake(server, 'Sealed', /it may be one whose row is damaged/)
    await makesAnother(server)
    assert.equal(await server.stop(), 0)
  })

  it('row damage: a collection whose row has another name, id or checksum keeps none from being made', async () => {
    for (const [at, changeByte] of [
      ['id', (stored: Buffer) => stored.writeUInt32LE(stored.readUInt32LE(0) + 64, 0)],
      ['name', (stored: Buffer) => stored.write('t', 4)],
      ['checksum', (stored: Buffer) => stored.writeUInt8((stored[stored.length - 1] as number) ^ 1, stored.length - 1)],
    ] as const) {
      const directory = copied(`collection-${at}`)
      await damage(directory, 'collections', () => collectionKey('sealed'), changeByte)
      const server = await start(directory)
      for (const { path, body } of making('sealed')) {
        const { status, text } = await server.post(path, body)
        assert.equal(status, 500, `${at} ${path}: ${text}`)
        assert.match(text, /corrupt record collection \\"sealed\\"/, path)
      }
      if (at === 'name') await refusesToMake(server, 'tealed', /it may be one whose row is damaged/)
      await makesAnother(server)
      assert.equal(await server.stop(), 0)
    }
  })

  it('row damage: a collection whose row can not be read at all keeps every name from being made', async () => {
    const directory = copied('collection-illegible')
    await damage(
      directory,
      'collections',
      () => collectionKey('sealed'),
      (stored) => stored.fill(0x5a),
    )
    const server = await start(directory)
    await refusesToMake(server, 'another', /it may be one that is lost/)
    assert.equal(await server.stop(), 0)
  })

  it('row damage: writes to a collection whose counters are damaged are refused, everything else goes on', async () => {
    const directory = copied('counters')
    await damage(
      directory,
      'counters',
      (view) => counterKey(idOf(view, 'plain')),
      (stored) => (stored[5] = (stored[5] as number) ^ 1),
    )
    const server = await start(directory)
    for (const key of ['doc-3', 'another']) {
      const { status, text } = await server.post('/v1/add', { collection: 'Plain', key, lang: 'en', contentMd: 'a' })
      assert.equal(status, 500, text)
      assert.match(text, /corrupt record counters of collection/)
    }
    const sealed = await server.post('/v1/add', { collection: 'sealed', key: 'another', lang: 'en', contentMd: 'a' })
    assert.equal(sealed.status, 200, sealed.text)
    await checkStored(server)
    assert.equal(await server.stop(), 0)
  })

  it('row damage: a document asked for by a spelling whose row is damaged is refused, not missing', async () => {
    const directory = copied('spelling')
    const first = (view: View): Buffer => spellingKey(idOf(view, 'plain'), 2, 'doc-1', 'en')
    await damage(directory, 'spellings', first, (stored) => (stored[1] = (stored[1] as number) ^ 1))
    const server = await start(directory)
    const { status, text } = await server.post('/v1/get', { collection: 'Plain', key: 'doc-1', lang: 'en' })
    assert.equal(status, 500, text)
    assert.match(text, /corrupt record spelling/)
    await checkStored(server)
    assert.equal(await server.stop(), 0)
  })

  it('row damage: counters whose key has changed are missed: an export is refused, not empty, and no document takes the number of another', async () => {
    const directory = copied('counters-gone')
    await moveRow(directory, 'counters', (view) => counterKey(idOf(view, 'plain')))
    const server = await start(directory)
    for (const [path, body] of [
      ['/v1/export', { format: 'ndjson' }],
      ['/v1/add', { key: 'another', lang: 'en', contentMd: 'a' }],
    ] as const) {
      const { status, text } = await server.post(path, { collection: 'Plain', ...body })
      assert.equal(status, 500, `${path}: ${text.slice(0, 200)}`)
      assert.match(text, /corrupt record counters of collection/, path)
    }
    await checkStored(server)
    assert.equal(await server.stop(), 0)
  })

  it('row damage: a store whose own counters are missing is not served, because its numbers would be assigned twice', async () => {
    const directory = copied('store-counters-gone')
    await moveRow(directory, 'counters', () => counterKey(0))
    const { code, output } = await runToEnd({ directory, env })
    assert.equal(code, 2, output)
    assert.match(output, /can't start: .*corrupt record counters of the store/)
  })

  it('row damage: a store whose own counters are damaged is not served either, under the supervisor, and one line says so', async () => {
    const directory = copied('store-counters')
    await damage(
      directory,
      'counters',
      () => counterKey(0),
      (stored) => (stored[2] = (stored[2] as number) ^ 1),
    )
    const { code, output } = await runToEnd({ directory, env, supervisor: true })
    assert.equal(code, 2, output)
    const lines = output.split('\n').filter((line) => line !== '' && !line.startsWith('listening on '))
    assert.equal(lines.length, 1, output)
    assert.match(lines[0] as string, /^can't start: .*corrupt record counters of the store: the checksum/)
  })
})

/** Removes the rows of a collection from every table but one. */
function removeAllBut(environment: Environment, collection: number, left: TableName | 'all'): void {
  if (left === 'all') return
  const range = { start: counterKey(collection), end: counterKey(collection + 1) }
  for (const table of [...tablesOfCollections(environment), environment.sealings, environment.counters]) {
    if (table !== environment[left]) for (const key of [...table.getKeys(range)]) table.remove(key)
  }
}

/** Requests that create a collection if none has the name. */
function making(collection: string): readonly { readonly path: string; readonly body: object }[] {
  const document = { key: 'a', lang: 'en', contentMd: 'a' }
  return [
    { path: '/v1/add', body: { collection, ...document } },
    { path: '/v1/synonyms', body: { collection, term: 'big', synonyms: ['large'] } },
  ]
}

/** Checks that creation is refused and that collections with a row continue to work. */
async function refusesToMake(server: Server, collection: string, reason: RegExp): Promise<void> {
  for (const { path, body } of making(collection)) {
    const { status, text } = await server.post(path, body)
    assert.equal(status, 500, `${path}: ${text}`)
    assert.match(text, new RegExp(`corrupt record collection \\\\"${collection}\\\\": `), path)
    assert.match(text, reason, path)
  }
  const batch = await server.post('/v1/add-batch', { collection, documents: [{ key: 'a', lang: 'en', contentMd: 'a' }] })
  assert.match(batch.text, reason)
  const { status, text } = await server.post('/v1/add', { collection: 'Plain', key: 'another', lang: 'en', contentMd: 'a' })
  assert.equal(status, 200, text)
}

async function makesAnother(server: Server): Promise<void> {
  for (const { path, body } of making('another')) {
    const { status, text } = await server.post(path, body)
    assert.equal(status, 200, `${path}: ${text}`)
  }
}

/** Moves a row as if a bit of its key had changed. */
async function moveRow(directory: string, of: TableName, key: (view: View) => Buffer): Promise<void> {
  const environment = openEnvironment(join(directory, 'gen-000001'), storeKeyring())
  const raw = openTable(environment.root, TABLES[of][0])
  const from = key(new View(environment, 0))
  const to = Buffer.from(from)
  to[0] = 0x40
  environment.root.transactionSync(() => {
    void raw.put(to, Buffer.from(raw.get(from) as Buffer))
    void raw.remove(from)
  })
  await environment.root.close()
}
