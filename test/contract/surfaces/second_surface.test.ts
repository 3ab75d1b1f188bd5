/**
 * A second surface beside HTTP: one folder (test/harness/msgpack_surface) and one line in the list of
 * surfaces. It runs in a separate thread and reaches the same operations by the port form of the core.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { entryOf, type ErrorCode } from '../../../src/errors.js'
import { Client, isReachable, SURFACE_EDITS, surfaceEnv } from '../../harness/msgpack_surface/client.js'
import { type Answered, END_THREAD } from '../../harness/msgpack_surface/frames.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { type Server, startServer } from '../../harness/server/server.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-surface-'))
const path = join(folder, 'socket')
const BODY_BYTES_MAX = 1024 * 1024
const POLL_MS = 20

const textOf = ({ body }: Answered): string => Buffer.from(body).toString()
/** The corresponding HTTP status. */
const statusOf = ({ code }: Answered): number => (code === null ? 200 : entryOf(code as ErrorCode).http)

describe('a second surface', () => {
  let copy: ScratchCopy
  let server: Server
  let client: Client

  before(async () => {
    copy = await scratchCopy(SURFACE_EDITS)
    server = await startServer({
      main: copy.main,
      env: { ...surfaceEnv(path), SVC_SPELL: 'true', SVC_MAX_BODY_BYTES: String(BODY_BYTES_MAX) },
    })
    client = new Client(path)
    const documents = Array.from({ length: 300 }, (_, at) => ({
      key: `k${at}`,
      lang: 'en',
      meta: { n: [String(at % 7)] },
      contentMd: `word ${at}`,
    }))
    assert.equal((await server.post('/v1/add-batch', { collection: 'c', documents })).status, 200)
  })
  after(async () => {
    client.end()
    await server.stop()
    copy.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  it('surface: answers are those of HTTP, byte for byte, whether a lane or the loop gives them', async () => {
    const questions: readonly (readonly [operation: string, method: 'GET' | 'POST', path: string, input: object])[] = [
      ['get', 'POST', '/v1/get', { collection: 'c', key: 'k7', lang: 'en' }],
      ['search', 'POST', '/v1/search', { collection: 'c', filterMeta: { n: ['3'] }, sort: 'key', limit: 5 }],
      ['checksum', 'GET', '/v1/checksum?collection=c', { collection: 'c' }],
      ['spellSuggest', 'POST', '/v1/spell-suggest', { text: 'wrod', lang: 'en', collection: 'c' }],
      ['get', 'POST', '/v1/get', { collection: 'c', key: 'nothing', lang: 'en' }],
      ['get', 'POST', '/v1/get', { collection: 'c' }],
      ['search', 'POST', '/v1/search', { collection: 'c', limit: -1 }],
      ['endpoints', 'GET', '/v1/endpoints', {}],
    ]
    for (const [operation, method, route, input] of questions) {
      const overHttp = await server.request(method, route, method === 'GET' ? undefined : input)
      const answer = await client.ask(operation, input)
      assert.deepEqual([statusOf(answer), textOf(answer)], [overHttp.status, overHttp.text], operation)
    }
  })

  it('surface: a write over it is found over HTTP as soon as it is answered, and its facts come without headers', async () => {
    const written = await client.ask('add', { collection: 'd', key: 'x', lang: 'en', contentMd: 'written', meta: {} })
    assert.equal(statusOf(written), 200, textOf(written))
    assert.equal((await server.post('/v1/get', { collection: 'd', key: 'x', lang: 'en' })).status, 200)
    const listed = await client.ask('search', { collection: 'c', limit: 1 })
    assert.deepEqual(listed.facts, ['total', '300'])
  })

  it('surface: an answer in parts is complete, or ends when its client cancels it', async () => {
    const whole = await client.ask('export', { collection: 'c', format: 'ndjson' })
    assert.equal(whole.contentType, 'application/x-ndjson')
    assert.equal(textOf(whole).trim().split('\n').length, 300)
    assert.ok(textOf(await client.ask('export', { collection: 'c', format: 'ndjson' }, 1)).length > 0)
    // One more than the maximum number at once: each has released its slot.
    for (let at = 0; at < 20; at++) await client.ask('export', { collection: 'c', format: 'zip' }, 1)
    assert.equal(statusOf(await client.ask('export', { collection: 'c', format: 'ndjson' })), 200)
  })

  it('surface: unknown operations, internal operations and hostile inputs are refused with their codes', async () => {
    for (const name of ['nothing', 'storeVectors', 'bodyLocations', '__proto__']) {
      const answer = await client.ask(name, {})
      assert.deepEqual([answer.code, textOf(answer)], ['unknownOperation', JSON.stringify({ error: `unknown operation ${name}` })], name)
    }
    for (const input of [[], 'text', 7, null, true]) assert.equal((await client.ask('get', input)).code, 'invalid', JSON.stringify(input))
    let nested: object = { collection: 'c' }
    for (let at = 0; at < 200; at++) nested = { collection: 'c', key: 'k', lang: 'en', env: nested }
    assert.equal((await client.ask('get', nested)).code, 'invalid')
    assert.equal(statusOf(await client.ask('get', { collection: 'c', key: 'k1', lang: 'en' })), 200)
  })

  it('surface: cached answers are shared in form, not between forms, and permission is asked before each is given', async () => {
    const asked = async (): Promise<number> =>
      Number(/mddb_authorizations_cached_total (\d+)/.exec((await server.get('/metrics')).text)?.[1])
    const search = { collection: 'c', query: 'word', cacheTtl: 60, limit: 3 }
    const first = await client.ask('fts', search)
    assert.deepEqual(first.facts, ['cache', 'miss', 'cacheSeconds', '60'])
    const before = await asked()
    const second = await client.ask('fts', search)
    assert.deepEqual([second.facts, textOf(second)], [['cache', 'hit', 'cacheSeconds', '60'], textOf(first)])
    assert.equal((await asked()) - before, 1)
    const complete = { collection: 'c', q: 'wo', topN: 3 }
    const whole = await client.ask('autocomplete', complete)
    assert.deepEqual([whole.code, (await asked()) - before], [null, 1], textOf(whole))
    assert.deepEqual([textOf(await client.ask('autocomplete', complete)), (await asked()) - before], [textOf(whole), 2])
    await client.ask('autocomplete', { ...complete, topN: 2 })
    assert.equal((await asked()) - before, 2)
    for (const path of ['loop', 'lane', 'cached'])
      assert.match((await server.get('/metrics')).text, new RegExp(`^mddb_authorizations_${path}_total \\d+$`, 'm'))
    assert.equal((await server.post('/v1/fts', search)).headers['x-cache'], 'miss')
  })

  it('surface: clients that go leave nothing behind', async () => {
    for (let round = 0; round < 5; round++) {
      const leaving = new Client(path)
      for (let at = 0; at < 50; at++) void leaving.ask('export', { collection: 'c', format: 'zip' })
      await leaving.ask('get', { collection: 'c', key: 'k1', lang: 'en' })
      leaving.end()
    }
    for (;;) {
      const { text } = await server.get('/metrics')
      if (/^mddb_slots_used 1$/m.test(text)) break
    }
    assert.equal(statusOf(await client.ask('get', { collection: 'c', key: 'k1', lang: 'en' })), 200)
  })

  it('surface: malformed inputs and names of operations are refused, and the server goes on', async () => {
    for (const input of [{ mode: { toString: 1 } }, { mode: ['x'] }, { mode: null }, [], Buffer.of(0xc1), Buffer.of(0x81), Buffer.of()])
      assert.equal((await client.ask('endpoints', input)).code, 'invalid', JSON.stringify(input))
    for (const input of [Buffer.of(0xc1), Buffer.of(0x81), Buffer.of(0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 0x01)])
      assert.equal((await client.ask('get', input)).code, 'invalid', input.toString('hex'))
    for (const name of [7, null, true, {}, ['get']]) {
      const answer = await client.ask(name, {})
      assert.deepEqual([answer.code, textOf(answer)], ['unknownOperation', '{"error":"unknown operation"}'], JSON.stringify(name))
    }
    assert.equal(statusOf(await client.ask('get', { collection: 'c', key: 'k1', lang: 'en' })), 200)
  })

  it('surface: an input above the body limit is refused, and above 64 KiB for an operation of the loop', async () => {
    for (const [operation, bytes, code] of [
      ['get', BODY_BYTES_MAX, 'invalid'],
      ['get', BODY_BYTES_MAX + 1, 'bodyTooLarge'],
      ['endpoints', 64 * 1024, 'invalid'],
      ['endpoints', 64 * 1024 + 1, 'bodyTooLarge'],
    ] as const)
      assert.equal((await client.ask(operation, Buffer.alloc(bytes, 0xc1))).code, code, `${operation} ${bytes}`)
  })

  it('surface: an input of more levels than JSON may have is refused before it is unpacked', async () => {
    const deep = Buffer.concat([Buffer.of(0x81, 0xa1, 0x61), Buffer.alloc(64, 0x91), Buffer.of(0xc0)])
    const answer = await client.ask('get', deep)
    assert.deepEqual([answer.code, textOf(answer)], ['invalid', '{"error":"JSON is nested deeper than 64 levels"}'])
  })

  it('surface: a thread that ends is started again, and its requests leave nothing behind', async () => {
    const [asking, ending] = [new Client(path), new Client(path)]
    for (let at = 0; at < 20; at++) void asking.ask('export', { collection: 'c', format: 'zip' })
    void ending.ask(END_THREAD, {})
    while (!server.output().includes('surface msgpack is started again')) await sleep(POLL_MS)
    while (!(await isReachable(path))) await sleep(POLL_MS)
    client.end()
    client = new Client(path)
    assert.equal(statusOf(await client.ask('get', { collection: 'c', key: 'k1', lang: 'en' })), 200)
    while (!/^mddb_slots_used 1$/m.test((await server.get('/metrics')).text)) await sleep(POLL_MS)
  })

  it('surface: the store is open for writes, and health says so, while any surface takes them', async () => {
    const socket = join(folder, 'writing')
    const both = await startServer({ main: copy.main, env: { ...surfaceEnv(socket), SVC_HTTP_MODE: 'read' } })
    const writing = new Client(socket)
    const document = { collection: 'c', key: 'k', lang: 'en', contentMd: 'x', meta: {} }
    assert.equal((await both.post('/v1/add', document)).status, 403)
    assert.equal(statusOf(await writing.ask('add', document)), 200)
    assert.equal((await both.get('/health')).json<{ mode: string }>().mode, 'wr')
    assert.equal((await both.get('/readyz')).json<{ mode: string }>().mode, 'wr')
    writing.end()
    assert.equal(await both.stop(), 0)
  })

  it('surface: a client that disconnects while it asks does not delay the end of the server', async () => {
    const socket = join(folder, 'leaving')
    const ending = await startServer({ main: copy.main, env: { ...surfaceEnv(socket), SVC_SHUTDOWN_TIMEOUT_SEC: '60' } })
    const documents = Array.from({ length: 300 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `word ${at}`, meta: {} }))
    assert.equal((await ending.post('/v1/add-batch', { collection: 'c', documents })).status, 200)
    const leaving = new Client(socket)
    for (let at = 0; at < 50; at++) void leaving.ask('export', { collection: 'c', format: 'zip' })
    await leaving.ask('get', { collection: 'c', key: 'k1', lang: 'en' })
    leaving.end()
    const before = performance.now()
    assert.equal(await ending.stop(), 0)
    assert.ok(performance.now() - before < 30_000, 'the server waited for the requests of a client that has gone')
  })
})
