/**
 * How imports of wikis end before their dump does: by the end of its reader, by their client, by a bound; and
 * what stays of them. docs/decisions/documents/wiki.md; http.md 1; events.md 6.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { untilAsked } from '../../harness/process/until.js'
import { auditOf } from '../../harness/server/audit_log.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { dumpXml, pageOf, slowDump } from '../../harness/wiki_dumps.js'
import { documentsIn, dumpFiles, dumpReaders, endedJob, type ImportAnswer, importWiki, wikiJob } from '../../harness/wiki_imports.js'

const PAGES = 200
const HEAD = Array.from({ length: PAGES }, (_, index) => pageOf(`Page ${index}`, `text ${index}`))
/** Stored in four batches, while the reader is busy with the rest for many seconds. */
const SLOW = slowDump(HEAD, 400)
/** The same for a second or two. */
const TAIL_MB = 40
const SHORTER = slowDump(HEAD, TAIL_MB)
const OPTIONS = { batchSize: 50 }
const SMALL = dumpXml([pageOf('A', 'a'), pageOf('...', 'no key')])

let server: Server

/** Once the pages with text are stored. */
async function untilStored(collection: string): Promise<void> {
  await untilAsked(() => documentsIn(server, collection), (count) => count === PAGES) // prettier-ignore
}

/** Nothing is left of any import. */
async function areGone(): Promise<void> {
  await untilAsked(() => [...dumpReaders(server), ...dumpFiles(server)], (left) => left.length === 0) // prettier-ignore
}

async function killReader(): Promise<void> {
  const [reader, ...others] = dumpReaders(server)
  assert.ok(reader !== undefined && others.length === 0)
  process.kill(reader, 'SIGKILL')
}

