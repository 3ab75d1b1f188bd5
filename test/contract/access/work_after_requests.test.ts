/**
 * Work that outlives its request, and the right to it: a bulk ingest ends with the right of its submitter and
 * with its collection, and what was meant for an encrypted collection is stored nowhere else.
 * docs/decisions/operation/access-control.md.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { UNEMBEDDED_DOCUMENTS_MAX } from '../../../src/worker/handlers/embedding.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { embeddingEnv, type VectorStats } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, asUser, bearer, tokenOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const KEY = Buffer.alloc(32, 5).toString('base64')
const CANARY = 'zebrafinch'
/** A callback that is not sent fails the test instead of holding it. */
const CALLBACK_MS = 60_000

interface Job {
  readonly status: string
  readonly total: number
  readonly processed: number
  readonly added: number
  readonly failed: number
  readonly errors?: readonly string[]
}

let server: Server
let admin: Admin
/** Receives callbacks. */
const receiver = createServer((_request, response) => response.end())
let callbackUrl = ''
before(async () => {
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  callbackUrl = `http://${address}/`
  server = await startServer({ env: { ...ACCESS_ENV, SVC_ENCRYPTION_KEY: KEY, SVC_OUTBOUND_ALLOWLIST: address } })
  admin = new Admin(server)
  // Users that are registered after the deletion of another begin with a later epoch of tokens.
  await admin.register('exporter')
})
after(async () => {
  await server.kill()
  receiver.close()
})

const documentsOf = (count: number, word = 'walrus'): object[] =>
  Array.from({ length: count }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `${word} ${'many words '.repeat(40)}${at}` }))

async function submit(collection: string, documents: readonly object[], headers = asUser('admin'), fields: object = {}): Promise<string> {
  const answer = await server.post('/v1/bulk-ingest-job', { collection, documents, ...fields }, headers)
  assert.equal(answer.status, 202, answer.text)
  return answer.json<{ id: string }>().id
}

const jobOf = async (id: string): Promise<Job> => (await admin.do('GET', `/v1/bulk-ingest-job/${id}`)).json<Job>()
const running = (id: string): Promise<Job> => untilAsked(() => jobOf(id), ({ processed }) => processed > 0) // prettier-ignore
const ended = (id: string): Promise<Job> =>
  untilAsked(
    () => jobOf(id),
    ({ status }) => status !== 'pending' && status !== 'processing',
  )

const countOf = async (collection: string): Promise<number> =>
  (await admin.do('GET', `/v1/checksum?collection=${collection}`)).json<{ documentCount: number }>().documentCount

function assertFailed(job: Job, reason: string): void {
  assert.deepEqual([job.status, job.errors?.[0]], ['failed', reason])
  assert.ok(job.added > 0 && job.added < job.total, `${job.added} of ${job.total}`)
  assert.deepEqual([job.processed, job.failed], [job.total, job.total - job.added])
}

/** Names of files that contain the word. */
async function plaintextFiles(word: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(server.directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    if ((await readFile(path)).includes(word)) found.push(path.slice(server.directory.length + 1))
  }
  return found
}

