/**
 * Bulk ingest jobs. service-1, "Bulk ingest job record", "States and transitions" and "Document operations":
 * an immediate 202, one worker, first in first out, chunks of 500, 50 messages; http.md and events.md section
 * 3: texts, record, callback. A job is certainly pending while another one runs before it.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, MISSING_FIELDS, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'
import { untilAsked } from '../../harness/process/until.js'
import type { TestResponse } from '../../harness/server/server.js'

interface JobJson {
  readonly id: string
  readonly collection: string
  readonly status: string
  readonly total: number
  readonly processed: number
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly errors?: readonly string[]
  readonly callbackUrl?: string
  readonly submittedAt: number
  readonly startedAt?: number
  readonly completedAt?: number
}

/** Long enough for a loaded machine. */
const CALLBACK_MS = 20_000
const PATIENCE_MS = 60_000
const documentsOf = (count: number, words = 5): object[] =>
  Array.from({ length: count }, (_, i) => ({ key: `k${i}`, lang: 'en', contentMd: `walrus ${'word '.repeat(words)}${i}` }))

class Jobs {
  constructor(readonly client: DocumentsClient) {}

  submit(collection: string, documents: readonly unknown[], fields: object = {}): Promise<TestResponse> {
    return this.client.post('/v1/bulk-ingest-job', { collection, documents, ...fields })
  }

  async accepted(collection: string, documents: readonly unknown[], fields: object = {}): Promise<string> {
    const answer = await this.submit(collection, documents, fields)
    assert.equal(answer.status, 202, answer.text)
    return answer.json<JobJson>().id
  }

