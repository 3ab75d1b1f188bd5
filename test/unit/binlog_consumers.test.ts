/**
 * Consumers of the binlog. A consumer is a maker in a list. Commits wake it, its position is stored with its
 * work, and it retains the binlog up to a bound and is lost beyond it. Also: change notices reach every
 * watcher.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { changeNotices } from '../../src/consumers/change_notices.js'
import type { ConsumerMaker } from '../../src/consumers/consumer.js'
import { Notices } from '../../src/dispatch/notices.js'
import { decideNewJob } from '../../src/domain/jobs.js'
import type { WriteTransaction } from '../../src/store/apply.js'
import { openDataDirectory } from '../../src/store/layout.js'
import { TruthStore } from '../../src/store/truth_store.js'
import { installTelemetry, Telemetry } from '../../src/telemetry/registry.js'
import { BinlogConsumers } from '../../src/worker/background/binlog_consumers.js'
import type { GroupEffects, Work } from '../../src/worker/commit/commit_work.js'

const telemetry = Telemetry.create([])
telemetry.claimRow()
installTelemetry(telemetry)
const folder = mkdtempSync(join(tmpdir(), 'mds-consumers-'))
const stores: TruthStore[] = []
after(async () => {
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A store with a minimal write lane: a consumer's work is a separate group, and a commit wakes consumers. */
class Lane {
  readonly store = new TruthStore(openDataDirectory(mkdtempSync(join(folder, 'store-'))).generationPath)
  readonly #writer = this.store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  readonly noticed: string[][] = []
  consumers: BinlogConsumers | undefined
  #id = 0

  constructor() {
    stores.push(this.store)
  }

  start(makers: readonly ConsumerMaker[], role: 'leader' | 'follower' = 'leader'): BinlogConsumers {
    const lane = {
      store: this.store,
      config: { limits: { CONSUMER_LAG_BYTES_MAX: 1000 } },
      notify: (topics: readonly string[]) => void this.noticed.push([...topics]),
    }
    const enqueue = (work: Work): Promise<unknown> => this.write((transaction) => void work.run(transaction, {} as GroupEffects))
    this.consumers = new BinlogConsumers({ lane, tools: { role: { role }, telemetry }, enqueue } as never, makers)
    this.consumers.start()
    return this.consumers
  }

  async write(change: (transaction: WriteTransaction) => void): Promise<void> {
    const before = this.lastLsn
    await this.#writer.group(() => 1_000, change)
    if (this.lastLsn > before) this.consumers?.wake()
  }

  /** Adds one entry per job. */
  async addJobs(count: number): Promise<void> {
    await this.write((transaction) => {
      for (let job = 0; job < count; job++) {
        const fields = { status: 'running', text: 'x'.repeat(100) }
        for (const { entry } of decideNewJob(transaction, 'bulk', `bulk_${this.#id++}`, fields, () => true))
          transaction.apply(entry, undefined)
      }
    })
  }

  get lastLsn(): bigint {
    return this.store.read((view) => view.storeCounters().lastLsn)
  }

