/**
 * A second surface beside HTTP: one folder (test/harness/msgpack_surface) and one line in the list of
 * surfaces. It runs in a separate thread and reaches the same operations by the port form of the core.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { entryOf, type ErrorCode } from '../../src/errors.js'
import { Client, SURFACE_EDITS, surfaceEnv } from '../harness/msgpack_surface/client.js'
import type { Answered } from '../harness/msgpack_surface/frames.js'
import { scratchCopy, type ScratchCopy } from '../harness/scratch_copy.js'
import { startServer, type Server } from '../harness/server.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-surface-'))
const path = join(folder, 'socket')

const textOf = ({ body }: Answered): string => Buffer.from(body).toString()
/** The corresponding HTTP status. */
const statusOf = ({ code }: Answered): number => (code === null ? 200 : entryOf(code as ErrorCode).http)

describe('a second surface', () => {
  let copy: ScratchCopy
  let server: Server
  let client: Client

  before(async () => {
    copy = await scratchCopy(SURFACE_EDITS)
    server = await startServer({ main: copy.main, env: { ...surfaceEnv(path), SVC_SPELL: 'true' } })
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

  it('surface: an answer in parts comes whole, or ends where its client wants no more', async () => {
    const whole = await client.ask('export', { collection: 'c', format: 'ndjson' })
    assert.equal(whole.contentType, 'application/x-ndjson')
    assert.equal(textOf(whole).trim().split('\n').length, 300)
    assert.ok(textOf(await client.ask('export', { collection: 'c', format: 'ndjson' }, 1)).length > 0)
    // One more than the maximum number at once: each has released its slot.
    for (let at = 0; at < 20; at++) await client.ask('export', { collection: 'c', format: 'zip' }, 1)
    assert.equal(statusOf(await client.ask('export', { collection: 'c', format: 'ndjson' })), 200)
  })

  it('surface: what it may not ask for is refused with its code: unknown and internal operations, hostile inputs', async () => {
    for (const name of ['nothing', 'storeVectors', 'bodyLocations', '__proto__']) {
      const answer = await client.ask(name, {})
      assert.deepEqual([answer.code, textOf(answer)], ['notFound', JSON.stringify({ error: `unknown operation ${name}` })], name)
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
})
