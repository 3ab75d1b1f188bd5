/** Accounts over restarts, restores and kills, and a flood of logins. Through the real front door. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { View } from '../../../src/store/view.js'
import { execFile } from '../../harness/process/owned_processes.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, ADMIN_PASSWORD, asUser, bearer, type Headers, keyOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const DOCUMENT = { collection: 'blog', key: 'k', lang: 'en' }

describe('accounts and restores', () => {
  /** Of the tests that only ask. A hash takes 15 ms: more than a request. */
  let common: Server
  before(async () => {
    common = await startServer({ env: { ...ACCESS_ENV, SVC_TEMPORAL: 'true', SVC_LIMIT_BCRYPT_COST: '8' } })
  })
  after(() => common.kill())

  it('restore: the present users, keys, permissions and revocations are kept, unless `withAccess` is sent; also after a kill', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-accounts-'))
    let server = await startServer({ env: ACCESS_ENV, directory })
    try {
      const admin = new Admin(server)
      await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'of the backup' })
      for (const name of ['kept', 'revoked']) {
        await admin.register(name)
        await admin.grant(name, 'blog', { read: true })
      }
      const revokedKey = await keyOf(server, 'kept')
      await admin.do('GET', '/v1/backup?to=b.db')
      const hash = createHash('sha256').update(revokedKey).digest('hex')
      await server.request('DELETE', `/v1/auth/api-keys/${hash}`, undefined, asUser('kept'))
      await admin.register('later')
      await admin.do('DELETE', '/v1/auth/users/revoked')
      await admin.grant('later', 'blog', { read: true })
      const laterKey = await keyOf(server, 'later')
      await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'of later' })

      const statuses = async (headers: readonly Headers[]): Promise<readonly number[]> => {
        const found: number[] = []
        for (const one of headers) found.push((await server.post('/v1/get', DOCUMENT, one)).status)
        return found
      }
      const asked = [asUser('kept'), asUser('revoked'), asUser('later'), bearer(laterKey), bearer(revokedKey)]
      const PRESENT = [200, 401, 200, 200, 401]
      assert.deepEqual(await statuses(asked), PRESENT)
      await admin.do('POST', '/v1/restore', { from: 'b.db' })
      assert.match((await server.post('/v1/get', DOCUMENT, asUser('later'))).text, /of the backup/)
      assert.deepEqual(await statuses(asked), PRESENT)
      await server.kill()
      server = await startServer({ env: ACCESS_ENV, directory })
      assert.deepEqual(await statuses(asked), PRESENT)
      const again = new Admin(server)
      await again.do('POST', '/v1/restore', { from: 'b.db', withAccess: true })
      assert.deepEqual(await statuses(asked), [200, 401, 401, 401, 200])
    } finally {
      await server.kill()
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('restore: a kill at the moment when the accounts were taken over brings no revoked key back', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-accounts-'))
    const first = await startServer({ env: { ...ACCESS_ENV, MDS_FAIL_POINT: 'restore.served' }, directory })
    const admin = new Admin(first)
    await admin.register('revoked')
    await admin.grant('revoked', 'blog', { read: true })
    await admin.do('GET', '/v1/backup?to=b.db')
    await admin.do('DELETE', '/v1/auth/users/revoked')
    await first.post('/v1/restore', { from: 'b.db' }, admin.headers).catch(() => undefined)
    await first.kill()
    const second = await startServer({ env: ACCESS_ENV, directory })
    try {
      assert.equal((await second.post('/v1/get', DOCUMENT, asUser('revoked'))).status, 401)
    } finally {
      await second.kill()
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('the password of the bootstrap administrator is set only where the user does not exist', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-accounts-'))
    const first = await startServer({ env: ACCESS_ENV, directory })
    assert.equal(await first.stop(), 0)
    const second = await startServer({ env: { ...ACCESS_ENV, SVC_AUTH_ADMIN_PASSWORD: 'another one' }, directory })
    try {
      const login = async (password: string): Promise<number> =>
        (await second.post('/v1/auth/login', { username: 'admin', password })).status
      assert.deepEqual([await login(ADMIN_PASSWORD), await login('another one')], [200, 401])
    } finally {
      await second.kill()
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('without access control the endpoints of accounts do not exist, and stored users change nothing', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-accounts-'))
    const closed = await startServer({ env: ACCESS_ENV, directory })
    assert.equal(await closed.stop(), 0)
    const open = await startServer({ directory })
    try {
      for (const path of ['/v1/auth/login', '/v1/auth/register']) assert.equal((await open.post(path, {})).status, 404)
      assert.equal((await open.post('/v1/add', { ...DOCUMENT, contentMd: 'x' }, bearer('x'))).status, 200)
      assert.equal((await open.get('/v1/config')).json<{ authEnabled: boolean }>().authEnabled, false)
    } finally {
      await open.kill()
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('logins beyond those that wait for a hash are answered 429 at once, with Retry-After, while gets are served', async () => {
    const server = common
    const admin = new Admin(server)
    await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'x' })
    const logins = Array.from({ length: 100 }, () => server.post('/v1/auth/login', { username: 'admin', password: 'x' }))
    const refused = await Promise.any(
      logins.map(async (login) => {
        const answer = await login
        if (answer.status !== 429) throw new Error(answer.text)
        return answer
      }),
    )
    assert.equal(refused.text, '{"error":"too many logins, please retry"}')
    assert.ok(Number(refused.headers['retry-after']) > 0)
    assert.equal((await server.post('/v1/get', DOCUMENT, admin.headers)).status, 200)
    // When those that wait have their answers, logins are taken again.
    await Promise.all(logins)
    assert.equal((await server.post('/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD })).status, 200)
  })

  it('access: cached answers are given to those only who may read them, and not after the right was taken away', async () => {
    const server = common
    const admin = new Admin(server)
    await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'a word' })
    for (const name of ['reader', 'nothing']) await admin.register(name)
    await admin.grant('reader', 'blog', { read: true })
    const queries = [
      (headers: Headers) => server.post('/v1/fts', { collection: 'blog', query: 'word', cacheTtl: 60 }, headers),
      (headers: Headers) => server.get('/v1/autocomplete?collection=blog&q=wo', headers),
    ]
    const statuses = async (user: string): Promise<readonly number[]> => {
      const found: number[] = []
      for (const query of queries) for (let round = 0; round < 3; round++) found.push((await query(asUser(user))).status)
      return [...new Set(found)]
    }
    assert.deepEqual(await statuses('reader'), [200])
    assert.deepEqual(await statuses('nothing'), [403])
    await admin.grant('reader', 'blog', {})
    assert.deepEqual(await statuses('reader'), [403])
  })

  it('actors of histories are the principals', async () => {
    const server = common
    const admin = new Admin(server)
    await admin.register('writer')
    await admin.grant('writer', 'blog', { write: true })
    const written = { ...DOCUMENT, key: 'by several' }
    for (const headers of [asUser('writer'), admin.headers, asUser('writer')])
      assert.equal((await server.post('/v1/add', { ...written, contentMd: 'text' }, headers)).status, 200)
    const { events } = (await server.post('/v1/temporal/query', written, admin.headers)).json<{ events: { actor?: string }[] }>()
    assert.deepEqual(events.map(({ actor }) => actor).sort(), ['admin', 'writer', 'writer'])
  })

  it('actors: every entry of the log of changes has the principal who made it: revisions, jobs, and what a job writes', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-actors-'))
    const server = await startServer({ env: ACCESS_ENV, directory })
    try {
      const admin = new Admin(server)
      await admin.register('writer')
      await admin.grant('writer', 'blog', { write: true, read: true })
      const headers = asUser('writer')
      for (const contentMd of ['one', 'two']) assert.equal((await server.post('/v1/add', { ...DOCUMENT, contentMd }, headers)).status, 200)
      const documents = [{ key: 'of a job', lang: 'en', contentMd: 'text' }]
      const { id } = (await server.post('/v1/bulk-ingest-job', { collection: 'blog', documents }, headers)).json<{ id: string }>()
      const job = async (): Promise<string> => (await server.get(`/v1/bulk-ingest-job/${id}`, headers)).json<{ status: string }>().status
      await untilAsked(job, (status) => status === 'completed')
      await server.stop()
      const environment = openEnvironment(currentGeneration(directory))
      const entries = new View(environment, 0).binlog.entriesAfter(0n, 10_000)
      await environment.root.close()
      const actorsOf = (kind: string): unknown[] =>
        entries.filter((entry) => entry.kind === kind).map((entry) => ('actor' in entry ? entry.actor : null))
      assert.deepEqual(actorsOf('put'), ['writer', 'writer', 'writer'])
      assert.ok(actorsOf('job').length > 0)
      assert.ok(
        actorsOf('job').every((actor) => actor === 'writer'),
        JSON.stringify(actorsOf('job')),
      )
    } finally {
      await server.kill()
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('start: the printed requests log in, write and search, once the password is put in', async () => {
    const server = common
    const printed = server.output().split('\n')
    const first = printed.findIndex((line) => line.startsWith('  token='))
    const script = printed
      .slice(first, first + 3)
      .join('\n')
      .replace('PASSWORD', ADMIN_PASSWORD)
    const { stdout } = await promisify(execFile)('bash', ['-c', script])
    assert.match(stdout, /"key":"first".*"key":"first"/s)
  })

  // The last one: users that are made after it have other tokens.
  it('restore: tokens that have ended since the backup stay ended with `withAccess`, also of users that are created again', async () => {
    const server = common
    const admin = new Admin(server)
    await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'text' })
    const names = ['unchanged', 'disabled', 'renewed', 'deleted']
    for (const name of names) {
      await admin.register(name)
      await admin.grant(name, 'blog', { read: true })
    }
    const login = async (username: string, password = `the password of ${username}`): Promise<Headers> => {
      const answer = await server.post('/v1/auth/login', { username, password })
      return bearer(answer.json<{ token: string }>().token)
    }
    const statuses = async (headers: readonly Headers[]): Promise<readonly number[]> =>
      await Promise.all(headers.map(async (one) => (await server.post('/v1/get', DOCUMENT, one)).status))
    const ofBackup: Headers[] = []
    for (const name of names) ofBackup.push(await login(name))
    await admin.do('GET', '/v1/backup?to=b.db')
    await admin.do('PUT', '/v1/auth/users/disabled', { disabled: true })
    await admin.do('PUT', '/v1/auth/users/renewed', { password: 'another password' })
    await admin.do('DELETE', '/v1/auth/users/deleted')
    await admin.register('later')
    const later = await login('later')
    assert.deepEqual(await statuses(ofBackup), [200, 401, 401, 401])
    await admin.do('POST', '/v1/restore', { from: 'b.db', withAccess: true })
    assert.deepEqual(await statuses([...ofBackup, later]), [200, 401, 401, 401, 401])
    const again: Headers[] = []
    for (const name of names) again.push(await login(name))
    assert.deepEqual(await statuses(again), [200, 200, 200, 200])
    await admin.register('later')
    await admin.grant('later', 'blog', { read: true })
    assert.deepEqual(await statuses([later, await login('later')]), [401, 200])
  })
})