  async get(id: string): Promise<JobJson> {
    const answer = await this.client.server.get(`/v1/bulk-ingest-job/${id}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<JobJson>()
  }

  cancel(id: string): Promise<TestResponse> {
    return this.client.server.request('DELETE', `/v1/bulk-ingest-job/${id}`)
  }

  async list(query = ''): Promise<{ readonly jobs: readonly JobJson[]; readonly total: number }> {
    return (await this.client.server.get(`/v1/bulk-ingest-jobs${query}`)).json()
  }

  /** Polls until the record is as wanted. */
  async until(id: string, isWanted: (job: JobJson) => boolean): Promise<JobJson> {
    return untilAsked(() => this.get(id), isWanted, PATIENCE_MS)
  }

  ended(id: string): Promise<JobJson> {
    return this.until(id, ({ status }) => status !== 'pending' && status !== 'processing')
  }
}

describe('bulk ingest jobs', () => {
  let client: DocumentsClient
  let jobs: Jobs
  before(async () => {
    client = await DocumentsClient.start()
    jobs = new Jobs(client)
  })
  after(() => client.stop())

  it('bulk ingest: a job is accepted with 202, runs in chunks, and its documents are as if they had been added by add-batch', async () => {
    const c = client.collection()
    const same = client.collection()
    await client.add(c, 'k0', { contentMd: 'before' })
    await client.add(same, 'k0', { contentMd: 'before' })
    const documents = documentsOf(1203)
    const answer = await jobs.submit(c, documents)
    assert.equal(answer.status, 202)
    const accepted = answer.json<JobJson>()
    assert.deepEqual(Object.keys(accepted), ['id', 'collection', 'status', 'total', 'submittedAt'])
    assert.match(accepted.id, /^bulk_\d{19}_[0-9a-f]{6}$/)
    assert.deepEqual([accepted.collection, accepted.status, accepted.total], [c, 'pending', 1203])
    assert.ok(Math.abs(accepted.submittedAt - Date.now() / 1000) < 60)
    const ended = await jobs.ended(accepted.id)
    assert.deepEqual(
      [ended.collection, ended.status, ended.total, ended.processed, ended.added, ended.updated, ended.failed, ended.errors],
      [c, 'completed', 1203, 1203, 1202, 1, 0, undefined],
    )
    assert.ok((ended.startedAt ?? 0) >= ended.submittedAt && (ended.completedAt ?? 0) >= (ended.startedAt ?? 0))
    for (let first = 0; first < documents.length; first += 500) await client.addBatch(same, documents.slice(first, first + 500))
    const checksum = async (name: string): Promise<unknown> => (await client.server.get(`/v1/checksum?collection=${name}`)).json().checksum
    assert.deepEqual([(await client.stats(c))?.documentCount, await checksum(c)], [1203, await checksum(same)])
    assert.equal((await client.found(c, 'walrus')).length > 0, true)
    assert.equal((await client.revisions(c, 'k0')).length, 2)
  })

  it('bulk ingest: bad documents are counted and named, at most 50 of them, and the others are stored', async () => {
    const c = client.collection()
    const documents = documentsOf(700).map((document, i) => (i >= 550 && i < 650 ? { ...document, lang: 7 } : i === 3 ? null : document))
    const job = await jobs.ended(await jobs.accepted(c, documents))
    assert.deepEqual([job.status, job.processed, job.added, job.failed], ['completed', 700, 599, 101])
    assert.equal(job.errors?.length, 50)
    assert.deepEqual(job.errors.slice(0, 3), [
      'documents[3]: an object is expected',
      'documents[550]: invalid lang',
      'documents[551]: invalid lang',
    ])
    assert.equal((await client.stats(c))?.documentCount, 599)
  })

  it('bulk ingest: a job of which no document was stored is failed', async () => {
    const job = await jobs.ended(await jobs.accepted(client.collection(), [{}, { key: 'a' }]))
    assert.deepEqual([job.status, job.processed, job.failed], ['failed', 2, 2])
    assert.deepEqual(job.errors, ['documents[0]: missing fields', 'documents[1]: missing fields'])
  })

  it('bulk ingest: jobs run one after the other in the order in which they came', async () => {
    const c = client.collection()
    const ids: string[] = []
    for (let i = 0; i < 4; i++) ids.push(await jobs.accepted(c, [...documentsOf(600), { key: 'last', lang: 'en', contentMd: `job ${i}` }]))
    const ends: JobJson[] = []
    for (const id of ids) {
      ends.push(await jobs.ended(id))
      // Later jobs have not ended before earlier ones.
      const later = await Promise.all(ids.slice(ends.length).map((other) => jobs.get(other)))
      for (const other of later) assert.ok(other.completedAt === undefined || other.completedAt >= (ends.at(-1)?.completedAt ?? 0))
    }
    assert.deepEqual(ends.map(({ added, updated }) => [added, updated]), [[601, 0], [0, 601], [0, 601], [0, 601]]) // prettier-ignore
    assert.equal((await client.get(c, 'last'))?.contentMd, 'job 3')
  })

  it('bulk ingest: the list is newest first, of all collections or of one, whatever its case', async () => {
    const [one, other] = [client.collection(), client.collection()]
    const ids: string[] = []
    for (const c of [one, other, one]) ids.push(await jobs.accepted(c, documentsOf(1)))
    for (const id of ids) await jobs.ended(id)
    const all = await jobs.list()
    assert.deepEqual(all.jobs.slice(0, 3).map(({ id }) => id), [ids[2], ids[1], ids[0]]) // prettier-ignore
    assert.equal(all.total, all.jobs.length)
    const ofOne = await jobs.list(`?collection=${one.toUpperCase()}`)
    assert.deepEqual([ofOne.total, ofOne.jobs.map(({ id }) => id)], [2, [ids[2], ids[0]]])
    assert.deepEqual(await jobs.list('?collection=none'), { jobs: [], total: 0 })
    assert.deepEqual(ofOne.jobs[0], await jobs.get(ids[2] ?? ''))
  })

  it('bulk ingest: a pending job is cancelled with 200 and never runs; one that runs, has ended or was cancelled answers 400', async () => {
    const c = client.collection()
    const first = await jobs.accepted(c, documentsOf(3000, 400))
    const second = await jobs.accepted(c, [{ key: 'never', lang: 'en', contentMd: 'x' }])
    assert.equal(summary(await jobs.cancel(second)), `200 {"status":"cancelled","id":"${second}"}`)
    assert.equal(summary(await jobs.cancel(second)), '400 {"error":"job cannot be cancelled: cancelled"}')
    await jobs.until(first, ({ processed }) => processed > 0)
    assert.equal(summary(await jobs.cancel(first)), '400 {"error":"job cannot be cancelled: processing"}')
    assert.equal((await jobs.ended(first)).added, 3000)
    assert.equal(summary(await jobs.cancel(first)), '400 {"error":"job cannot be cancelled: completed"}')
    const third = await jobs.ended(await jobs.accepted(c, documentsOf(1)))
    assert.equal(third.status, 'completed', 'the queue goes on behind a cancelled job')
    const cancelled = await jobs.get(second)
    assert.deepEqual([cancelled.status, cancelled.processed, cancelled.startedAt], ['cancelled', 0, undefined])
    assert.equal(await client.get(c, 'never'), undefined)
  })

  it('bulk ingest: an unknown job is 404, to poll and to cancel', async () => {
    for (const id of ['bulk_0', 'x', encodeURIComponent('ä/ö'), 'x'.repeat(3000)]) {
      assert.equal(summary(await client.server.get(`/v1/bulk-ingest-job/${id}`)), NOT_FOUND, id)
      assert.equal(summary(await jobs.cancel(id)), NOT_FOUND, id)
    }
  })

  it('bulk ingest: a request with missing or invalid fields is refused before a job exists', async () => {
    const c = client.collection()
    const before = (await jobs.list()).total
    assert.equal(summary(await jobs.submit(c, [])), '400 {"error":"no documents provided"}')
    assert.equal(summary(await client.post('/v1/bulk-ingest-job', { collection: c })), MISSING_FIELDS)
    assert.equal(summary(await client.post('/v1/bulk-ingest-job', { documents: documentsOf(1) })), MISSING_FIELDS)
    assert.equal(summary(await client.server.post('/v1/bulk-ingest-job', '{')), '400 {"error":"invalid JSON"}')
    for (const callbackUrl of [
      'x',
      'ftp://example.com/',
      'http://127.0.0.1:1/',
      'http://0x7f.1/',
      'http://169.254.169.254/',
      'http://u:p@example.com/',
    ]) {
      assert.match(summary(await jobs.submit(c, documentsOf(1), { callbackUrl })), /^400 \{"error":"invalid callbackUrl: /, callbackUrl)
    }
    assert.match(summary(await jobs.submit(c, documentsOf(1), { callbackUrl: 7 })), /^400 \{"error":"invalid callbackUrl/)
    assert.equal((await jobs.list()).total, before)
  })

  it('bulk ingest: point reads and searches are answered while a job runs', async () => {
    const c = client.collection()
    await client.add(c, 'online', { contentMd: 'penguin' })
    const id = await jobs.accepted(c, documentsOf(2000, 400))
    let answered = 0
    while ((await jobs.get(id)).status !== 'completed') {
      assert.equal((await client.get(c, 'online'))?.contentMd, 'penguin')
      assert.deepEqual(await client.found(c, 'penguin'), ['online'])
      answered++
    }
    assert.ok(answered > 5, `${answered} rounds`)
  })
})

describe('bulk ingest jobs of a server with small bounds', () => {
  it('bulk ingest: a queue full by number of jobs or by bytes answers 400, and accepts the next job once it has capacity', async () => {
    const small = await DocumentsClient.start({
      env: { SVC_LIMIT_INGESTS_QUEUED_MAX: '2', SVC_LIMIT_INGEST_BYTES_HELD_MAX: String(9 * 1024 * 1024) },
    })
    const jobs = new Jobs(small)
    const full = '400 {"error":"bulk ingest queue is full"}'
    try {
      const running = await jobs.accepted('c', documentsOf(2000, 400))
      await jobs.until(running, ({ processed }) => processed > 0)
      assert.equal(summary(await jobs.submit('c', documentsOf(1500, 1000))), full, 'too many bytes')
      const waiting = [await jobs.accepted('c', documentsOf(1)), await jobs.accepted('c', documentsOf(1))]
      assert.equal(summary(await jobs.submit('c', documentsOf(1))), full, 'too many jobs')
      assert.equal((await jobs.cancel(waiting[0] ?? '')).status, 200)
      waiting.push(await jobs.accepted('c', documentsOf(1)))
      for (const id of [running, ...waiting.slice(1)]) assert.equal((await jobs.ended(id)).status, 'completed')
      assert.equal((await jobs.ended(await jobs.accepted('c', documentsOf(1500, 800)))).status, 'completed', 'the bytes are free again')
    } finally {
      await small.stop()
    }
  })
})

describe('callbacks of bulk ingest jobs', () => {
  it('bulk ingest: the final record is posted to callbackUrl, once, and never where it may not go', async () => {
    const received: { readonly request: IncomingMessage; readonly body: string }[] = []
    const listener = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        received.push({ request, body })
        // The redirect is not followed.
        response.writeHead(302, { location: '/elsewhere' }).end()
        listener.emit('received')
      })
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const { port } = listener.address() as AddressInfo
    const client = await DocumentsClient.start({ env: { SVC_OUTBOUND_ALLOWLIST: `127.0.0.1:${port}` } })
    const jobs = new Jobs(client)
    try {
      const callbackUrl = `http://127.0.0.1:${port}/done?x=1`
      const arrived = once(listener, 'received', { signal: AbortSignal.timeout(CALLBACK_MS) })
      const id = await jobs.accepted('c', documentsOf(2), { callbackUrl })
      await arrived
      const [{ request, body } = assert.fail()] = received
      assert.deepEqual(
        [request.method, request.url, request.headers['x-mddb-event'], request.headers['content-type']],
        ['POST', '/done?x=1', 'bulk_ingest.completed', 'application/json; charset=utf-8'],
      )
      assert.deepEqual(JSON.parse(body), await jobs.get(id))
      assert.equal((JSON.parse(body) as JobJson).status, 'completed')
      assert.equal((JSON.parse(body) as JobJson).callbackUrl, callbackUrl)
      const again = once(listener, 'received', { signal: AbortSignal.timeout(CALLBACK_MS) })
      const failed = await jobs.accepted('c', [{}], { callbackUrl })
      await again
      assert.deepEqual([(JSON.parse(received[1]?.body ?? '') as JobJson).status, received[1]?.body.includes(failed)], ['failed', true])
      // A name is accepted until it is resolved. Its address is then not requested, and the job behaves as
      // without a callback.
      const inside = await jobs.ended(
        await jobs.accepted('c', documentsOf(1), { callbackUrl: `http://localhost:${port === 65_535 ? 8080 : port + 1}/` }),
      )
      assert.equal(inside.status, 'completed')
      assert.equal(received.length, 2)
    } finally {
      await client.stop()
      listener.close()
    }
    assert.match(client.server.output(), /callback of bulk_\d+_[0-9a-f]+: the address is not a public one/)
    assert.equal(received.length, 2)
  })
})
