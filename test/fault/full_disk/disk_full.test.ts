/**
 * A full disk: writes are refused before they are tried, reads continue in the same process, operations that
 * free space work, and writes resume automatically. Another process fills a separate file system to the last
 * byte.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawn } from '../../harness/process/owned_processes.js'
import { SmallDisk } from '../../harness/process/small_disk.js'
import { UNTIL_MS_MAX, untilAsked } from '../../harness/process/until.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { document, isStatus, NOT_MOUNTED, REFUSED, startOnDisk, until, untilReserved, wordsOf } from './full_disk.js'

const MDS = fileURLToPath(new URL('../../../../bin/mds.mjs', import.meta.url))
/**
 * From the deletion to the first write: the lane checks twice per second, removes the rows in small groups,
 * and the machine may be busy.
 */
const RESUMED_MS_MAX = 20_000

describe('a full disk', () => {
  let disk: SmallDisk | undefined
  let server: Server
  before(async () => {
    disk = SmallDisk.mount(64)
    if (disk === undefined) return
    server = await startServer({ directory: join(disk.path, 'db') })
    for (let i = 0; i < 40; i++) {
      assert.equal((await server.post('/v1/add', document(`k${i}`))).status, 200)
      assert.equal((await server.post('/v1/add', document(`k${i}`, 'other'))).status, 200)
    }
    assert.equal((await server.post('/v1/add', { ...document('k0'), contentMd: 'a second version' })).status, 200)
    assert.equal((await server.get('/v1/backup?to=early.db')).status, 200)
    await untilReserved(disk, 4 << 20)
  })
  after(async () => {
    if (disk === undefined) return
    if (await Promise.race([server.ended.then(() => false), Promise.resolve(true)])) await server.kill()
    disk.unmount()
  })

  const onDisk =
    (run: (mounted: SmallDisk) => Promise<void>) =>
    async (test: TestContext): Promise<void> => {
      if (disk === undefined) test.skip(NOT_MOUNTED)
      else await run(disk)
    }

  it(
    'disk full: writes get 503 with the reason and Retry-After before they are tried, and reads go on',
    onDisk(async (mounted) => {
      mounted.fill(0)
      const refused = await until(() => server.post('/v1/add', document('new')), isStatus(503))
      assert.equal(refused.text, REFUSED)
      assert.equal(refused.headers['retry-after'], '5')
      for (const [path, body] of [
        ['/v1/add-batch', { collection: 'full', documents: [document('new')] }],
        ['/v1/set-ttl', { collection: 'full', key: 'k1', lang: 'en', ttl: 60 }],
        ['/v1/synonyms', { collection: 'full', term: 'a', synonyms: ['b'] }],
      ] as const) {
        const answer = await server.post(path, body)
        assert.deepEqual([answer.status, answer.text], [503, REFUSED], path)
      }
      assert.equal((await server.post('/v1/get', document('k1'))).status, 200)
      assert.equal((await server.post('/v1/fts', { collection: 'full', query: 'text' })).json<{ total: number }>().total, 39)
      assert.equal((await server.post('/v1/export', { collection: 'full', format: 'ndjson' })).status, 200)
      assert.doesNotMatch(server.output(), /fatal/)
    }),
  )

  it(
    'disk full: health is 503 degraded with freeBytes, and 200 for who asks with mode=read',
    onDisk(async () => {
      const health = await server.get('/v1/health')
      assert.equal(health.status, 503)
      const { status, persistence } = health.json<{ status: string; persistence: { freeBytes: number; writable: boolean } }>()
      assert.deepEqual([status, persistence.writable], ['degraded', false])
      assert.equal(typeof persistence.freeBytes, 'number')
      const forReaders = await server.get('/v1/health?mode=read')
      assert.deepEqual([forReaders.status, forReaders.json().status], [200, 'degraded'])
    }),
  )

  it(
    'disk full: delete, delete-batch, truncate and delete-collection succeed in what is reserved',
    onDisk(async () => {
      assert.equal((await server.post('/v1/delete', { collection: 'full', key: 'k1', lang: 'en' })).status, 200)
      const batch = { collection: 'full', documents: [2, 3, 4].map((i) => ({ key: `k${i}`, lang: 'en' })) }
      assert.equal((await server.post('/v1/delete-batch', batch)).json().deleted, 3)
      assert.equal((await server.post('/v1/truncate', { collection: 'full', keepRevs: 0 })).status, 200)
      assert.equal((await server.post('/v1/delete-collection', { collection: 'other' })).json().deletedCount, 40)
      assert.equal((await server.post('/v1/get', { collection: 'full', key: 'k2', lang: 'en' })).status, 404)
    }),
  )

  it(
    'disk full: backups are listed and deleted',
    onDisk(async () => {
      assert.equal((await server.get('/v1/backups')).json().total, 1)
      assert.equal((await server.request('DELETE', '/v1/backups/early.db')).text, '{"deleted":"early.db"}')
    }),
  )

  it(
    'disk full: a backup and a restore end in an error or with success, not the process',
    onDisk(async () => {
      const backup = await server.get('/v1/backup?to=on-full-disk.db')
      assert.ok([200, 500, 503].includes(backup.status), backup.text)
      assert.equal((await server.post('/v1/get', document('k5'))).status, 200)
      assert.doesNotMatch(server.output(), /fatal/)
    }),
  )

  it(
    'disk full: writing is resumed by itself when there is space, by the process that refused',
    onDisk(async (mounted) => {
      mounted.empty()
      await until(() => server.post('/v1/add', document('after')), isStatus(200))
      assert.equal((await server.get('/v1/health')).json().status, 'healthy')
      assert.match(server.output(), /disk has space again/)
    }),
  )

  it(
    'disk full: a shutdown succeeds, a start serves reads and refuses writes, and nothing acknowledged is lost',
    onDisk(async (mounted) => {
      mounted.fill(0)
      await until(() => server.post('/v1/add', document('new')), isStatus(503))
      assert.equal(await server.stop(), 0, server.output())
      mounted.fill(0)
      server = await startServer({ directory: join(mounted.path, 'db') })
      assert.equal((await server.post('/v1/get', document('after'))).json().contentMd, document('after').contentMd)
      assert.equal((await server.post('/v1/add', document('new'))).text, REFUSED)
      assert.equal((await server.post('/v1/fts', { collection: 'full', query: 'text' })).json<{ total: number }>().total, 36)
      mounted.empty()
      await until(() => server.post('/v1/add', document('new')), isStatus(200))
      assert.equal(await server.stop(), 0, server.output())
    }),
  )
})

