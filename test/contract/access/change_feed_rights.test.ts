/**
 * Who gets what of the change feed, and that a revoked right or credential ends it: decisions.md "change
 * feed", events.md section 4. With two event loops: one is that of the feed, the other reaches it by a port.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { EventSource } from '../../harness/clients/event_source.js'
import { ACCESS_ENV, Admin, asUser, bearer, type Headers, keyOf, tokenOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

/** Enough for both loops to have some: the kernel divides the connections. */
const CLIENTS = 8

describe('rights of the change feed', () => {
  let server: Server
  let admin: Admin
  const open: EventSource[] = []
  before(async () => {
    server = await startServer({ env: { ...ACCESS_ENV, SVC_SSE_MAX_PER_IP: '1000' } })
    admin = new Admin(server)
  })
  after(async () => {
    for (const source of open) source.close()
    await server.stop()
  })

  const watch = async (query: string, headers: Headers, count = CLIENTS): Promise<EventSource[]> => {
    const sources = Array.from({ length: count }, () => new EventSource(`${server.url}/v1/events${query}`, headers))
    open.push(...sources)
    return await Promise.all(sources.map((source) => source.opened()))
  }
  const add = (collection: string, key: string): Promise<unknown> =>
    admin.do('POST', '/v1/add', { collection, key, lang: 'en', contentMd: 'x' })
  const keys = ({ events }: EventSource): string[] => events.map(({ data }) => String(data['key']))

  it('change feed: without credentials 401, of a collection or a job that may not be read 403, and it names no others', async () => {
    await admin.register('reader')
    await admin.grant('reader', 'open', { read: true })
    const job = (await admin.do('POST', '/v1/bulk-ingest-job', { collection: 'closed', documents: [{ key: 'a', lang: 'en', contentMd: 'x' }] })).json() // prettier-ignore
    const refused = async (query: string, headers: Headers): Promise<number[]> => {
      const answer = await server.get(`/v1/events${query}`, headers)
      return [answer.status]
    }
    assert.deepEqual(await refused('', {}), [401])
    assert.deepEqual(await refused('?collection=closed', asUser('reader')), [403])
    assert.deepEqual(await refused(`?job=${String(job['id'])}`, asUser('reader')), [403])
    assert.deepEqual(await refused('?job=bulk_0', asUser('reader')), [403])
    const sources = await watch('', asUser('reader'))
    await add('closed', 'hidden')
    await admin.do('POST', '/v1/bulk-ingest-job', { collection: 'closed', documents: [{ key: 'b', lang: 'en', contentMd: 'x' }] })
    await add('OPEN', 'shown')
    for (const source of sources) {
      await source.until(() => keys(source).includes('shown'))
      assert.deepEqual(keys(source), ['shown'])
      source.close()
    }
  })

  it('change feed: a revoked right ends a feed of its collection at once, and a feed of all goes on without it', async () => {
    await admin.register('leaver')
    await admin.grant('leaver', 'one', { read: true })
    await admin.grant('leaver', 'two', { read: true })
    const named = await watch('?collection=one', asUser('leaver'))
    const all = await watch('', asUser('leaver'))
    await add('one', 'first')
    for (const source of [...named, ...all]) await source.until(() => source.events.length >= 1)
    await admin.grant('leaver', 'one', { read: false })
    await add('one', 'second')
    await add('two', 'third')
    for (const source of named) {
      await source.ended()
      assert.deepEqual(keys(source), ['first'])
    }
    for (const source of all) {
      await source.until(() => source.events.length >= 2)
      assert.deepEqual(keys(source), ['first', 'third'])
    }
    // A right that is given again holds for what comes next.
    await admin.grant('leaver', 'one', { read: true })
    await add('one', 'fourth')
    for (const source of all) {
      await source.until(() => source.events.length >= 3)
      assert.equal(keys(source)[2], 'fourth')
      source.close()
    }
  })

  it('change feed: a deleted API key and a deleted account end their feeds, quiet ones too, and no others', async () => {
    await admin.register('bearer')
    await admin.grant('bearer', 'three', { read: true })
    const key = await keyOf(server, 'bearer')
    const byKey = await watch('?collection=three', { 'x-api-key': key })
    const byToken = await watch('?collection=three', asUser('bearer'))
    const listed = (await server.get('/v1/auth/api-keys', asUser('bearer'))).json<{ keys: { keyHash: string }[] }>().keys
    assert.equal(listed.length, 1)
    const deleted = await server.request('DELETE', `/v1/auth/api-keys/${listed[0]?.keyHash ?? ''}`, undefined, asUser('bearer'))
    assert.ok(deleted.status < 300, deleted.text)
    await add('three', 'first')
    for (const source of byKey) {
      await source.ended()
      assert.deepEqual(source.events, [])
    }
    for (const source of byToken) await source.until(() => source.events.length >= 1)
    await admin.do('DELETE', '/v1/auth/users/bearer')
    for (const source of byToken) {
      await source.ended()
      assert.deepEqual(keys(source), ['first'])
    }
  })

  // An account that was deleted before: the epoch of tokens is 2.
  it('change feed: on the port of MCP the same rights hold, and a deleted account ends a quiet stream', async () => {
    await admin.register('of-mcp')
    await admin.grant('of-mcp', 'four', { read: true })
    const url = `http://${server.addressOf('mcp')}/events`
    const refused = await new EventSource(`${url}?collection=closed`, bearer(tokenOf('of-mcp', 2))).ended()
    assert.equal(refused.status, 403)
    assert.equal((await new EventSource(url).ended()).status, 401)
    const source = await new EventSource(url, bearer(tokenOf('of-mcp', 2))).opened()
    open.push(source)
    await add('closed', 'hidden')
    await add('four', 'shown')
    await source.until(() => source.events.length >= 1)
    assert.deepEqual(keys(source), ['shown'])
    await admin.do('DELETE', '/v1/auth/users/of-mcp')
    await source.ended()
  })
})
