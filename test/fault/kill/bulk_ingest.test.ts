/**
 * The process ends during a bulk ingest job, by SIGKILL at different moments and by SIGTERM. The job's record
 * then states exactly what is stored, and the jobs queued behind it are failed, too. The documents of a job
 * are kept in memory only (service-1, "States and transitions").
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'

interface JobJson {
  readonly status: string
  readonly processed: number
  readonly added: number
  readonly failed: number
  readonly total: number
  readonly errors?: readonly string[]
  readonly completedAt?: number
}

const RESTARTED = 'server restarted mid-job'
const DOCUMENTS = 3000
/**
 * Numbers of stored documents at which the kill occurs: in the first chunk, between two chunks, in a later
 * one.
 */
const MOMENTS = [1, 65, 500, 1100, 1700]

const directory = mkdtempSync(join(tmpdir(), 'mds-ingest-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const text = (i: number): string => `document ${i} ${'words of it '.repeat(60)}`
const documents = Array.from({ length: DOCUMENTS }, (_, i) => ({ key: `k${i}`, lang: 'en', contentMd: text(i) }))

async function submit(server: Server, collection: string, of: readonly object[]): Promise<string> {
  const answer = await server.post('/v1/bulk-ingest-job', { collection, documents: of })
  assert.equal(answer.status, 202, answer.text)
  return answer.json<{ id: string }>().id
}

async function read(server: Server, id: string): Promise<JobJson> {
  return (await server.get(`/v1/bulk-ingest-job/${id}`)).json()
}

async function count(server: Server, collection: string): Promise<number> {
  const { collections } = (await server.get('/v1/stats')).json<{ collections: { name: string; documentCount: number }[] }>()
  return collections.find(({ name }) => name === collection)?.documentCount ?? 0
}

async function runUntil(server: Server, id: string, processed: number): Promise<void> {
  for (let job = await read(server, id); job.processed < processed; job = await read(server, id)) {
    assert.ok(job.status === 'pending' || job.status === 'processing', JSON.stringify(job))
  }
}

/** Checks the state after the next start. */
async function verify(server: Server, collection: string, running: string, waiting: string): Promise<JobJson> {
  const job = await read(server, running)
  assert.deepEqual([job.status, job.errors, job.failed, job.total], ['failed', [RESTARTED], 0, DOCUMENTS])
  assert.ok(job.completedAt !== undefined)
  assert.equal(job.processed, job.added)
  assert.equal(await count(server, collection), job.added)
  // Documents are stored whole and in the order of the request.
  for (const i of [0, Math.floor(job.added / 2), job.added - 1, job.added, DOCUMENTS - 1]) {
    const answer = await server.post('/v1/get', { collection, key: `k${i}`, lang: 'en' })
    assert.equal(answer.status, i < job.added ? 200 : 404, `k${i} of ${job.added}`)
    if (answer.status === 200) assert.equal(answer.json().contentMd, text(i))
  }
  const behind = await read(server, waiting)
  assert.deepEqual([behind.status, behind.processed, behind.errors], ['failed', 0, [RESTARTED]])
  return job
}

describe('the end of the process during a bulk ingest', () => {
  it('bulk ingest: a kill during a job leaves it failed, with counters that are exactly what is stored', async (t) => {
    const stopped: number[] = []
    for (const moment of MOMENTS) {
      const collection = `killed-${moment}`
      const first = await startServer({ directory })
      const running = await submit(first, collection, documents)
      const waiting = await submit(first, `${collection}-waiting`, documents.slice(0, 1))
      await runUntil(first, running, moment)
      await first.kill()
      const second = await startServer({ directory })
      t.after(() => second.kill())
      const job = await verify(second, collection, running, waiting)
      assert.ok(job.added >= moment)
      stopped.push(job.added)
      // The queue belongs to this process; the records of the previous one are unchanged.
      const next = await submit(second, `${collection}-next`, documents.slice(0, 70))
      while ((await read(second, next)).status !== 'completed');
      assert.deepEqual(await read(second, running), job)
      await second.stop()
    }
    assert.ok(
      stopped.some((added) => added < DOCUMENTS),
      `no kill came during a job: ${stopped.join(', ')}`,
    )
  })

  it('bulk ingest: an orderly stop lets the chunk under way finish and begins no other', async () => {
    const first = await startServer({ directory })
    const running = await submit(first, 'stopped', documents)
    const waiting = await submit(first, 'stopped-waiting', documents.slice(0, 1))
    await runUntil(first, running, 1)
    assert.equal(await first.stop(), 0)
    const second = await startServer({ directory })
    const job = await verify(second, 'stopped', running, waiting)
    assert.equal(job.added % 500, 0, 'whole chunks')
    assert.ok(job.added > 0 && job.added < DOCUMENTS)
    await second.stop()
  })
})
