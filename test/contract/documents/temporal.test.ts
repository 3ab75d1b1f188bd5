/**
 * Tracking over HTTP: service-2, "Collection configuration" (trackAccess, trackHot) and "Temporal and spell
 * records"; http.md, section 4; events.md, section 7; docs/decisions/documents/histories.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  type DocumentJson,
  DocumentsClient,
  type Fields,
  MISSING_FIELDS,
  NOT_FOUND,
  summary,
} from '../../harness/clients/documents_client.js'

interface EventJson {
  readonly docId: string
  readonly eventType: string
  readonly timestamp: number
}
interface HotJson {
  readonly docId: string
  readonly accessCount: number
  readonly lastAccessAt: number
  readonly document: DocumentJson
}
interface BucketJson {
  readonly label: string
  readonly from: number
  readonly to: number
  readonly count: number
}

const now = (): number => Math.floor(Date.now() / 1000)

class TrackedClient extends DocumentsClient {
  static override async start(options: Parameters<typeof DocumentsClient.start>[0] = {}): Promise<TrackedClient> {
    return new TrackedClient((await DocumentsClient.start({ ...options, env: { SVC_TEMPORAL: 'true', ...options.env } })).server)
  }

  async configure(collection: string, config: Fields): Promise<void> {
    assert.equal((await this.server.request('PUT', '/v1/collection-config', { collection, ...config })).status, 200)
  }

  async events(
    collection: string,
    key: string,
    more: Fields = {},
  ): Promise<{ readonly events: readonly EventJson[]; readonly total: number }> {
    const answer = await this.post('/v1/temporal/query', { collection, key, lang: 'en', ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json()
  }

  /** Event types in their order. */
  async types(collection: string, key: string, more: Fields = {}): Promise<string[]> {
    return (await this.events(collection, key, more)).events.map(({ eventType }) => eventType)
  }

  async hot(collection: string, more: Fields = {}): Promise<readonly HotJson[]> {
    const answer = await this.post('/v1/temporal/hot', { collection, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ entries: HotJson[] }>().entries
  }

  async counts(collection: string, more: Fields = {}): Promise<readonly BucketJson[]> {
    const answer = await this.post('/v1/temporal/histogram', { collection, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ buckets: BucketJson[] }>().buckets
  }

  async read(collection: string, key: string, times: number): Promise<void> {
    await Promise.all(Array.from({ length: times }, () => this.get(collection, key)))
  }
}

describe('tracking', () => {
  let client: TrackedClient
  before(async () => {
    client = await TrackedClient.start()
  })
  after(() => client.stop())

  it('temporal: SVC_TEMPORAL unset, the operations are 404 and not listed, and nothing is recorded', async () => {
    const plain = await DocumentsClient.start()
    await plain.server.request('PUT', '/v1/collection-config', { collection: 'c', trackAccess: true, trackHot: true })
    await plain.add('c', 'k')
    await plain.get('c', 'k')
    for (const path of ['query', 'hot', 'histogram'])
      assert.equal(summary(await plain.post(`/v1/temporal/${path}`, { collection: 'c', key: 'k', lang: 'en' })), NOT_FOUND)
    assert.doesNotMatch((await plain.server.get('/v1/endpoints')).text, /temporal/)
    await plain.server.kill()
    const tracked = await TrackedClient.start({ directory: plain.server.directory })
    assert.deepEqual(await tracked.events('c', 'k'), { collection: 'c', docId: 'c|k|en', events: [], total: 0 })
    assert.deepEqual(await tracked.hot('c'), [])
    await tracked.update('c', 'k', { contentMd: 'x' })
    assert.deepEqual(await tracked.types('c', 'k'), ['update'])
    await tracked.stop()
    await plain.stop()
  })

  it('temporal: the first write of a document is a create, later ones are updates, each at its time, in every collection', async () => {
    const name = client.collection()
    const begin = now()
    await client.add(name, 'K')
    await client.addBatch(name, [{ key: 'k', lang: 'en', contentMd: 'two' }])
    await client.update(name, 'k', { contentMd: 'three' })
    await client.setTtl(name, 'k', 1000)
    await client.read(name, 'k', 3)
    const { events, total } = await client.events(name, 'k')
    assert.deepEqual(events.map(({ eventType }) => eventType), ['create', 'update', 'update']) // prettier-ignore
    assert.equal(total, 3)
    for (const { docId, timestamp } of events) {
      assert.equal(docId, `${name}|k|en`)
      assert.ok(timestamp >= begin && timestamp <= now())
    }
  })

  it('temporal: with trackAccess every get is an event, and the leaderboard and the histogram count it', async () => {
    const name = client.collection()
    await client.configure(name, { trackAccess: true })
    await client.add(name, 'k')
    await client.read(name, 'k', 40)
    await client.get(name, 'missing')
    await client.post('/v1/search', { collection: name })
    await client.until(async () => (await client.events(name, 'k', { eventType: 'access' })).total === 40, 'reads are stored')
    const { events, total } = await client.events(name, 'k')
    assert.deepEqual([events.length, total, events[0]?.eventType, events[40]?.eventType], [41, 41, 'create', 'access'])
    assert.deepEqual(await client.types(name, 'k', { limit: 2 }), ['create', 'access'])
    const [entry, ...others] = await client.hot(name)
    assert.deepEqual([others.length, entry?.accessCount, entry?.docId, entry?.document.key], [0, 40, `${name}|k|en`, 'k'])
    assert.ok((entry?.lastAccessAt ?? 0) <= now())
    const sum = (buckets: readonly BucketJson[]): number => buckets.reduce((all, { count }) => all + count, 0)
    for (const interval of ['day', 'week', 'month']) assert.equal(sum(await client.counts(name, { interval })), 40)
    assert.equal(sum(await client.counts(name, { eventType: 'create' })), 1)
    assert.equal(sum(await client.counts(name, { eventType: 'update' })), 0)
  })

  it('temporal: trackHot alone keeps a leaderboard and no events, trackHot false none', async () => {
    const [hot, silent] = [client.collection(), client.collection()]
    await client.configure(hot, { trackHot: true })
    await client.configure(silent, { trackAccess: true, trackHot: false })
    for (const name of [hot, silent]) {
      await client.add(name, 'k')
      await client.read(name, 'k', 3)
    }
    await client.until(async () => (await client.hot(hot))[0]?.accessCount === 3, 'reads are stored')
    await client.until(async () => (await client.events(silent, 'k')).total === 4, 'reads are stored')
    assert.deepEqual(await client.types(hot, 'k'), ['create'])
    assert.deepEqual(await client.hot(silent), [])
  })

  it('temporal: the leaderboard has the most read first and of equals the older, whole documents, topN and since', async () => {
    const name = client.collection()
    await client.configure(name, { trackHot: true })
    const reads: readonly (readonly [string, number])[] = [['a', 2], ['b', 7], ['c', 0], ['d', 2], ['e', 30]] // prettier-ignore
    for (const [key, times] of reads) {
      await client.add(name, key, { contentMd: `text of ${key}`, meta: { m: [key] } })
      await client.read(name, key, times)
    }
    const board = async (more: Fields = {}): Promise<string> =>
      (await client.hot(name, more)).map(({ document, accessCount }) => `${document.key}${accessCount}`).join(' ')
    await client.until(async () => (await board()) === 'e30 b7 a2 d2', 'reads are stored')
    assert.equal(await board({ topN: 2 }), 'e30 b7')
    assert.equal(await board({ since: now() + 60 }), '')
    assert.equal(await board({ since: now() - 3600 }), 'e30 b7 a2 d2')
    assert.deepEqual((await client.hot(name, { topN: 1 }))[0]?.document, await client.get(name, 'e'))
    await client.read(name, 'd', 6)
    await client.until(async () => (await board()) === 'e31 d8 b7 a2', 'reads are stored')
    await client.delete(name, 'e')
    assert.equal(await board(), 'd8 b7 a2')
  })

  it('temporal: a query is bounded by from, to and eventType, and unknown values are refused', async () => {
    const name = client.collection()
    await client.add(name, 'k')
    const [created] = (await client.events(name, 'k')).events
    const at = created?.timestamp ?? 0
    assert.deepEqual(await client.types(name, 'k', { from: at, to: at + 1 }), ['create'])
    assert.deepEqual(await client.types(name, 'k', { to: at }), [], 'to is exclusive')
    assert.deepEqual(await client.types(name, 'k', { from: at + 1, to: at + 9 }), [], 'from is inclusive')
    assert.deepEqual(await client.types(name, 'k', { eventType: 'update' }), [])
    assert.deepEqual(await client.types(name, 'k', { eventType: '' }), ['create'])
    const ask = async (path: string, more: Fields): Promise<string> =>
      summary(await client.post(`/v1/temporal/${path}`, { collection: name, key: 'k', lang: 'en', ...more }))
    assert.equal(await ask('query', { eventType: 'deleted' }), '400 {"error":"invalid eventType: must be create, update, or access"}')
    assert.equal(await ask('query', { from: -1 }), '400 {"error":"invalid from: unix seconds are expected"}')
    assert.equal(await ask('query', { limit: -1 }), '400 {"error":"invalid limit"}')
    assert.equal(await ask('query', { key: 'none' }), NOT_FOUND)
    assert.equal(await ask('query', { key: undefined }), MISSING_FIELDS)
    assert.equal(await ask('hot', { topN: -1 }), '400 {"error":"invalid topN"}')
    assert.equal(await ask('histogram', { interval: 'year' }), '400 {"error":"invalid interval: must be day, week, or month"}')
    assert.deepEqual(await client.counts('never heard of'), [])
  })

  it('temporal: histogram buckets are whole days, weeks from Monday and months of UTC, named like 2024-01-31, 2024-W05, 2024-01', async () => {
    const name = client.collection()
    await client.add(name, 'k')
    const [day] = await client.counts(name, { eventType: 'create' })
    const [week] = await client.counts(name, { eventType: 'create', interval: 'week' })
    const [month] = await client.counts(name, { eventType: 'create', interval: 'month' })
    const dateOf = (second?: number): string => new Date((second ?? 0) * 1000).toISOString()
    assert.equal(dateOf(day?.from), `${day?.label}T00:00:00.000Z`)
    assert.equal((day?.to ?? 0) - (day?.from ?? 0), 86_400)
    assert.match(week?.label ?? '', /^\d{4}-W\d{2}$/)
    assert.equal(new Date((week?.from ?? 0) * 1000).getUTCDay(), 1)
    assert.equal(dateOf(month?.from), `${month?.label}-01T00:00:00.000Z`)
    assert.match(dateOf(month?.to), /-01T00:00:00.000Z$/)
  })

  it('temporal: the history of a document is deleted with it, and a new document of that name starts an empty one', async () => {
    const name = client.collection()
    await client.configure(name, { trackAccess: true })
    await client.add(name, 'k')
    await client.read(name, 'k', 3)
    await client.until(async () => (await client.events(name, 'k')).total === 4, 'reads are stored')
    await client.delete(name, 'k')
    assert.equal(summary(await client.post('/v1/temporal/query', { collection: name, key: 'k', lang: 'en' })), NOT_FOUND)
    await client.add(name, 'k')
    assert.deepEqual(await client.types(name, 'k'), ['create'])
    assert.deepEqual(await client.hot(name), [])
    assert.equal((await client.counts(name))[0]?.count, 3, 'what happened in the collection stays counted')
    await client.post('/v1/delete-collection', { collection: name })
    assert.deepEqual(await client.counts(name), [])
  })

  it('temporal: an orderly end keeps every read, a kill all writes and the reads that were stored', async () => {
    const first = await TrackedClient.start()
    await first.configure('c', { trackAccess: true })
    await first.add('c', 'k')
    await first.read('c', 'k', 25)
    const { directory } = first.server
    const second = await restarted(first, 'stop', directory)
    assert.equal((await second.events('c', 'k')).total, 26)
    await second.read('c', 'k', 5)
    await second.until(async () => (await second.events('c', 'k')).total === 31, 'reads are stored')
    await second.update('c', 'k', { contentMd: 'x' })
    const third = await restarted(second, 'kill', directory)
    const { events, total } = await third.events('c', 'k')
    assert.deepEqual([total, events.filter(({ eventType }) => eventType === 'update').length], [32, 1])
    assert.equal((await third.hot('c'))[0]?.accessCount, 30)
    await third.stop()
  })
})

async function restarted(client: TrackedClient, how: 'stop' | 'kill', directory: string): Promise<TrackedClient> {
  if (how === 'kill') await client.server.kill()
  else process.kill(client.server.pid, 'SIGTERM')
  await client.server.ended
  return TrackedClient.start({ directory })
}