describe('work after its request', () => {
  it('bulk ingest: it fails with the reason from the next part on once its submitter has lost the right, and its callback is sent', async () => {
    await admin.register('losing')
    await admin.grant('losing', 'lost', { write: true })
    const requested = once(receiver, 'request', { signal: AbortSignal.timeout(CALLBACK_MS) }) as Promise<[IncomingMessage]>
    const id = await submit('lost', documentsOf(6_000), asUser('losing'), { callbackUrl })
    await running(id)
    await admin.grant('losing', 'lost', {})
    const job = await ended(id)
    assertFailed(job, 'forbidden')
    assert.equal(await countOf('lost'), job.added)
    const [{ headers }] = await requested
    assert.equal(headers['x-mddb-event'], 'bulk_ingest.completed')
    assert.equal(Object.keys(job).includes('submitter') || Object.keys(job).includes('collectionId'), false)
  })

  it('bulk ingest: it ends with the account of its submitter, also if another account of the name may write', async () => {
    await admin.register('leaving')
    await admin.grant('leaving', 'left', { write: true })
    const id = await submit('left', documentsOf(6_000), asUser('leaving'))
    await running(id)
    await admin.do('DELETE', '/v1/auth/users/leaving')
    await admin.register('leaving')
    await admin.grant('leaving', 'left', { write: true })
    const job = await ended(id)
    assertFailed(job, 'forbidden: the account of the submitter was deleted')
    assert.equal(await countOf('left'), job.added)
    const again = await submit('left', documentsOf(3), bearer(tokenOf('leaving', 2)))
    assert.deepEqual([(await ended(again)).status, await countOf('left')], ['completed', job.added])
  })

  it('bulk ingest: it ends with its collection, and stores nothing in a later one of the name; an encrypted one is not made again as plaintext', async () => {
    await admin.do('PUT', '/v1/collection-config', { collection: 'secret', encrypted: true })
    const id = await submit('secret', documentsOf(6_000, CANARY))
    const waiting = await submit('secret', documentsOf(3, CANARY))
    await running(id)
    await admin.do('POST', '/v1/delete-collection', { collection: 'secret' })
    await admin.do('POST', '/v1/add', { collection: 'secret', key: 'later', lang: 'en', contentMd: 'of another' })
    assertFailed(await ended(id), 'the collection was deleted')
    const { status, added, errors } = await ended(waiting)
    assert.deepEqual([status, added, errors], ['failed', 0, ['the collection was deleted']])
    assert.equal(await countOf('secret'), 1)
    assert.deepEqual(await plaintextFiles(CANARY), [])
  })

  it('bulk ingest: a job whose collection did not exist makes it, and ends with it', async () => {
    const id = await submit('made', documentsOf(6_000))
    await running(id)
    await admin.do('POST', '/v1/delete-collection', { collection: 'made' })
    assertFailed(await ended(id), 'the collection was deleted')
    assert.equal(await countOf('made'), 0)
  })

  it('encryption: a batch that was prepared for an encrypted collection stores nothing as plaintext once that is deleted', async () => {
    const word = 'kingfisher'
    for (let round = 0, wasCut = false; !wasCut; round++) {
      assert.ok(round < 20, 'no batch was cut by a deletion')
      const collection = `batch${round}`
      await admin.do('PUT', '/v1/collection-config', { collection, encrypted: true })
      const batch = server.post('/v1/add-batch', { collection, documents: documentsOf(1_000, word) }, admin.headers)
      await untilAsked(() => countOf(collection), (count) => count > 0) // prettier-ignore
      await admin.do('POST', '/v1/delete-collection', { collection })
      const { added, failed, errors } = (await batch).json<{ added: number; failed: number; errors: readonly string[] }>()
      wasCut = failed > 0
      if (wasCut) assert.match(errors[0] ?? '', /: the collection was changed meanwhile, please retry$/)
      assert.deepEqual([added + failed, await countOf(collection)], [1_000, 0])
    }
    assert.deepEqual(await plaintextFiles(word), [])
  })

  it('vector-reindex: it ends with the right of whoever asked for it, and what is left counts as failed', async (test) => {
    const provider = await EmbeddingServer.start()
    const other = await startServer({ env: embeddingEnv(provider, ACCESS_ENV) })
    test.after(async () => {
      await other.kill()
      await provider.stop()
    })
    const chief = new Admin(other)
    const total = 4 * UNEMBEDDED_DOCUMENTS_MAX
    for (let first = 0; first < total; first += 500) {
      const documents = Array.from({ length: Math.min(500, total - first) }, (_, at) => ({ key: `k${first + at}`, lang: 'en', contentMd: `text ${first + at}` })) // prettier-ignore
      await chief.do('POST', '/v1/add-batch', { collection: 'c', documents })
    }
    await untilAsked(
      async () => (await chief.do('GET', '/v1/vector-stats')).json<VectorStats>(),
      ({ queue, collections }) => queue.depth === 0 && collections['c']?.embedded_documents === total,
    )
    await chief.register('embedder')
    await chief.grant('embedder', 'c', { write: true })
    provider.hold()
    const before = provider.requests.length
    const answer = other.post('/v1/vector-reindex', { collection: 'c', force: true }, asUser('embedder'))
    await untilAsked(() => Promise.resolve(provider.requests.length), (count) => count > before) // prettier-ignore
    await chief.grant('embedder', 'c', {})
    provider.release()
    const { embedded, failed, errors } = (await answer).json<{ embedded: number; failed: number; errors: readonly string[] }>()
    assert.deepEqual([embedded + failed, errors.at(-1)], [total, 'forbidden: the others were not tried'])
    assert.ok(embedded < total)
  })

  it('export: each part asks for the right, so that it ends soon after that is taken away', async () => {
    // 60 MB: more than the sockets of both sides buffer.
    const documents = Array.from({ length: 1_500 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: 'x'.repeat(40_000) }))
    for (let at = 0; at < documents.length; at += 100)
      await admin.do('POST', '/v1/add-batch', { collection: 'large', documents: documents.slice(at, at + 100) })
    await admin.grant('exporter', 'large', { read: true })
    const socket = await RawSocket.open(server.port)
    const body = JSON.stringify({ collection: 'large', format: 'ndjson' })
    const { authorization = '' } = asUser('exporter')
    socket.write(
      `POST /v1/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await untilAsked(
      () => Promise.resolve(socket.length),
      (length) => length > 0,
    )
    socket.pause()
    await admin.grant('exporter', 'large', {})
    socket.resume()
    await untilAsked(
      () => Promise.resolve(socket.isClosed),
      (isClosed) => isClosed,
    )
    const { text } = socket
    assert.ok(text.includes('"key":"k0"'), text.slice(0, 300))
    assert.ok(!text.includes('"key":"k1499"'), `${text.length} bytes came`)
    const answer = await server.post('/v1/export', { collection: 'large', format: 'ndjson' }, admin.headers)
    assert.equal(answer.text.split('\n').length, 1_501)
  })
})
