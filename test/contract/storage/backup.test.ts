/**
 * Backup and restore of the whole store. service-1, "Export, backup, maintenance": "copies the database
 * file", "the backup is validated first; the current database is kept until the swap succeeds; any failure
 * rolls back, returns 500 and leaves the old data served; the binlog is reset". Names: security.md, "File
 * paths". Under load and with failures at every step: test/fault/restore/restore.test.ts.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { lastBackup } from '../../../src/store/backup/backups.js'
import { DocumentsClient, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'
import { startServer, type TestResponse } from '../../harness/server/server.js'

const HOSTILE = [
  '../x.db',
  '/etc/passwd',
  'a/b',
  '..',
  '.',
  '.hidden',
  'a\0b',
  'a b',
  'ü.db',
  '..\\x',
  '%2e%2e%2fx',
  'x'.repeat(129),
  'a\nb',
  '~root',
  '',
]

describe('backup and restore', () => {
  const backups = mkdtempSync(join(tmpdir(), 'mds-backups-'))
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start({ env: { SVC_BACKUP_DIR: backups } })
  })
  after(async () => {
    await client.stop()
    rmSync(backups, { recursive: true })
  })
  const backup = (to: string): Promise<TestResponse> => client.server.get(`/v1/backup?to=${encodeURIComponent(to)}`)
  const restore = (from: string): Promise<TestResponse> => client.post('/v1/restore', { from })

  it('backup: a file under the name that was asked for, of its owner only; an existing file stays', async () => {
    await client.add('kept', 'doc', { contentMd: 'walrus' })
    assert.equal(summary(await backup('first.db')), '200 {"backup":"first.db"}')
    const { mode, mtimeMs, size } = statSync(join(backups, 'first.db'))
    assert.equal(mode & 0o777, 0o600)
    assert.equal(summary(await backup('first.db')), '409 {"error":"backup first.db already exists"}')
    const again = statSync(join(backups, 'first.db'))
    assert.deepEqual([again.mtimeMs, again.size], [mtimeMs, size])
    assert.deepEqual(readdirSync(backups), ['first.db'])
  })

  it('backup: without a name it is called by its time', async () => {
    const answer = await client.server.get('/v1/backup')
    const { backup: name } = answer.json<{ backup: string }>()
    assert.match(name, /^backup-\d{10}\.db$/)
    assert.ok(existsSync(join(backups, name)))
  })

  it('backup: a name of the time that is taken gets a number; one that was asked for does not', async () => {
    // The server reads its own clock: the names of all possible seconds are taken.
    const now = Math.floor(Date.now() / 1000)
    const taken = Array.from({ length: 60 }, (_, at) => `backup-${now + at}.db`)
    for (const name of taken) writeFileSync(join(backups, name), 'mine')
    const first = (await client.server.get('/v1/backup')).json<{ backup: string }>().backup
    assert.match(first, /^backup-\d{10}-2\.db$/)
    for (const name of taken) writeFileSync(join(backups, name.replace('.db', '-2.db')), 'mine', { flag: 'a' })
    const second = (await client.server.get('/v1/backup?to=')).json<{ backup: string }>().backup
    assert.match(second, /^backup-\d{10}-3\.db$/)
    assert.equal((await restore(second)).status, 200)
    assert.equal(summary(await backup(taken[0] as string)), `409 {"error":"backup ${taken[0]} already exists"}`)
    for (const name of readdirSync(backups).filter((each) => each.startsWith('backup-'))) rmSync(join(backups, name))
  })

  it('backup and restore: no name leads out of the directory, and no link is followed', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'mds-outside-'))
    writeFileSync(join(outside, 'x.db'), 'untouched')
    symlinkSync(join(outside, 'x.db'), join(backups, 'link.db'))
    symlinkSync(join(outside, 'y.db'), join(backups, 'dangling.db'))
    mkdirSync(join(backups, 'folder.db'))
    const before = readdirSync(backups)
    for (const name of HOSTILE.filter((each) => each !== '')) {
      assert.equal(summary(await backup(name)), '400 {"error":"invalid to"}', name)
      assert.equal(summary(await restore(name)), '400 {"error":"invalid from"}', name)
    }
    for (const name of ['link.db', 'dangling.db', 'folder.db']) {
      assert.equal((await backup(name)).status, 409, name)
      assert.equal(summary(await restore(name)), `500 {"error":"restore failed: backup ${name} is not there"}`)
    }
    assert.deepEqual([readdirSync(backups), readdirSync(outside)], [before, ['x.db']])
    rmSync(outside, { recursive: true })
    for (const name of ['link.db', 'dangling.db']) rmSync(join(backups, name))
  })

  it('backups: backups are listed newest first, with size, time and whether they are complete; links, folders, other names and unfinished files are not', async () => {
    const list = async (): Promise<{ backups: { name: string; bytes: number; createdAt: number; sealed: boolean }[]; total: number }> =>
      (await client.server.get('/v1/backups')).json()
    for (const name of readdirSync(backups)) rmSync(join(backups, name), { recursive: true })
    assert.deepEqual(await list(), { backups: [], total: 0 })
    const before = Math.floor(Date.now() / 1000)
    await backup('whole.db')
    writeFileSync(join(backups, 'cut.db'), 'MDSBKUP')
    utimesSync(join(backups, 'cut.db'), 1_000_000, 1_000_000)
    symlinkSync(join(backups, 'whole.db'), join(backups, 'link.db'))
    mkdirSync(join(backups, 'folder.db'))
    mkdirSync(join(backups, '.backup-abc'))
    writeFileSync(join(backups, '.backup-abc', 'truth.mdb'), 'under way')
    writeFileSync(join(backups, 'a name.db'), 'not ours')
    const { backups: found, total } = await list()
    assert.equal(total, 2)
    const [whole, cut] = found
    assert.ok(whole !== undefined && whole.createdAt >= before && whole.createdAt <= Date.now() / 1000)
    assert.deepEqual(whole, { name: 'whole.db', bytes: statSync(join(backups, 'whole.db')).size, createdAt: whole.createdAt, sealed: true })
    assert.deepEqual(cut, { name: 'cut.db', bytes: 7, createdAt: 1_000_000, sealed: false })
    rmSync(backups, { recursive: true })
    assert.deepEqual(await list(), { backups: [], total: 0 }, 'the directory is made by the first backup')
    mkdirSync(backups)
  })

  it('backups: a backup is deleted permanently; a missing one is 404, a path out of the folder 400, and links, folders and unfinished files stay', async () => {
    const remove = (name: string): Promise<TestResponse> => client.server.request('DELETE', `/v1/backups/${encodeURIComponent(name)}`)
    await backup('old.db')
    assert.equal(summary(await remove('old.db')), '200 {"deleted":"old.db"}')
    assert.equal(existsSync(join(backups, 'old.db')), false)
    assert.equal(summary(await remove('old.db')), '404 {"error":"not found"}')
    const outside = mkdtempSync(join(tmpdir(), 'mds-outside-'))
    writeFileSync(join(outside, 'x.db'), 'untouched')
    symlinkSync(join(outside, 'x.db'), join(backups, 'link.db'))
    mkdirSync(join(backups, 'folder.db'))
    mkdirSync(join(backups, '.backup-abc'))
    for (const name of HOSTILE.filter((each) => !['', '.', '..'].includes(each)).concat('.backup-abc'))
      assert.equal(summary(await remove(name)), '400 {"error":"invalid name"}', name)
    for (const path of ['/v1/backups/..', '/v1/backups/.', '/v1/backups/', '/v1/backups/../x.db', '/v1/backups/%2e%2e'])
      assert.ok((await client.server.request('DELETE', path)).status >= 400, path)
    for (const name of ['link.db', 'folder.db']) assert.equal(summary(await remove(name)), '404 {"error":"not found"}', name)
    assert.deepEqual([readdirSync(backups).sort(), readdirSync(outside)], [['.backup-abc', 'folder.db', 'link.db'], ['x.db']])
    rmSync(outside, { recursive: true })
    for (const name of readdirSync(backups)) rmSync(join(backups, name), { recursive: true })
  })

  it('backups: in the data directory itself, only sealed files are listed and deleted', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-backups-'))
    const server = await startServer({ directory, env: { SVC_BACKUP_DIR: directory } })
    try {
      assert.equal((await server.get('/v1/backup?to=own.db')).status, 200)
      const { backups: found } = (await server.get('/v1/backups')).json<{ backups: { name: string }[] }>()
      assert.deepEqual(
        found.map(({ name }) => name),
        ['own.db'],
      )
      for (const name of ['CURRENT', 'LOCK']) {
        assert.equal(summary(await server.request('DELETE', `/v1/backups/${name}`)), '404 {"error":"not found"}', name)
        assert.ok(existsSync(join(directory, name)), name)
      }
      assert.equal((await server.request('DELETE', '/v1/backups/own.db')).status, 200)
    } finally {
      await server.stop()
      rmSync(directory, { recursive: true })
    }
  })

  it('backups: the time of the last backup is reported although the folder contains dangling links', () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-backups-'))
    const newest = lastBackup(directory)
    assert.equal(newest(), 0)
    writeFileSync(join(directory, 'one.db'), 'x')
    utimesSync(join(directory, 'one.db'), 1_000_000, 1_000_000)
    symlinkSync(join(directory, 'gone.db'), join(directory, 'link.db'))
    assert.equal(newest(), 1_000_000)
    rmSync(directory, { recursive: true })
  })

  it('backups: none is deleted while a restore is under way', async () => {
    await client.add('kept', 'doc', { contentMd: 'walrus' })
    await backup('needed.db')
    let isOver = false
    const restoring = restore('needed.db').finally(() => (isOver = true))
    const remove = (name: string): Promise<TestResponse> => client.server.request('DELETE', `/v1/backups/${name}`)
    await client.until(async () => (await remove('absent.db')).status === 503, 'the restore under way')
    const refused = await remove('needed.db')
    assert.equal(isOver, false)
    assert.equal(summary(refused), '503 {"error":"a restore is under way, please retry"}')
    assert.equal((await restoring).status, 200)
    assert.equal((await remove('needed.db')).status, 200)
  })

  it('restore: everything is as it was at the backup: documents, revisions, settings, counters, searches; later writes go on from there', async () => {
    const c = client.collection()
    for (let at = 0; at < 30; at++) await client.add(c, `k${at}`, { contentMd: `walrus ${at}`, meta: { n: [String(at)] } })
    await client.add(c, 'k0', { contentMd: 'second walrus' })
    await client.add('kept', 'doc', { contentMd: 'walrus' })
    await client.post('/v1/synonyms', { collection: c, term: 'walrus', synonyms: ['tusker'] })
    const state = async (): Promise<unknown> => [
      (await client.search(c, { limit: 100 })).documents,
      await client.revisions(c, 'k0'),
      await client.stats(c),
      await client.found(c, 'tusker'),
      await client.metaKeys(c),
      (await client.server.get(`/v1/synonyms?collection=${c}`)).json(),
    ]
    const before = await state()
    assert.equal((await backup('whole.db')).status, 200)
    await client.add(c, 'k0', { contentMd: 'third' })
    await client.delete(c, 'k1')
    await client.add(c, 'new', { contentMd: 'walrus' })
    await client.post('/v1/synonyms', { collection: c, term: 'walrus', synonyms: ['other'] })
    await client.post('/v1/delete-collection', { collection: 'kept' })
    assert.equal(summary(await restore('whole.db')), '200 {"restored":"whole.db"}')
    assert.deepEqual(await state(), before)
    assert.equal((await client.get('kept', 'doc'))?.contentMd, 'walrus')
    await client.add(c, 'after', { contentMd: 'walrus after' })
    assert.ok((await client.found(c, 'walrus')).includes('after'))
    assert.equal((await client.update(c, 'k0', { contentMd: 'updated' })).contentMd, 'updated')
  })

  it('restore: the binlog is reset under a new epoch, and the next start serves the same documents', async () => {
    const c = client.collection()
    const entries = async (): Promise<number> =>
      Number(/^mddb_binlog_entries_total (\d+)$/m.exec((await client.server.get('/metrics')).text)?.[1])
    await client.add(c, 'doc', { contentMd: 'walrus' })
    await backup('binlog.db')
    assert.ok((await entries()) > 0)
    assert.equal((await restore('binlog.db')).status, 200)
    assert.equal(await entries(), 0)
    await client.add(c, 'doc', { contentMd: 'seal' })
    assert.equal(await entries(), 1)
  })

  it('restore: a missing from is 400; a backup that is not there, damaged or of something else is 500 and nothing changes', async () => {
    const c = client.collection()
    await client.add(c, 'doc', { contentMd: 'walrus' })
    writeFileSync(join(backups, 'text.db'), 'not a backup')
    writeFileSync(join(backups, 'empty.db'), '')
    assert.equal(summary(await client.post('/v1/restore', {})), MISSING_FIELDS)
    assert.equal(summary(await restore('')), MISSING_FIELDS)
    for (const name of ['none.db', 'text.db', 'empty.db'])
      assert.match(summary(await restore(name)), new RegExp(`^500 \\{"error":"restore failed: backup ${name} is not`))
    assert.deepEqual(await client.found(c, 'walrus'), ['doc'])
    assert.deepEqual(readdirSync(client.server.directory).filter((name) => name.startsWith('gen-')).length, 1)
  })

  it('backup: a backup taken during writes contains one committed state with whole batches, and delays no read', async () => {
    const c = client.collection()
    let isOver = false
    let read = 0
    const readMeanwhile: number[] = []
    const batch = (round: number): unknown[] =>
      Array.from({ length: 20 }, (_, number) => ({ key: `k${number}`, lang: 'en', contentMd: `round ${round}` }))
    await client.addBatch(c, batch(0))
    const writes = (async () => {
      for (let round = 1; !isOver; round++) await client.addBatch(c, batch(round))
    })()
    const reads = (async () => {
      for (; !isOver; read++) await client.get(c, 'k0')
    })()
    for (let at = 0; at < 5; at++) {
      const before = read
      assert.equal((await backup(`busy-${at}.db`)).status, 200)
      readMeanwhile.push(read - before)
    }
    isOver = true
    await Promise.all([writes, reads])
    assert.ok(Math.max(...readMeanwhile) > 0, 'a read was answered while a backup was taken')
    for (let at = 0; at < 5; at++) {
      assert.equal((await restore(`busy-${at}.db`)).status, 200)
      const { documents } = await client.search(c, { limit: 100 })
      assert.equal(
        new Set(documents.map(({ contentMd }) => contentMd)).size,
        1,
        'a batch of 20 is one group, and a copy has all or nothing of it',
      )
      assert.equal((await client.found(c, 'round')).length, documents.length)
    }
  })

  it('restore: an empty store can be backed up and restored, and written to afterwards', async () => {
    const empty = await DocumentsClient.start()
    try {
      await empty.server.get('/v1/backup?to=empty.db')
      await empty.add('c', 'doc', { contentMd: 'walrus' })
      assert.equal(summary(await empty.post('/v1/restore', { from: 'empty.db' })), '200 {"restored":"empty.db"}')
      assert.equal(await empty.get('c', 'doc'), undefined)
      await empty.add('c', 'doc', { contentMd: 'walrus again' })
      assert.deepEqual(await empty.found('c', 'walrus'), ['doc'])
      assert.ok(existsSync(join(empty.server.directory, 'backups', 'empty.db')))
    } finally {
      await empty.stop()
    }
  })

  it('restore: a rotation of keys is refused while one is under way, as its job would go with the store that is replaced', async () => {
    const sealed = await DocumentsClient.start({ env: { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') } })
    try {
      await sealed.server.get('/v1/backup?to=before.db')
      let isOver = false
      const restoring = sealed.post('/v1/restore', { from: 'before.db' }).finally(() => (isOver = true))
      const used = async (): Promise<number> => Number(/^mddb_slots_used (\d+)$/m.exec((await sealed.server.get('/metrics')).text)?.[1])
      await sealed.until(async () => (await used()) >= 2, 'the restore under way')
      const refused = await sealed.post('/v1/encryption/rotate', {})
      assert.equal(isOver, false)
      assert.equal(summary(refused), '503 {"error":"a restore is under way, please retry"}')
      assert.equal((await restoring).status, 200)
      const { id } = (await sealed.post('/v1/encryption/rotate', {})).json<{ id: string }>()
      assert.equal((await sealed.server.get(`/v1/encryption/jobs/${id}`)).status, 200)
    } finally {
      await sealed.stop()
    }
  })
})