describe('a disk on which nothing is free, and the reserve is taken, too', () => {
  it('disk full: the space of a deleted collection takes writes again, by itself', async (test) => {
    const mounted = await startOnDisk(test, 96, { env: { SVC_DISK_RESERVE: String(2 << 20) } })
    if (mounted === undefined) return
    const { disk, server } = mounted
    const random = new Random(42)
    const large = (key: string, collection: string): Record<string, string> => ({
      ...document(key, collection),
      contentMd: wordsOf(random, 40_000),
    })
    for (let i = 0; i < 264; i++) assert.equal((await server.post('/v1/add', large(`k${i}`, i % 3 === 0 ? 'kept' : 'dropped'))).status, 200)
    disk.fill(0)
    await until(() => server.post('/v1/add', large('new', 'kept')), isStatus(503))
    assert.equal((await server.post('/v1/delete-collection', { collection: 'dropped' })).json().deletedCount, 176)
    // The reserve is released and immediately used up. The rows of the collection are removed within the free
    // pages of the env itself.
    disk.fill(0)
    const begun = performance.now()
    const taken = await until(
      () => server.post('/v1/add', large('new', 'kept')),
      (answer) => answer.status === 200 || performance.now() - begun > RESUMED_MS_MAX,
    )
    assert.equal(taken.status, 200, server.output())
    assert.equal((await server.post('/v1/fts', { collection: 'kept', query: 'text' })).status, 200)
    assert.doesNotMatch(server.output(), /fatal/)
    assert.equal(await server.stop(), 0, server.output())
  })
})

