/**
 * The log of a running server: formats, levels, lines for requests and for large changes, and data that must
 * never appear in it. events.md section 13, security.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { untilHolds } from '../../harness/process/until.js'
import type { Server } from '../../harness/server/server.js'
import { runToEnd, startServer } from '../../harness/server/server.js'

interface Line {
  readonly level: string
  readonly time: string
  readonly thread: string
  readonly msg: string
  readonly [field: string]: unknown
}

const TIMED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:debug|info|warn|error) \S/
const KEY = Buffer.alloc(32, 7).toString('base64')

const linesOf = (server: Server): Line[] =>
  server
    .output()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

const logged = (server: Server, message: string): Line[] => linesOf(server).filter(({ msg }) => msg === message)

/** Threads write their lines before the answer is sent; the lines arrive through the pipe a moment later. */
async function until(found: () => boolean): Promise<void> {
  await untilHolds(found, () => 'a line of the log')
}

describe('a log in JSON', () => {
  let server: Server
  before(async () => {
    const env = { SVC_LOG_FORMAT: 'json', SVC_ACCESS_LOG: 'true', SVC_ENCRYPTION_KEY: KEY, SVC_LOG_LEVEL: 'debug' }
    server = await startServer({ env })
  })
  after(() => server.stop())

  it('every line is one JSON object with level, time, thread and msg, from the first on', async () => {
    await server.get('/health')
    await until(() => logged(server, 'request').length > 0)
    const lines = linesOf(server)
    for (const { level, time, thread, msg } of lines) {
      assert.match(level, /^(debug|info|warn|error)$/)
      assert.equal(new Date(time).toISOString(), time)
      assert.ok(thread !== '' && msg !== '')
    }
    const ready = lines.find(({ msg }) => msg === 'ready')
    assert.equal(ready?.address, server.address)
    assert.ok(Number(ready?.ms) > 0)
    assert.ok(
      lines.some(({ thread }) => thread === 'write lane'),
      'lanes log by themselves',
    )
  })

  it('SVC_ACCESS_LOG: one line for each request with method, path without its query, status, bytes, time and peer', async () => {
    const before = logged(server, 'request').length
    const answer = await server.get('/v1/checksum?collection=from-the-query')
    await server.get('/nowhere')
    await until(() => logged(server, 'request').length === before + 2)
    const [checksum, nowhere] = logged(server, 'request').slice(before)
    const { method, path, status, bytes, ms, peer, level } = checksum!
    assert.deepEqual(
      { method, path, status, bytes, peer, level },
      { method: 'GET', path: '/v1/checksum', status: 200, bytes: answer.body.length, peer: '127.0.0.1', level: 'info' },
    )
    assert.ok(typeof ms === 'number' && ms >= 0)
    assert.deepEqual([nowhere?.path, nowhere?.status], ['/nowhere', 404])
    assert.doesNotMatch(server.output(), /from-the-query/)
  })

  it('one line each for a backup, a restore, a deleted collection and a rotation of keys', async () => {
    await server.post('/v1/add', { collection: 'gone', key: 'a', lang: 'en', contentMd: 'a' })
    await server.post('/v1/collection-config', { collection: 'gone', encrypted: true })
    const { backup } = (await server.get('/v1/backup?to=of-the-log')).json<{ backup: string }>()
    assert.equal((await server.post('/v1/restore', { from: backup })).status, 200)
    const rotation = (await server.post('/v1/encryption/rotate', {})).json<{ id: string }>()
    await until(() => logged(server, 'rotation of keys ended').length === 1)
    assert.equal((await server.post('/v1/delete-collection', { collection: 'gone' })).status, 200)
    await until(() => logged(server, 'collection deleted').length === 1)
    const shown = (message: string, ...fields: readonly string[]): unknown[] =>
      logged(server, message).map((line) => fields.map((field) => line[field]))
    assert.deepEqual(shown('backup written', 'backup'), [[backup]])
    assert.deepEqual(shown('restored', 'backup'), [[backup]])
    assert.deepEqual(shown('key rotation requested', 'job', 'collection'), [[rotation.id, '']])
    assert.deepEqual(shown('rotation of keys ended', 'job', 'status'), [[rotation.id, 'completed']])
    assert.deepEqual(shown('collection deleted', 'collection', 'documents'), [['gone', 1]])
  })

  it('names with newlines and escapes stay within their line', async () => {
    const collection = 'a\u2028{"level":"error","msg":"forged"}\u009b2J'
    assert.equal((await server.post('/v1/add', { collection, key: 'k', lang: 'en', contentMd: 'x' })).status, 200)
    for (const control of ['\n', '\u001b']) {
      const refused = await server.post('/v1/add', { collection: `a${control}`, key: 'k', lang: 'en', contentMd: 'x' })
      assert.equal(refused.status, 400, 'such a name comes into no store and no log')
    }
    assert.equal((await server.post('/v1/delete-collection', { collection })).status, 200)
    await until(() => logged(server, 'collection deleted').some((line) => line.collection === collection))
    assert.equal(logged(server, 'forged').length, 0)
    assert.doesNotMatch(server.output().replaceAll('\n', ''), /[\p{Cc}\p{Zl}\p{Zp}]/u)
  })

  it('no content, key, credential or header of a request stands in the log, whatever goes wrong', async () => {
    const secret = 'c4nary-of-the-log'
    const headers = { authorization: `Bearer ${secret}`, 'x-api-key': secret, cookie: `session=${secret}` }
    await server.request('POST', '/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: secret, meta: { a: [secret] } }, headers)
    await server.request('POST', '/v1/add', `{"contentMd": "${secret}`, headers)
    await server.request('POST', '/v1/add', `${secret}`, headers)
    await server.request('POST', `/v1/fts?x=${secret}`, { collection: 'c', query: secret, mode: 'boolean' }, headers)
    await server.request('POST', '/v1/collection-config', { collection: 'c', cms: { url: 'u', apiKey: secret } }, headers)
    await server.request('POST', '/v1/restore', { from: 'absent' }, headers)
    await until(() => linesOf(server).some(({ msg }) => msg === 'restore of absent'))
    assert.ok(!server.output().includes(secret))
    assert.ok(!server.output().includes(KEY))
  })
})

describe('the last words of a process', () => {
  it('an uncaught error is logged as one line of JSON before the process ends', async () => {
    // Throws as soon as the program runs.
    const thrower = `import { isMainThread } from 'node:worker_threads'
      if (isMainThread) setInterval(() => { if (process.listenerCount('uncaughtExceptionMonitor') > 0) throw new Error('nobody catches') }, 1)`
    const options = `--import data:text/javascript,${encodeURIComponent(thrower)}`
    const { code, output } = await runToEnd({ env: { SVC_LOG_FORMAT: 'json', NODE_OPTIONS: options } })
    assert.notEqual(code, 0)
    const line = output.split('\n').find((text) => text.includes('"the process ends"')) ?? '{}'
    const { level, reason, stack } = JSON.parse(line) as Record<string, string>
    assert.deepEqual([level, reason], ['error', 'nobody catches'])
    assert.match(stack ?? '', /^at /)
  })
})

describe('a log in text', () => {
  it('the lines of a first start are as they were; every other line begins with its time and level', async () => {
    const server = await startServer({})
    await server.get('/v1/backup?to=first')
    await until(() => /backup written/.test(server.output()))
    assert.equal(await server.stop(), 0)
    const lines = server.output().split('\n').filter((line) => line !== '') // prettier-ignore
    assert.match(lines[0] ?? '', /^(warning: |listening on )/)
    assert.ok(lines.some((line) => /^ready on \S+ after \d+ ms\. Try:$/.test(line)))
    const others = lines.filter((line) => !/^(warning: |listening on |ready on | {2})/.test(line))
    assert.deepEqual(
      others.filter((line) => !TIMED.test(line)),
      [],
    )
    assert.match(server.output(), / info backup written backup=first ms=\d+$/m)
    assert.match(server.output(), / info stopped$/m)
  })

  it('SVC_LOG_LEVEL: lower levels are left out; SVC_LOG_SLOW_MS: only slower requests have a line', async () => {
    const server = await startServer({ env: { SVC_LOG_LEVEL: 'warn', SVC_LOG_SLOW_MS: '1' } })
    const documents = Array.from({ length: 2000 }, (_, i) => ({
      key: `k${i}`,
      lang: 'en',
      contentMd: 'some words of a document '.repeat(20),
    }))
    await server.post('/v1/add-batch', { collection: 'slow', documents })
    await server.get('/v1/backup?to=unsaid')
    await until(() => /slow request/.test(server.output()))
    await server.stop()
    assert.match(server.output(), / warn slow request method=POST path=\/v1\/add-batch status=200 bytes=\d+ ms=[\d.]+ peer=127\.0\.0\.1$/m)
    assert.doesNotMatch(server.output(), /backup written|stopped| info /)
  })

  it('SVC_TRUSTED_PROXIES: a request line has the address of the client behind the proxy, and only of such', async () => {
    const forwarded = { 'X-Forwarded-For': '198.51.100.9, 203.0.113.7' }
    for (const [trusted, address] of [
      ['127.0.0.0/8, ::1', 'address=203.0.113.7'],
      ['192.0.2.1', 'address=127.0.0.1'],
      ['', ''],
    ] as const) {
      const server = await startServer({ env: { SVC_ACCESS_LOG: 'true', SVC_TRUSTED_PROXIES: trusted } })
      await server.get('/v1/stats', forwarded)
      await until(() => server.output().includes('path=/v1/stats'))
      await server.stop()
      const line = /^.* path=\/v1\/stats .*$/m.exec(server.output())?.[0] ?? ''
      assert.equal(/ peer=127\.0\.0\.1 ?(.*)$/.exec(line)?.[1], address, line)
    }
  })

  it('a log output that is closed or not read does not end the server', async () => {
    const server = await startServer({ env: { SVC_ACCESS_LOG: 'true' } })
    server.closeOutput()
    for (let i = 0; i < 200; i++) assert.equal((await server.get('/health')).status, 200)
    assert.equal(await server.stop(), 0)
  })
})
