/**
 * The files of the vector index when the server is killed while it writes them, and when they are damaged
 * between starts.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Random, runSeed } from '../../harness/random.js'
import { DamageRun, DAMAGES } from './vectors_damage.js'
import { runLostTail } from './vectors_lost_tail.js'
import { runRestore } from './vectors_restore.js'
import { type KillMoment, VectorRun } from './vectors_run.js'

const seed = runSeed()

it(`vectors: after kill -9 while files and graphs are written every document is found by its own vectors, and nothing else is, MDS_TEST_SEED=${seed}`, async (test) => {
  const random = new Random(seed)
  const moments: KillMoment[] = [
    { afterMs: 1500 },
    { file: '.rows', times: 1 + random.below(4) },
    { file: '.graph.tmp', times: 1 + random.below(3) },
    { afterMs: 200 + random.below(2000) },
    { file: '.rows', times: 1 + random.below(6) },
    { file: '.graph.tmp', times: 1 + random.below(6) },
  ]
  const run = await VectorRun.begin(seed)
  try {
    for (const moment of moments) {
      const server = await run.start()
      await run.verify(server)
      await run.killDuringLoad(server, moment)
    }
    const server = await run.start()
    await run.verify(server, true)
    assert.equal(await server.stop(), 0)
    test.diagnostic(JSON.stringify({ ...run.report, lines: run.report.lines.length }))
  } finally {
    await run.end()
  }
})

it('vectors: with SVC_DURABILITY=async a power cut loses writes, and vectors stored for them are never found, even when their LSNs are assigned again', async () => {
  const run = await VectorRun.begin(seed)
  try {
    await runLostTail(run)
  } finally {
    await run.end()
  }
})

it('vectors: while a store with many is restored every search by vectors is answered, and finds its document', async (test) => {
  const run = await VectorRun.begin(seed)
  try {
    test.diagnostic(`${await runRestore(run)} searches`)
  } finally {
    await run.end()
  }
})

describe('vectors: files that were damaged between two starts', () => {
  let run: DamageRun
  before(async () => {
    run = await DamageRun.begin()
  })
  after(() => run.end())

  for (const damage of DAMAGES) {
    it(`vectors: ${damage.name}: the server starts, logs its repair, and answers as before`, () => run.check(damage))
  }
})
