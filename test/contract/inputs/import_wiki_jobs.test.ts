/**
 * POST /v1/import-wiki?job=true: 202 with a job, which `/v1/bulk-ingest-job/{id}` shows, lists and cancels.
 * Its dump stays on disk until it ends. The end of the process: test/fault/kill/wiki_job.test.ts.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { dumpXml, pageOf } from '../../harness/wiki_dumps.js'
import { documentsIn, endedJob, importWiki, wikiJob } from '../../harness/wiki_imports.js'

let server: Server
const pages = (count: number, text = 'some words '): string =>
  dumpXml(Array.from({ length: count }, (_, index) => pageOf(`Page ${index}`, index % 10 === 9 ? '{{x}}' : `${text.repeat(20)}${index}`)))

async function submitted(collection: string, dump: string, options: Record<string, string | number | boolean> = {}): Promise<string> {
  const answer = await importWiki(server, collection, dump, { ...options, job: true })
  assert.equal(answer.status, 202, answer.text)
  return answer.json<{ id: string }>().id
}

function keptDumps(of: Server): readonly string[] {
  const folder = join(of.directory, 'wiki-jobs')
  return existsSync(folder) ? readdirSync(folder) : []
}

before(async () => {
  server = await startServer({ env: { SVC_WIKI_MAX_PAGES: '5000' } })
})
after(() => server.stop())

describe('import-wiki as a job', () => {
  it('import-wiki: the OpenAPI document has the 202 of a job beside the 200 of an import', async () => {
    type Documented = { paths: Record<string, { post: { responses: Record<string, { content: unknown }> } }> }
    const responses = (await server.get('/openapi.json')).json<Documented>().paths['/v1/import-wiki']?.post.responses
    assert.ok(responses?.['202'] && responses['200'])
    assert.deepEqual(responses['202'].content, responses['200'].content)
  })

  it('import-wiki: with job it is 202 with a record that ends with exact counters, and its dump goes', async () => {
    const answer = await importWiki(server, 'job', pages(1000), { job: true })
    assert.equal(answer.status, 202, answer.text)
    const { id, submittedAt, ...rest } = answer.json()
    assert.deepEqual(rest, { collection: 'job', status: 'pending', total: 0 })
    assert.ok(Number.isInteger(submittedAt) && /^wiki_\d+_[0-9a-f]{6}$/.test(String(id)))
    const { status, total, processed, added, updated, skipped, failed } = await endedJob(server, String(id))
    assert.deepEqual([status, total, processed, added, updated, skipped, failed], ['completed', 1000, 1000, 900, 0, 100, 0])
    assert.equal(await documentsIn(server, 'job'), 900)
    const { jobs } = (await server.get('/v1/bulk-ingest-jobs?collection=job')).json<{ jobs: { id: string }[] }>()
    assert.deepEqual(
      jobs.map((job) => job.id),
      [id],
    )
    await untilAsked(
      () => keptDumps(server),
      (names) => names.length === 0,
    )
  })

  it('import-wiki: a job that waits or runs can be cancelled; one that has ended can not', async () => {
    const running = await submitted('running', pages(4000), { batchSize: 20 })
    const waiting = await submitted('waiting', pages(10))
    await untilAsked(
      () => wikiJob(server, running),
      ({ added }) => added > 0,
    )
    for (const id of [waiting, running]) {
      const cancelled = await server.request('DELETE', `/v1/bulk-ingest-job/${id}`)
      assert.deepEqual([cancelled.status, cancelled.json()], [200, { status: 'cancelled', id }])
    }
    const next = await submitted('next', pages(10))
    assert.equal((await endedJob(server, next)).status, 'completed')
    assert.equal(await documentsIn(server, 'waiting'), 0)
    const { status, added } = await wikiJob(server, running)
    assert.equal(status, 'cancelled')
    assert.equal(await documentsIn(server, 'running'), added)
    assert.equal((await server.request('DELETE', `/v1/bulk-ingest-job/${next}`)).status, 400)
    await untilAsked(
      () => keptDumps(server),
      (names) => names.length === 0,
    )
  })

  it('import-wiki: a job fails with the reason where its dump is damaged or too large, and keeps what it stored', async () => {
    const whole = pages(100)
    const damaged = await endedJob(server, await submitted('damaged', whole.slice(0, whole.length / 2)))
    assert.equal(damaged.status, 'failed')
    assert.match(damaged.errors?.[0] ?? '', /^the dump can't be read: /)
    assert.equal(await documentsIn(server, 'damaged'), damaged.added)
    assert.ok(damaged.added > 30)
    const large = await endedJob(server, await submitted('large', pages(6000, 'w')))
    assert.deepEqual([large.status, large.added, large.errors?.[0]], ['failed', 5000, 'more than 5000 pages'])
  })

  it('import-wiki: a job whose collection is deleted meanwhile ends', async () => {
    const id = await submitted('deleted', pages(4000), { batchSize: 20 })
    await untilAsked(
      () => wikiJob(server, id),
      ({ added }) => added > 0,
    )
    assert.equal((await server.post('/v1/delete-collection', { collection: 'deleted' })).status, 200)
    const { status, errors } = await endedJob(server, id)
    assert.deepEqual([status, errors?.[0]], ['failed', 'the collection was deleted'])
    assert.equal(await documentsIn(server, 'deleted'), 0)
  })

  it('import-wiki: at most 16 jobs wait or run; a further one is refused and leaves no file', async () => {
    const ids = [await submitted('queue', pages(4500), { batchSize: 5 })]
    const small = pages(2)
    for (let at = 1; at < 16; at++) ids.push(await submitted(`queue-${at}`, small))
    const refused = await importWiki(server, 'queue-16', small, { job: true })
    assert.deepEqual([refused.status, refused.json()['error']], [400, 'bulk ingest queue is full'])
    assert.ok(keptDumps(server).length <= 16)
    for (const id of ids) await server.request('DELETE', `/v1/bulk-ingest-job/${id}`)
    await untilAsked(
      () => keptDumps(server),
      (names) => names.length === 0,
    )
  })
})