  positionOf(name: string): bigint | undefined {
    return this.store.read((view) => view.binlog.positionOf(name))
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate()
}

/** A consumer that counts jobs, `slice` entries at a time, and stores its position with each slice. */
function counting(counted: bigint[], slice = 3, fails = (): boolean => false): ConsumerMaker {
  return () => ({
    name: 'counting',
    position: 'stored',
    writesUnasked: true,
    delayMs: 0,
    pauseMs: 0,
    next: (view, after) => {
      if (fails()) throw new Error('not now')
      const entries = view.binlog.entriesAfter(after, slice)
      const change = (): void => void counted.push(...entries.map(({ lsn }) => lsn))
      return { lsn: entries.at(-1)?.lsn ?? after, isMore: entries.length === slice, ...(entries.length === 0 ? {} : { change }) }
    },
  })
}

it('consumer: one that is in the list sees every entry once and in order, over a restart, and its position is stored', async () => {
  const lane = new Lane()
  await lane.addJobs(4)
  const counted: bigint[] = []
  const first = lane.start([counting(counted)])
  await until(() => lane.positionOf('counting') === 4n)
  await lane.addJobs(5)
  await until(() => lane.positionOf('counting') === 9n)
  await first.stop()
  await lane.addJobs(1)
  const second = lane.start([counting(counted)])
  await until(() => lane.positionOf('counting') === 10n)
  assert.deepEqual(counted, [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n])
  assert.deepEqual(
    lane.store.read((view) => view.binlog.positions()),
    [['counting', 10n]],
  )
  await second.stop()
})

it('consumer: the binlog keeps entries that it has not seen, and keeps none if it may not run', async () => {
  const lane = new Lane()
  await lane.addJobs(6)
  let isFailing = true
  const counted: bigint[] = []
  const consumers = lane.start([counting(counted, 3, () => isFailing)])
  assert.equal(consumers.floor, 0n)
  await lane.write((transaction) => void transaction.trimBinlog(0, 100, undefined, consumers.floor))
  assert.equal(
    lane.store.read((view) => view.storeCounters().trimmedLsn),
    0n,
  )
  isFailing = false
  consumers.wake()
  await until(() => consumers.floor === 6n)
  await lane.write((transaction) => void transaction.trimBinlog(0, 100, undefined, consumers.floor))
  assert.equal(
    lane.store.read((view) => view.storeCounters().trimmedLsn),
    5n,
  )
  await consumers.stop()
  const follower = lane.start([counting(counted)], 'follower')
  assert.equal(follower.floor, undefined)
  await follower.stop()
})

it('consumer: one that is too far behind is lost: counted, its position dropped, and it goes on with the last entry', async () => {
  const lane = new Lane()
  await lane.addJobs(3)
  let isFailing = false
  let isLost = false
  const counted: bigint[] = []
  const made = counting(counted, 3, () => isFailing)
  const consumers = lane.start([(tools) => ({ ...made(tools), onLost: () => (isLost = true) })])
  await until(() => lane.positionOf('counting') === 3n)
  isFailing = true
  await lane.addJobs(20)
  const before = telemetry.read().counters.binlog_consumers_lost
  await lane.write((transaction) => consumers.loseBelow(transaction, 10n))
  assert.equal(telemetry.read().counters.binlog_consumers_lost, before + 1)
  assert.deepEqual([isLost, lane.positionOf('counting'), consumers.floor], [true, undefined, 23n])
  isFailing = false
  await lane.addJobs(1)
  consumers.wake()
  await until(() => lane.positionOf('counting') === 24n)
  assert.deepEqual(counted, [1n, 2n, 3n, 24n])
  await consumers.stop()
})

it('consumer: a position that packing stored before it was a consumer is its own, until it stores another', async () => {
  const lane = new Lane()
  await lane.write((transaction) => {
    const row = Buffer.alloc(8)
    row.writeBigUInt64BE(7n)
    transaction.environment.settings.put(Buffer.from('packed'), row)
  })
  assert.equal(lane.positionOf('revision-packing'), 7n)
  assert.deepEqual(
    lane.store.read((view) => view.binlog.positions()),
    [['revision-packing', 7n]],
  )
  await lane.write((transaction) => transaction.setPosition('revision-packing', 9n))
  assert.equal(lane.positionOf('revision-packing'), 9n)
  await lane.write((transaction) => transaction.dropPosition('revision-packing'))
  assert.equal(lane.positionOf('revision-packing'), undefined)
})

it('notices: each watcher of a topic is notified of a change, once for several changes, and a new lane reports that the store may have changed', async () => {
  const lane = new Lane()
  const consumers = lane.start([changeNotices])
  await until(() => lane.noticed.length === 1)
  assert.deepEqual(lane.noticed, [['store']])
  await lane.addJobs(3)
  await until(() => lane.noticed.length === 2)
  assert.deepEqual(lane.noticed[1], ['job/bulk'])
  assert.equal(consumers.floor, undefined, 'notices keep nothing')
  await consumers.stop()

  const notices = new Notices()
  let runs = 0
  const run = (): void => void runs++
  notices.on('job/bulk', run)
  notices.on('sealing', run)
  notices.emit(['move', 'drop'])
  assert.equal(runs, 0)
  notices.emit(['job/bulk', 'sealing'])
  assert.equal(runs, 1)
})
