/**
 * The change feed over HTTP: events against a model of the writes, filters, resumption, bounds, shutdown.
 * Contract: events.md sections 3 and 4, decisions.md "What follows a write". Rights are in
 * test/contract/access/change_feed_rights.test.ts, kills in test/fault.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { EventSource, type SentEvent } from '../../harness/clients/event_source.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { ServerPool } from '../../harness/server/server_pool.js'

const LANG = 'en'
/** Two loops: a client of the second one gets its events by the port of that thread. */
const MANY = { SVC_HTTP_LOOPS: '2', SVC_SSE_MAX_PER_IP: '1000' }
const FEW = { SVC_SSE_MAX_PER_IP: '2', SVC_HTTP_LOOPS: '2' }
const TWO = { SVC_SSE_MAX_PER_IP: '9', SVC_SSE_MAX_CLIENTS: '2' }
const OFF = { SVC_SSE_ENABLED: 'false' }
const HASTY = { SVC_LIMIT_PART_STALL_MS_MAX: '4000', SVC_SSE_MAX_PER_IP: '9' }
const TRIMMED = { SVC_BINLOG_MAX_SIZE: '1MB', SVC_SSE_MAX_PER_IP: '1000' }
const pool = new ServerPool()
const open: EventSource[] = []
const folder = mkdtempSync(join(tmpdir(), 'mds-feed-'))
after(async () => {
  for (const source of open) source.close()
  await pool.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function watch(server: Server, query = '', headers: Readonly<Record<string, string>> = {}): Promise<EventSource> {
  const source = new EventSource(`${server.url}/v1/events${query}`, headers)
  open.push(source)
  return await source.opened()
}

async function post(server: Server, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await server.post(path, body)
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`)
  return answer.json()
}

const add = (server: Server, collection: string, key: string, contentMd = 'text'): Promise<object> =>
  post(server, '/v1/add', { collection, key, lang: LANG, contentMd })
const shown = ({ event, data }: SentEvent): string => `${event} ${String(data['key'])}`
const of = (source: EventSource, collection: string): readonly SentEvent[] =>
  source.events.filter(({ data }) => data['collection'] === collection)
const lsnOf = ({ id }: SentEvent): number => Number(id.slice(0, id.indexOf('-')))

describe('change feed', () => {
  it('change feed: every write is one event, in the order of the writes, as a model of them has it, on every loop', async () => {
    const server = await pool.of(MANY)
    const random = new Random(315)
    const sources = await Promise.all(Array.from({ length: 12 }, (_, at) => watch(server, at % 2 === 0 ? '?collection=Model' : '?collection=model&include=document'))) // prettier-ignore
    const model: string[] = []
    const known = new Set<string>()
    const put = (key: string): void => {
      model.push(`${known.has(key) ? 'doc.updated' : 'doc.added'} ${key}`)
      known.add(key)
    }
    for (let step = 0; step < 300; step++) {
      const key = `k${random.below(20)}`
      const kind = random.below(10)
      if (kind < 4) {
        await add(server, 'Model', key, `text ${step}`)
        put(key)
      } else if (kind < 6) {
        const keys = Array.from({ length: 5 }, () => `k${random.below(40)}`)
        await post(server, '/v1/add-batch', {
          collection: 'Model',
          documents: keys.map((each) => ({ key: each, lang: LANG, contentMd: `${each} ${step}` })),
        })
        for (const each of keys) put(each)
      } else if (known.has(key)) {
        const which = { collection: 'Model', key, lang: LANG }
        if (kind === 6) await post(server, '/v1/set-ttl', { ...which, ttl: 5_000 })
        else if (kind === 7) {
          const answer = await server.request('PATCH', '/v1/update', { ...which, meta: { step: [String(step)] } })
          assert.equal(answer.status, 200, answer.text)
        } else await post(server, '/v1/delete', which)
        model.push(`${kind < 8 ? 'doc.updated' : 'doc.deleted'} ${key}`)
        if (kind >= 8) known.delete(key)
      }
    }
    for (const source of sources) {
      await source.until(() => source.events.length >= model.length)
      assert.deepEqual(source.events.map(shown), model)
      const lsns = source.events.map(lsnOf)
      assert.deepEqual(
        lsns,
        [...new Set(lsns)].sort((one, other) => one - other),
      )
      source.close()
    }
    const withDocuments = sources[1]?.events.filter(({ data }) => data['document'] !== undefined) ?? []
    assert.ok(withDocuments.length > 0)
    for (const { data } of withDocuments) assert.equal((data['document'] as { readonly key: string }).key, data['key'])
  })

  it('change feed: an event has both names, the document that it concerns, its time and its id; a deleted collection is one event', async () => {
    const server = await pool.of(MANY)
    const source = await watch(server, '?collection=fields')
    const before = Math.floor(Date.now() / 1000)
    await add(server, 'Fields', 'a')
    await add(server, 'fields', 'B')
    await post(server, '/v1/delete-collection', { collection: 'fields' })
    await source.until(() => source.events.length >= 3)
    const [first, , last] = source.events
    const { timestamp, ...fields } = first?.data ?? {}
    assert.deepEqual(fields, { event: 'doc.added', type: 'insert', collection: 'Fields', key: 'a', lang: LANG })
    assert.ok(Number(timestamp) >= before && Number(timestamp) <= Date.now() / 1000)
    assert.match(first?.id ?? '', /^\d+-[0-9a-f]{8}$/)
    assert.ok(source.events.every(({ hasId }) => hasId))
    assert.equal(last?.event, 'doc.deleted')
    assert.deepEqual({ ...last.data, timestamp: 0 }, { event: 'doc.deleted', type: 'delete', collection: 'Fields', key: '', lang: '', timestamp: 0, detail: { deletedCount: 2 } }) // prettier-ignore
    source.close()
  })

  it('change feed: a document that expires is deleted, and set-ttl updates it', async () => {
    const server = await pool.of(MANY)
    const source = await watch(server, '?collection=expiring')
    await add(server, 'expiring', 'a')
    await post(server, '/v1/set-ttl', { collection: 'expiring', key: 'a', lang: LANG, ttl: 1 })
    await source.until(() => source.events.length >= 3)
    assert.deepEqual(source.events.map(shown), ['doc.added a', 'doc.updated a', 'doc.deleted a'])
    source.close()
  })

  it('change feed: a bulk ingest has its documents, then that it started and completed, without ids', async () => {
    const server = await pool.of(MANY)
    const source = await watch(server, '?collection=jobs')
    const job = await post(server, '/v1/bulk-ingest-job', { collection: 'jobs', documents: [{ key: 'a', lang: LANG, contentMd: 'x' }] })
    await source.until(() => source.events.length >= 3)
    assert.deepEqual(
      source.events.map(({ event, hasId }) => [event, hasId]),
      [
        ['doc.added', true],
        ['job.started', false],
        ['job.completed', false],
      ],
    )
    const { data } = source.events[2] ?? assert.fail()
    const { id, status, added } = data['job'] as Record<string, unknown>
    assert.deepEqual([data['event'], id, status, added], ['job.completed', job['id'], 'completed', 1])
    assert.ok(Number.isInteger(data['timestamp']))
    source.close()

    // A feed of one job, and one that comes when it has ended.
    const late = await watch(server, `?job=${String(job['id'])}&since=0`)
    await late.until(() => late.events.length >= 1)
    assert.equal(late.events[0]?.event, 'job.completed')
    assert.equal((await server.get('/v1/events?job=bulk_1')).status, 404)
    late.close()
  })

  it('change feed: collection, events in both sets of names, and the beginning of keys select', async () => {
    const server = await pool.of(MANY)
    const queries = [
      '?collection=chosen',
      '?events=delete,doc.added',
      '?key=B/',
      '?events=job.completed',
      '?collection=CHOSEN&events=insert&key=b',
    ]
    const sources = await Promise.all(queries.map((query) => watch(server, query)))
    await add(server, 'chosen', 'a')
    await add(server, 'chosen', 'b/1')
    await add(server, 'other-chosen', 'b/2')
    await add(server, 'chosen', 'b/1', 'again')
    await post(server, '/v1/delete', { collection: 'chosen', key: 'a', lang: LANG })
    await add(server, 'chosen', 'b/last')
    const expected = [
      ['doc.added a', 'doc.added b/1', 'doc.updated b/1', 'doc.deleted a', 'doc.added b/last'],
      ['doc.added a', 'doc.added b/1', 'doc.added b/2', 'doc.deleted a', 'doc.added b/last'],
      ['doc.added b/1', 'doc.added b/2', 'doc.updated b/1', 'doc.added b/last'],
      [],
      ['doc.added b/1', 'doc.added b/last'],
    ]
    for (const [at, source] of sources.entries()) {
      const chosen = (): readonly SentEvent[] => [...of(source, 'chosen'), ...of(source, 'other-chosen')].sort((one, other) => lsnOf(one) - lsnOf(other)) // prettier-ignore
      await source.until(() => chosen().length === expected[at]?.length)
      assert.deepEqual(chosen().map(shown), expected[at], queries[at])
      source.close()
    }
    for (const [query, text] of [
      ['events=doc.gone', 'invalid event: doc.gone'],
      ['include=all', 'invalid include'],
      ['since=x', 'invalid since'],
    ]) {
      // prettier-ignore
      const refused = await server.get(`/v1/events?${query}`)
      assert.deepEqual([refused.status, refused.json()['error']], [400, text])
    }
  })

  it('change feed: a feed without a collection has nothing of memory_*, one that names such a collection has', async () => {
    const server = await pool.of(MANY)
    const [all, named] = [await watch(server), await watch(server, '?collection=memory_messages')]
    await add(server, 'memory_messages', 'secret')
    await add(server, 'memorable', 'last')
    await all.until(() => of(all, 'memorable').length === 1)
    await named.until(() => named.events.length >= 1)
    assert.deepEqual(of(all, 'memory_messages'), [])
    for (const source of [all, named]) source.close()
  })

  it('change feed: a client that resumes within a batch, by Last-Event-ID or since, gets the rest and nothing twice', async () => {
    const server = await pool.of(MANY)
    const source = await watch(server, '?collection=batch')
    const documents = Array.from({ length: 500 }, (_, at) => ({ key: `k${at}`, lang: LANG, contentMd: 'x' }))
    await post(server, '/v1/add-batch', { collection: 'batch', documents })
    await source.until(() => source.events.length >= documents.length)
    const all = source.events.map(({ id }) => id)
    for (const at of [0, 1, 255, 256, 498]) {
      const id = all[at] ?? ''
      const byHeader = await watch(server, '?collection=batch&since=0', { 'last-event-id': id })
      const byQuery = await watch(server, `?collection=batch&since=${at % 2 === 0 ? id : id.slice(0, id.indexOf('-'))}`)
      for (const resumed of [byHeader, byQuery]) {
        await resumed.until(() => resumed.events.at(-1)?.id === all.at(-1))
        assert.deepEqual(
          resumed.events.map((event) => event.id),
          all.slice(at + 1),
        )
        resumed.close()
      }
    }
    source.close()
  })

  it('change feed: a client that goes before its first event has an id from which it resumes', async () => {
    const server = await pool.of(MANY)
    const source = await watch(server, '?collection=early')
    await source.until(() => source.lastId !== '')
    source.close()
    await add(server, 'early', 'a')
    const resumed = await watch(server, '?collection=early', { 'last-event-id': source.lastId })
    await resumed.until(() => resumed.events.length >= 1)
    assert.deepEqual(resumed.events.map(shown), ['doc.added a'])
    resumed.close()
  })

  it('change feed: where entries were trimmed the first event is a reset with the oldest LSN, and the stream goes on with it', async () => {
    const server = await pool.of(TRIMMED)
    for (let at = 0; at < 40; at++) await add(server, 'trimmed', `k${at}`, randomBytes(60_000).toString('base64'))
    let entries = 40
    // A commit trims what consumers have seen, which are behind it.
    while (entries >= 35) {
      await add(server, 'trimmed', 'k39', randomBytes(60_000).toString('base64'))
      entries = Number(/^mddb_binlog_entries_total (\d+)$/m.exec((await server.get('/metrics')).text)?.[1])
    }
    for (const query of ['?since=1', '?since=999999999']) {
      const source = await watch(server, query)
      await source.until(() => source.events.at(-1)?.data['key'] === 'k39')
      const [reset, first] = source.events
      assert.equal(reset?.event, 'reset')
      assert.equal(reset.data['event'], 'reset')
      assert.ok(Number(reset.data['oldestLsn']) > 2)
      assert.deepEqual([lsnOf(reset), lsnOf(first ?? assert.fail())], [Number(reset.data['oldestLsn']) - 1, reset.data['oldestLsn']])
      assert.equal(reset.data['lastLsn'], lsnOf(source.events.at(-1) ?? assert.fail()))
      source.close()
    }
  })

  it('change feed: after a restore clients are told to start again, those that were connected and those that resume', async () => {
    const server = await startServer({ env: { ...MANY, SVC_BACKUP_DIR: join(folder, 'backups') } })
    try {
      await add(server, 'kept', 'a')
      const backup = await server.get('/v1/backup?to=feed')
      assert.equal(backup.status, 200, backup.text)
      const [connected, gone] = [await watch(server), await watch(server)]
      for (let at = 0; at < 5; at++) await add(server, 'lost', `k${at}`)
      for (const source of [connected, gone]) await source.until(() => source.events.length >= 5)
      gone.close()
      const restored = await server.post('/v1/restore', { from: String(backup.json()['backup']) })
      assert.equal(restored.status, 200, restored.text)
      await connected.until(() => connected.events.at(-1)?.event === 'reset')
      // As many entries as before: an LSN alone would go on as if nothing had happened.
      for (let at = 0; at < 9; at++) await add(server, 'new', `k${at}`)
      await connected.until(() => connected.events.length >= 15)
      const resumed = await watch(server, '', { 'last-event-id': gone.lastId })
      await resumed.until(() => resumed.events.at(-1)?.data['key'] === 'k8')
      assert.equal(resumed.events[0]?.event, 'reset')
      for (const source of [connected, resumed]) {
        assert.deepEqual(
          of(source, 'new').map(shown),
          Array.from({ length: 9 }, (_, at) => `doc.added k${at}`),
        )
        source.close()
      }
    } finally {
      await server.stop()
    }
  })

  it('change feed: SVC_SSE_MAX_PER_IP and SVC_SSE_MAX_CLIENTS bound the clients, and one that goes makes place', async () => {
    for (const env of [FEW, TWO]) {
      const server = await pool.of(env)
      const sources = [await watch(server), await watch(server, '?include=document')]
      const refused = await server.get('/v1/events')
      assert.deepEqual([refused.status, refused.text], [429, '{"error":"too many clients of the change feed"}'])
      assert.equal(refused.headers['retry-after'], '5')
      sources[0]?.close()
      let next = await watch(server)
      while (next.status === 429) next = await watch(server)
      assert.equal(next.status, 200)
      for (const source of [sources[1], next]) source?.close()
    }
  })

  it('change feed: GET /events on the port of MCP is the same feed, and shares its bounds', async () => {
    const server = await pool.of(FEW)
    const url = `http://${server.addressOf('mcp')}/events`
    const [first, second] = [new EventSource(`${url}?collection=of-mcp`), new EventSource(`${url}?collection=of-mcp&include=document`)]
    open.push(first, second)
    for (const source of [first, second]) assert.equal((await source.opened()).status, 200)
    assert.equal((await server.get('/v1/events')).status, 429)
    const refused = await new EventSource(url).ended()
    assert.deepEqual([refused.status, JSON.parse(refused.text)], [429, { error: 'too many clients of the change feed' }])
    const documents = Array.from({ length: 400 }, (_, at) => ({ key: `k${at}`, lang: LANG, contentMd: 'x'.repeat(2_000) }))
    await post(server, '/v1/add-batch', { collection: 'of-mcp', documents })
    for (const source of [first, second]) {
      await source.until(() => source.events.length >= documents.length)
      assert.deepEqual(source.events.map(shown), documents.map(({ key }) => `doc.added ${key}`)) // prettier-ignore
    }
    first.close()
    const id = first.events[99]?.id ?? ''
    let resumed = new EventSource(`${url}?collection=of-mcp`, { 'last-event-id': id })
    while ((await resumed.opened()).status === 429) resumed = new EventSource(`${url}?collection=of-mcp`, { 'last-event-id': id })
    await resumed.until(() => resumed.events.length >= documents.length - 100)
    assert.equal(resumed.events[0]?.data['key'], 'k100')
    for (const source of [second, resumed]) source.close()
  })

  it('change feed: SVC_SSE_ENABLED=false goes without it', async () => {
    const server = await pool.of(OFF)
    assert.equal((await server.get('/v1/events')).status, 404)
    assert.equal((await server.get('/v1/bulk-ingest-jobs')).status, 200)
  })

  it('change feed: a slow client gets the rest from the binlog, one that does not read is closed, and the others have no part in it', async () => {
    const server = await pool.of(HASTY)
    const [quick, slow, dead] = [await watch(server, '?include=document'), await watch(server, '?include=document'), await watch(server, '?include=document')] // prettier-ignore
    for (const source of [slow, dead]) source.pause()
    const contentMd = 'x'.repeat(300_000)
    const keys = Array.from({ length: 60 }, (_, at) => `k${at}`)
    for (const key of keys) await add(server, 'slow', key, `${key} ${contentMd}`)
    await quick.until(() => quick.events.length >= keys.length)
    slow.resume()
    await slow.until(() => slow.events.length >= keys.length)
    for (const source of [quick, slow]) assert.deepEqual(source.events.map(({ data }) => data['key']), keys) // prettier-ignore
    let clients = ''
    while (clients !== '2') clients = /^mddb_feed_clients (\d+)$/m.exec((await server.get('/metrics')).text)?.[1] ?? ''
    dead.resume()
    await dead.ended()
    assert.ok(!dead.isComplete && dead.events.length < keys.length)
    for (const source of [quick, slow]) source.close()
  })

  it('change feed: the head forbids caches, a quiet stream has heartbeats, and HEAD opens none', async () => {
    const server = await pool.of(MANY)
    const head = await server.request('HEAD', '/v1/events')
    assert.deepEqual([head.status, head.headers['content-type'], head.headers['cache-control']], [200, 'text/event-stream', 'no-cache, no-transform']) // prettier-ignore
    const source = await watch(server)
    await source.until(() => source.comments >= 2)
    source.close()
    let clients = ''
    while (clients !== '0') clients = /^mddb_feed_clients (\d+)$/m.exec((await server.get('/metrics')).text)?.[1] ?? ''
  })

  it('change feed: at a shutdown streams end in order, with the time after which clients come again', async () => {
    const server = await startServer({ env: MANY })
    const sources = await Promise.all(Array.from({ length: 6 }, () => watch(server)))
    await add(server, 'last', 'a')
    for (const source of sources) await source.until(() => source.events.length >= 1)
    const ended = server.stop()
    for (const source of sources) {
      await source.ended()
      assert.deepEqual(source.events.map(shown), ['doc.added a'])
      assert.ok(source.isComplete)
      assert.ok(source.retryMs >= 1_000 && source.retryMs <= 5_000)
    }
    assert.equal(await ended, 0)
  })
})