/** Sends the head of an import and the first `bytes` of the dump. */
async function begun(collection: string, { dump = SLOW, bytes = SLOW.length, job = false } = {}): Promise<RawSocket> {
  const socket = await RawSocket.open(server.port)
  socket.write(
    `POST /v1/import-wiki?collection=${collection}&lang=en&batchSize=50&job=${job} HTTP/1.1\r\nHost: localhost\r\n` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${dump.length}\r\n\r\n`,
  )
  socket.write(dump.subarray(0, bytes))
  return socket
}

before(async () => {
  server = await startServer({ env: { SVC_AUDIT_ENABLED: 'true', SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') } })
})
after(() => server.stop())

describe('import-wiki: the end of its reader', () => {
  it('import-wiki: the death of the process that reads a dump is 400 that says so, with exact counters', async () => {
    const answer = importWiki(server, 'killed', SLOW, OPTIONS)
    await untilStored('killed')
    await killReader()
    const { status, text } = await answer
    const { durationMs, ...rest } = JSON.parse(text) as ImportAnswer
    const error = "the dump can't be read: the reader of the dump ended by SIGKILL"
    const counts = { imported: PAGES, skipped: 0, failed: 0, collection: 'killed', profile: 'default' }
    assert.deepEqual([status, rest], [400, { error, ...counts }])
    assert.ok(Number.isInteger(durationMs))
    assert.equal(await documentsIn(server, 'killed'), PAGES)
    assert.equal((await importWiki(server, 'killed', SMALL)).json<ImportAnswer>().imported, 1)
    await areGone()
  })

  it('import-wiki: the death of the process that reads the dump of a job fails the job, and the next one runs', async () => {
    const { id } = (await importWiki(server, 'killed-job', SLOW, { ...OPTIONS, job: true })).json<{ id: string }>()
    await untilStored('killed-job')
    const next = (await importWiki(server, 'next-job', SMALL, { job: true })).json<{ id: string }>()
    await killReader()
    const { status, total, added, errors } = await endedJob(server, id)
    assert.deepEqual([status, total, added], ['failed', PAGES, PAGES])
    assert.deepEqual(errors, ["the dump can't be read: the reader of the dump ended by SIGKILL"])
    assert.equal(await documentsIn(server, 'killed-job'), PAGES)
    assert.equal((await endedJob(server, next.id)).added, 1)
    await areGone()
  })
})

describe('import-wiki: a reader that hangs', () => {
  it('import-wiki: a job whose reader hangs is ended by its cancellation, and the next one runs', async () => {
    const { id } = (await importWiki(server, 'hanging', SLOW, { ...OPTIONS, job: true })).json<{ id: string }>()
    await untilStored('hanging')
    const next = (await importWiki(server, 'behind', SMALL, { job: true })).json<{ id: string }>()
    process.kill(dumpReaders(server)[0] ?? -1, 'SIGSTOP')
    assert.equal((await server.request('DELETE', `/v1/bulk-ingest-job/${id}`)).status, 200)
    await untilAsked(() => wikiJob(server, next.id), ({ status }) => status === 'completed') // prettier-ignore
    const { status, added } = await wikiJob(server, id)
    assert.deepEqual([status, added], ['cancelled', PAGES])
    await areGone()
  })
})

describe('import-wiki: a client that leaves', () => {
  it('import-wiki: nothing is imported of a dump whose client leaves while it sends, and nothing of it stays', async () => {
    for (const job of [false, true]) {
      const socket = await begun('left', { bytes: 100_000, job })
      await untilAsked(() => dumpFiles(server), (files) => files.length === 1) // prettier-ignore
      socket.reset()
      await areGone()
    }
    assert.equal(await documentsIn(server, 'left'), 0)
    const { jobs } = (await server.get('/v1/bulk-ingest-jobs?collection=left')).json<{ jobs: unknown[] }>()
    assert.deepEqual(jobs, [])
  })

  it('import-wiki: a client that leaves ends its import, whose batches stay; a job goes on without its client', async () => {
    const socket = await begun('gone')
    await untilStored('gone')
    socket.reset()
    await areGone()
    assert.equal(await documentsIn(server, 'gone'), PAGES)
    const submitting = await begun('job-alone', { dump: SHORTER, job: true })
    await submitting.until((received) => received.includes('202'))
    submitting.reset()
    await untilStored('job-alone')
    assert.equal(dumpReaders(server).length, 1)
    const { jobs } = (await server.get('/v1/bulk-ingest-jobs?collection=job-alone')).json<{ jobs: { id: string }[] }>()
    const { status, total } = await endedJob(server, jobs[0]?.id ?? '')
    assert.deepEqual([status, total], ['completed', PAGES + TAIL_MB])
    await areGone()
  })
})

describe('import-wiki: bounds', () => {
  it('import-wiki: a third import at once is 503 with Retry-After and leaves no file, a job waits, and both come later', async () => {
    const sockets = [await begun('first'), await begun('second')]
    await untilStored('first')
    await untilStored('second')
    const refused = await importWiki(server, 'third', SMALL)
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'], refused.text)
    const { id } = (await importWiki(server, 'fourth', SMALL, { job: true })).json<{ id: string }>()
    await untilAsked(() => dumpFiles(server).filter((name) => name.startsWith('spool-')), ({ length }) => length === 2) // prettier-ignore
    assert.equal(dumpReaders(server).length, 2)
    assert.equal((await wikiJob(server, id)).status, 'pending')
    for (const socket of sockets) socket.reset()
    assert.equal((await endedJob(server, id)).status, 'completed')
    assert.equal((await importWiki(server, 'third', SMALL)).status, 200)
    await areGone()
  })
})

describe('import-wiki: what is written of it', () => {
  it('import-wiki: an import is one event of the audit log, with its collection and its result', async () => {
    await importWiki(server, 'audited', SMALL)
    await importWiki(server, 'audited', 'no dump')
    const { id } = (await importWiki(server, 'audited', SMALL, { job: true })).json<{ id: string }>()
    await endedJob(server, id)
    const { events } = await auditOf(server, 'collection=audited')
    assert.deepEqual(
      events.map(({ action, resource, key, result }) => [action, resource, key, result]),
      ['ok', 'fail', 'ok'].map((result) => ['write./v1/import-wiki', 'audited', undefined, result]),
    )
  })

  it('import-wiki: pages of an encrypted collection are sealed, and the record of a job names none of them', async (test) => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-wiki-sealed-'))
    test.after(() => rmSync(directory, { recursive: true, force: true }))
    const sealed = await startServer({ directory, env: { SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') } })
    test.after(() => sealed.kill())
    await sealed.request('PUT', '/v1/collection-config', { collection: 'vault', encrypted: true })
    const dump = dumpXml([pageOf('Kormoran', 'a wiedehopf'), pageOf('(pirol)', 'eisvogel'), pageOf('((', 'gimpel')])
    const answer = await importWiki(sealed, 'vault', dump)
    assert.deepEqual([answer.status, answer.json<ImportAnswer>().imported], [200, 2], answer.text)
    assert.deepEqual(answer.json<ImportAnswer>().errors, ['((: its title gives an empty key'])
    const { id } = (await importWiki(sealed, 'vault', dump, { job: true })).json<{ id: string }>()
    const job = await endedJob(sealed, id)
    assert.deepEqual([job.updated, job.failed], [2, 1])
    assert.equal(job.errors?.length, 1)
    assert.doesNotMatch(job.errors?.[0] ?? '((', /\(\(/)
    const found = await sealed.post('/v1/fts', { collection: 'vault', query: 'wiedehopf' })
    assert.equal(found.json<{ results: unknown[] }>().results.length, 1)
  })
})
