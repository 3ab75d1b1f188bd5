/** Restores under load, each way in which they go well or wrong once: restore_run.ts. The campaign (`npm run campaign:restore`) repeats them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startServer } from '../harness/server.js'
import { runSeed } from './random.js'
import { RestoreRun, SCENARIOS } from './restore_run.js'

const seed = runSeed()

describe(`restore under load, MDS_TEST_SEED=${seed}`, () => {
  const run = new RestoreRun(seed)
  before(() => run.begin())
  after(() => run.end())

  for (const scenario of SCENARIOS) {
    const what =
      scenario.kind === 'good'
        ? 'well'
        : scenario.kind === 'damaged'
          ? `a backup with ${scenario.how}`
          : `${scenario.kind} at ${scenario.step}`
    it(`restore: ${what}: no failed read, no empty search, one generation as a whole`, () => run.run(scenario))
  }

  it('restore: a disk that is full leaves the old store served, and nothing behind', async (test) => {
    const disk = mkdtempSync(join(tmpdir(), 'mds-full-'))
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]).status !== 0) {
      rmSync(disk, { recursive: true })
      test.skip('no tmpfs can be mounted here: a restore onto a full disk is NOT TESTED')
      return
    }
    const backups = mkdtempSync(join(tmpdir(), 'mds-backups-'))
    try {
      const server = await startServer({ directory: join(disk, 'db'), env: { SVC_BACKUP_DIR: backups } })
      // Incompressible: 4 MB of them are 4 MB on the disk.
      const documents = Array.from({ length: 40 }, (_, at) => ({
        key: `k${at}`,
        lang: 'en',
        contentMd: `walrus ${randomBytes(50_000).toString('hex')}`,
      }))
      assert.equal((await server.post('/v1/add-batch', { collection: 'c', documents })).status, 200)
      assert.equal((await server.get('/v1/backup?to=full.db')).status, 200)
      const { bavail, bsize } = statfsSync(disk)
      // Room for less than the copy, for the copy but not for its index, and for all.
      for (const roomBytes of [1 << 20, 6 << 20]) {
        writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - roomBytes)))
        assert.equal((await server.post('/v1/restore', { from: 'full.db' })).status, 500, `${roomBytes} bytes are free`)
        rmSync(join(disk, 'ballast'))
        assert.equal((await server.post('/v1/get', { collection: 'c', key: 'k7', lang: 'en' })).status, 200)
        assert.equal((await server.post('/v1/fts', { collection: 'c', query: 'walrus' })).json<{ results: unknown[] }>().results.length, 40)
        assert.deepEqual(readdirSync(join(disk, 'db')).sort(), ['CURRENT', 'LOCK', 'backups', 'gen-000001'])
      }
      assert.equal(await server.stop(), 0, server.output())
    } finally {
      spawnSync('umount', [disk])
      rmSync(disk, { recursive: true })
      rmSync(backups, { recursive: true })
    }
  })

  it('restore: there was a load', (test) => {
    test.diagnostic(JSON.stringify(run.report))
    assert.ok(run.report.reads > SCENARIOS.length * 2 && run.report.writes > SCENARIOS.length)
  })
})