describe('a disk that has space for small requests only', () => {
  it('disk full: health stays healthy and warns of disk_low with freeBytes where the largest request would be refused, and only there', async (test) => {
    const mounted = await startOnDisk(test, 32, { env: { SVC_DISK_RESERVE: String(2 << 20), SVC_MAX_BODY_BYTES: String(8 << 20) } })
    if (mounted === undefined) return
    const { disk, server } = mounted
    const asked = async (): Promise<{ codes: readonly string[]; low: string | undefined; freeBytes: number; status: string }> => {
      const { status, persistence } = (await server.get('/v1/health')).json<{
        status: string
        persistence: { freeBytes: number; warnings: { code: string; detail: string }[] }
      }>()
      const low = persistence.warnings.find(({ code }) => code === 'disk_low')?.detail
      return { codes: persistence.warnings.map(({ code }) => code), low, freeBytes: persistence.freeBytes, status }
    }
    await untilReserved(disk, 2 << 20)
    assert.equal((await asked()).low, undefined)
    const bounds = { above: (10 << 20) + 8192, under: (10 << 20) - 8192 }
    disk.fill(bounds.above)
    await untilAsked(asked, ({ freeBytes }) => freeBytes < bounds.above + 8192)
    assert.equal((await asked()).low, undefined)
    disk.fill(bounds.under)
    const { low, freeBytes, status } = await untilAsked(asked, ({ codes }) => codes.includes('disk_low'))
    assert.equal(low, `${freeBytes} bytes are free; the largest requests are refused under ${10 << 20}`)
    assert.equal(status, 'healthy')
    assert.equal((await server.post('/v1/add', document('small'))).status, 200)
    const contentMd = 'x'.repeat((8 << 20) - 1024)
    assert.equal((await server.post('/v1/add', { ...document('large'), contentMd })).text, REFUSED)
    assert.equal((await asked()).status, 'healthy')
    assert.equal(await server.stop(), 0, server.output())
  })
})

describe('a reserve that is larger than the disk', () => {
  it('disk full: SVC_DISK_RESERVE is kept free, and mds import says what it waits for', async (t) => {
    const scratch = await mkdtemp(join(tmpdir(), 'mds-reserve-'))
    const server = await startServer({ env: { SVC_DISK_RESERVE: '999999999999999' } })
    t.after(() => server.kill())
    const refused = await server.post('/v1/add', document('new'))
    assert.deepEqual([refused.status, refused.text], [503, REFUSED])
    await writeFile(join(scratch, 'one.md'), 'one')
    const env = { ...process.env, MDS_URL: server.url, XDG_STATE_HOME: scratch }
    const importing = spawn(process.execPath, [MDS, 'import', scratch, '--collection', 'full'], { env })
    t.after(() => importing.kill('SIGKILL'))
    const end = AbortSignal.timeout(UNTIL_MS_MAX)
    const line = await new Promise<string>((resolve) => {
      end.addEventListener('abort', () => resolve('nothing was said'))
      let text = ''
      for (const stream of [importing.stdout, importing.stderr])
        stream.on('data', (piece: Buffer) => {
          text += piece.toString()
          if (text.includes('waiting:')) resolve(text)
        })
      importing.once('close', () => resolve(text))
    })
    assert.match(line, /waiting: the server answers 503: disk full, writes are refused until there is space/)
    assert.equal(await server.stop(), 0, server.output())
    await rm(scratch, { recursive: true, force: true })
  })
})
