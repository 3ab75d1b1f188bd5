/**
 * The process ends during an import of a wiki as a job: nothing is lost, nothing is stored twice, and no file
 * is left. For more kills: `npm run campaign -- wiki-kill`.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { runSeed } from '../../harness/random.js'
import { startServer } from '../../harness/server/server.js'
import { dumpXml, pageOf } from '../../harness/wiki_dumps.js'
import { endedJob, importWiki } from '../../harness/wiki_imports.js'
import { runWikiKills } from './wiki_job_run.js'

const KILLS = 3
const seed = runSeed()

const directory = mkdtempSync(join(tmpdir(), 'mds-wiki-job-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const dump = dumpXml(Array.from({ length: 3000 }, (_, index) => pageOf(`Page ${index}`, `Text of page ${index}.`)))

describe('the end of the process during an import of a wiki', () => {
  it('import-wiki: a job that is killed again and again goes on: every page is stored exactly once', async (test) => {
    const report = await runWikiKills(seed, KILLS)
    test.diagnostic(JSON.stringify(report))
    assert.ok(report.pages > 0)
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
