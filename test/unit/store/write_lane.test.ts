/**
 * The write lane: who its entries say made them, whether a refused group leaves something behind, and how
 * much of the background work its end waits for.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ConsumerMaker } from '../../../src/consumers/consumer.js'
import type { Command } from '../../../src/domain/commands.js'
import { decideNewJob } from '../../../src/domain/jobs.js'
import { installTelemetry, Telemetry } from '../../../src/telemetry/registry.js'
import { BinlogConsumers } from '../../../src/worker/background/binlog_consumers.js'
import { eventMinutes } from '../../../src/worker/background/event_minutes.js'
import { purge } from '../../../src/worker/background/purge.js'
import { keyRotation } from '../../../src/worker/background/rotation.js'
import { StillClock } from '../../harness/chore_tools.js'
import { WriteLaneBench } from '../../harness/store/write_lane.js'

const telemetry = Telemetry.create([])
telemetry.claimRow()
installTelemetry(telemetry)
const folder = mkdtempSync(join(tmpdir(), 'mds-write-lane-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function settle(holds: () => boolean): Promise<void> {
  while (!holds()) await turn()
}

function newJob(bench: WriteLaneBench, kind: 'bulk' | 'rotation', id: string): Promise<void> {
  return bench.write((transaction) => {
    const fields = { status: kind === 'bulk' ? 'pending' : 'queued', left: [], begun: [], table: 0, from: null, primaryKeyID: 99 }
    for (const { entry } of decideNewJob(transaction, kind, id, fields, () => true)) transaction.apply(entry, undefined)
  })
}

describe('the write lane', () => {
  it('origin: every entry says who made it: request, expiry, import or upkeep, and the principal where there is one', async () => {
    const clock = new StillClock()
    const bench = new WriteLaneBench(folder, (of, enqueue) => [
      keyRotation({ lane: of.context, tools: { role: of.role, telemetry, clock }, enqueue }),
    ])
    let seen = 0n
    const made = (): (readonly unknown[])[] => {
      const entries = bench.entriesAfter(seen)
      seen = bench.lastLsn
      return entries.map((entry) => (entry.kind === 'shed' ? [] : [entry.kind, entry.origin, entry.actor]))
    }
    const add = { kind: 'add', collection: 'Blog' } as const
    await bench.commit({ ...add, document: bench.document('a', 10) }, 'anna')
    assert.deepEqual(made(), [['put', 'request', 'anna']])
    bench.now += 60
    await bench.commit({ ...add, document: bench.document('a') }, 'anna')
    assert.deepEqual(made(), [
      ['delete', 'expiry', null],
      ['put', 'request', 'anna'],
    ])
    const [docid = 0] = bench.store.read((view) => view.docidsFrom(1, 1, 1))
    const bodyLsn = bench.store.read((view) => view.headEvenExpired(1, docid)?.bodyLsn ?? 0n)
    const { body } = bench.document('a')
    const moves = [{ docid, bodyLsn, object: null, body: body.kind === 'new' ? body.record : null }]
    await bench.commit({ kind: 'move', collection: 1, moves })
    assert.deepEqual(made(), [['move', 'upkeep', null]])
    await bench.commit({ kind: 'submitIngest', id: 'bulk_1', collection: 'Blog', total: 1, callbackUrl: '', submitter: '' }, 'bert')
    assert.deepEqual(made(), [['job', 'request', 'bert']])
    const chunk = { kind: 'ingestChunk', id: 'bulk_1', collection: 'Blog', failed: 0, errors: [], isLast: false } as const
    await bench.commit({ ...chunk, documents: [bench.document('b')] }, 'bert')
    assert.deepEqual(made(), [
      ['put', 'import', 'bert'],
      ['job', 'import', 'bert'],
    ])
    await bench.lane.settleJobs()
    assert.deepEqual(made(), [['job', 'upkeep', null]])
    await newJob(bench, 'rotation', 'rot-1')
    made()
    await clock.advance(60_000)
    await settle(() => bench.lastLsn > seen)
    assert.deepEqual(made(), [['job', 'upkeep', null]])
    await bench.close()
  })

  it('role: what an earlier process has left is settled by a leader, not by a follower', async () => {
    const bench = new WriteLaneBench(folder)
    await newJob(bench, 'bulk', 'bulk_1')
    const before = bench.groups
    for (const role of ['follower', 'read_only'] as const) {
      bench.role.role = role
      await bench.lane.settleJobs()
    }
    assert.equal(bench.groups, before)
    bench.role.role = 'leader'
    await bench.lane.settleJobs()
    assert.deepEqual(
      bench.store.read((view) => view.jobs('bulk').map(({ fields }) => fields.status)),
      ['failed'],
    )
    await bench.close()
  })

  it('full disk: a consumer that a refused trim would have lost is not lost, and sees what is written after it', async () => {
    let isBehind = false
    const seen: bigint[] = []
    const maker: ConsumerMaker = () => ({
      name: 'counting',
      position: 'stored',
      writesUnasked: true,
      delayMs: 0,
      pauseMs: 0,
      next: (view, lsn) => {
        const entries = isBehind ? [] : view.binlog.entriesAfter(lsn, 10)
        return { lsn: entries.at(-1)?.lsn ?? lsn, isMore: false, change: () => void seen.push(...entries.map((entry) => entry.lsn)) }
      },
    })
    const clock = new StillClock()
    const bench = new WriteLaneBench(folder)
    const tools = { role: bench.role, telemetry, clock }
    const consumers = new BinlogConsumers({ lane: bench.context, tools, enqueue: bench.enqueue }, [maker])
    bench.readers = consumers
    consumers.start()
    for (let job = 1; job <= 3; job++) await newJob(bench, 'bulk', `bulk_${job}`)
    await clock.advance(10)
    await settle(() => consumers.floor === 3n)
    isBehind = true
    for (let job = 4; job <= 6; job++) await newJob(bench, 'bulk', `bulk_${job}`)
    const lost = telemetry.read().counters.binlog_consumers_lost
    bench.areGroupsRefused = true
    await bench.enqueue({
      onFullDisk: 'runs',
      weight: 1,
      run: (transaction) => {
        transaction.trimBinlog(0, 100)
        return false
      },
      answer: () => ({ body: '' }),
    })
    bench.areGroupsRefused = false
    assert.deepEqual([telemetry.read().counters.binlog_consumers_lost - lost, consumers.floor], [0, 3n])
    isBehind = false
    await newJob(bench, 'bulk', 'bulk_7')
    await clock.advance(10)
    await settle(() => consumers.floor === 7n)
    assert.deepEqual(seen, [1n, 2n, 3n, 4n, 5n, 6n, 7n])
    await consumers.stop()
    await bench.close()
  })

  it('what was prepared for an encrypted collection is refused once that is deleted, also where another has its name', async () => {
    const bench = new WriteLaneBench(folder)
    const prepared = { ...bench.document('a'), sealedIn: 7 }
    const replaces = { meta: false, contentMd: true }
    const base = { docid: 1, lsn: 1n }
    const commands: readonly Command[] = [
      { kind: 'add', collection: 'secret', document: prepared },
      { kind: 'update', collection: 'secret', key: 'a', lang: 'en', replaces, base, document: prepared },
      { kind: 'settings', collection: 'secret', sealedIn: 7, change: { kind: 'addStopWords', words: ['word'], refused: [] } },
    ]
    const codes = async (): Promise<readonly unknown[]> => {
      const answers: unknown[] = []
      for (const command of commands) answers.push((await bench.commit(command)).code)
      return answers
    }
    const refused = ['collectionChanged', 'collectionChanged', 'collectionChanged']
    assert.deepEqual(await codes(), refused)
    assert.equal(bench.lastLsn, 0n)
    await bench.commit({ kind: 'add', collection: 'secret', document: bench.document('a') })
    assert.deepEqual(await codes(), refused)
    assert.equal(bench.lastLsn, 1n)
    await bench.close()
  })

  it('end: it waits for one slice of a purge, and for one of the sweep of counts, not for all of them', async () => {
    const clock = new StillClock()
    const tools = { role: { role: 'leader' }, telemetry, clock } as const
    const bench = new WriteLaneBench(folder, ({ context: lane }, enqueue) => [
      purge({ lane, tools, enqueue }, () => 5),
      eventMinutes({ lane, tools, enqueue }),
    ])
    for (let key = 0; key < 30; key++) await bench.commit({ kind: 'add', collection: 'Old', document: bench.document(`${key}`) })
    await bench.commit({ kind: 'deleteCollection', collection: 'Old', endsGrants: true })
    const rows = (): number => bench.store.read((view) => view.retired().length)
    const before = bench.groups
    await clock.advance(1000)
    await settle(() => bench.groups >= before + 2)
    await bench.lane.close()
    assert.equal(rows(), 1, 'the rest is left to the next start')
    assert.ok(bench.groups <= before + 4, `${bench.groups - before} groups`)
    await bench.store.close()
  })
})
