/**
 * The process is killed again and again during an import of a wiki as a job. Each start goes on where the
 * record says: at the end every page is stored exactly once, and the counters are those of one run.
 * `MDS_CYCLES=20` for more kills.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { startServer } from '../../harness/server/server.js'
import { dumpXml, pageOf } from '../../harness/wiki_dumps.js'
import { documentsIn, endedJob, importWiki, wikiJob } from '../../harness/wiki_imports.js'

const CYCLES = Number(process.env['MDS_CYCLES'] ?? 3)
/** Pages that are imported between two kills at least. */
const PAGES_BETWEEN = 150
const PAGES = (CYCLES + 2) * 2 * PAGES_BETWEEN

const directory = mkdtempSync(join(tmpdir(), 'mds-wiki-job-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const isEmpty = (index: number): boolean => index % 7 === 3
const dump = dumpXml(
  Array.from({ length: PAGES }, (_, index) => pageOf(`Page ${index}`, isEmpty(index) ? '{{x}}' : `Text of page ${index}. `.repeat(40))),
)

describe('the end of the process during an import of a wiki', () => {
  it('import-wiki: a job that is killed again and again goes on: every page is stored exactly once', async (t) => {
    let server = await startServer({ directory })
    t.after(() => server.kill())
    const { id } = (await importWiki(server, 'wiki', dump, { batchSize: 70, job: true })).json<{ id: string }>()
    let before = 0
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const { processed } = await untilAsked(
        () => wikiJob(server, id),
        (job) => job.processed >= before + PAGES_BETWEEN,
      )
      await server.kill()
      server = await startServer({ directory })
      const { status, processed: kept, added } = await wikiJob(server, id)
      assert.ok(kept >= processed && (status === 'processing' || status === 'completed'), `${status}, ${kept} of ${processed}`)
      assert.ok((await documentsIn(server, 'wiki')) >= added)
      before = kept
    }
    const { status, total, added, updated, skipped, failed } = await endedJob(server, id)
    const empty = Array.from({ length: PAGES }, (_, index) => index).filter(isEmpty).length
    assert.deepEqual([status, total, added, updated, skipped, failed], ['completed', PAGES, PAGES - empty, 0, empty, 0])
    assert.equal(await documentsIn(server, 'wiki'), PAGES - empty)
    // A page that is stored twice would have a second revision.
    for (let index = 0; index < PAGES; index++) {
      if (isEmpty(index)) continue
      const answer = await server.post('/v1/revisions', { collection: 'wiki', key: `page-${index}`, lang: 'en' })
      assert.equal(answer.json()['total'], 1, `page ${index}`)
    }
    assert.equal(await server.stop(), 0)
  })

  it('import-wiki: a start removes dumps without a job, and fails a job whose dump has gone', async () => {
    const first = await startServer({ directory })
    const { id } = (await importWiki(first, 'gone', dump, { batchSize: 5, job: true })).json<{ id: string }>()
    await first.kill()
    const folder = join(directory, 'wiki-jobs')
    mkdirSync(folder, { recursive: true })
    rmSync(join(folder, id))
    writeFileSync(join(folder, 'wiki_1_000000'), 'left')
    const second = await startServer({ directory })
    const { status, errors } = await endedJob(second, id)
    assert.deepEqual([status, errors?.[0]], ['failed', 'its dump is missing'])
    await untilAsked(
      () => (existsSync(folder) ? readdirSync(folder) : []),
      (names) => names.length === 0,
    )
    await second.stop()
  })
})
