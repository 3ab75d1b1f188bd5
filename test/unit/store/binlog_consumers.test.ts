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
import { changeNotices } from '../../../src/consumers/change_notices.js'
import type { ConsumerMaker } from '../../../src/consumers/consumer.js'
import { Notices } from '../../../src/dispatch/notices.js'
import { decideNewJob } from '../../../src/domain/jobs.js'
import type { Role, RoleSource } from '../../../src/role.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { resetBinlog } from '../../../src/store/backup/restored_env.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import type { Writer } from '../../../src/store/writer.js'
import { installTelemetry, Telemetry } from '../../../src/telemetry/registry.js'
import { BinlogConsumers } from '../../../src/worker/background/binlog_consumers.js'
import type { GroupEffects, Work } from '../../../src/worker/commit/commit_work.js'
import type { CommitAnswer } from '../../../src/worker/request/handler.js'

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
  readonly store: TruthStore
  readonly #writer: Writer
  readonly noticed: string[][] = []
  consumers: BinlogConsumers | undefined
  /** Work that waits, as while the disk is full. */
  isFull: ((work: Work) => boolean) | undefined
  #id = 0

  constructor(readonly path = openDataDirectory(mkdtempSync(join(folder, 'store-'))).generationPath) {
    this.store = new TruthStore(path)
    this.#writer = this.store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    stores.push(this.store)
  }

  start(makers: readonly ConsumerMaker[], role: RoleSource = { role: 'leader' }): BinlogConsumers {
    const lane = {
      store: this.store,
      config: { limits: { CONSUMER_LAG_BYTES_MAX: 1000 } },
      notify: (topics: readonly string[]) => void this.noticed.push([...topics]),
    }
    const enqueue = async (work: Work): Promise<CommitAnswer> => {
      while (this.isFull?.(work) === true) await setImmediate()
      await this.write((transaction) => void work.run(transaction, {} as GroupEffects))
      return work.answer()
    }
    this.consumers = new BinlogConsumers({ lane, tools: { role, telemetry }, enqueue } as never, makers)
    this.consumers.start()
    return this.consumers
  }

  async write(change: (transaction: WriteTransaction) => void): Promise<void> {
    const before = this.lastLsn
    await this.#writer.group(() => 1_000, change)
    this.consumers?.onStored()
    if (this.lastLsn > before) this.consumers?.wake()
  }

  /** A group that the write lane takes back, because the disk is full. `change` changes nothing itself. */
  async undo(change: (transaction: WriteTransaction) => void): Promise<void> {
    await this.#writer.group(() => 1_000, change)
    this.consumers?.onUndone()
  }

  /** Trims all entries but the last, whatever consumers want, as a full disk makes the write lane do. */
  async trim(): Promise<void> {
    await this.write((transaction) => {
      transaction.trimBinlog(0, 100)
      this.consumers?.afterTrim(transaction, transaction.trimmedLsn)
    })
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
  assert.equal(telemetry.read().consumers[0], 10)
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
  const follower = lane.start([counting(counted)], { role: 'follower' })
  assert.equal(follower.floor, undefined)
  await follower.stop()
})

it('consumer: one that is too far behind is lost: counted, told, and it goes on with the last entry and stores that', async () => {
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
  await lane.write((transaction) => consumers.afterTrim(transaction, 10n))
  assert.equal(telemetry.read().counters.binlog_consumers_lost, before + 1)
  assert.deepEqual([isLost, lane.positionOf('counting'), consumers.floor], [true, 3n, 23n])
  isFailing = false
  consumers.wake()
  await until(() => lane.positionOf('counting') === 23n)
  await lane.addJobs(1)
  consumers.wake()
  await until(() => lane.positionOf('counting') === 24n)
  assert.deepEqual(counted, [1n, 2n, 3n, 24n])
  await consumers.stop()
})

it('consumer: none waits for the work of another one, nor for its failures, which are counted and come ever more seldom', async () => {
  const lane = new Lane()
  let isFull = true
  let tries = 0
  const counted: bigint[] = []
  const waited: bigint[] = []
  const waiting = counting(waited)
  const failing = counting([], 3, () => (tries++, true))
  // Only the work of this consumer has no space.
  lane.isFull = ({ weight }) => isFull && weight === 7
  const makers: readonly ConsumerMaker[] = [
    (tools) => ({ ...failing(tools), name: 'failing' }),
    (tools) => {
      const consumer = waiting(tools)
      return { ...consumer, name: 'waiting', next: (view, after) => ({ ...consumer.next(view, after), weight: 7 }) }
    },
    counting(counted),
  ]
  const failures = (): number => telemetry.read().chores.find(({ chore }) => chore === 'binlog-consumers')?.failures ?? 0
  const before = failures()
  const consumers = lane.start(makers)
  for (let commit = 1; commit <= 20; commit++) {
    await lane.addJobs(1)
    await until(() => lane.positionOf('counting') === BigInt(commit))
  }
  assert.deepEqual([counted.length, lane.positionOf('waiting')], [20, undefined])
  // Commits do not end the rest after a failure, of which eight take two minutes.
  assert.ok(tries >= 1 && tries < 8, `${tries} tries`)
  assert.equal(failures() - before, tries)
  isFull = false
  await until(() => lane.positionOf('waiting') === 20n)
  assert.deepEqual(waited, counted)
  await consumers.stop()
})

it('consumer: the loss of a group that was not stored has not happened, and what is written then is seen', async () => {
  const lane = new Lane()
  await lane.addJobs(3)
  let isFailing = false
  let losses = 0
  const counted: bigint[] = []
  const made = counting(counted, 3, () => isFailing)
  const consumers = lane.start([(tools) => ({ ...made(tools), onLost: () => void losses++ })])
  await until(() => lane.positionOf('counting') === 3n)
  isFailing = true
  await lane.addJobs(2)
  const before = telemetry.read().counters.binlog_consumers_lost
  await lane.undo((transaction) => consumers.afterTrim(transaction, 5n))
  await lane.write(() => undefined)
  assert.deepEqual([telemetry.read().counters.binlog_consumers_lost - before, losses, consumers.floor], [0, 0, 3n])
  isFailing = false
  await lane.addJobs(1)
  consumers.wake()
  await until(() => lane.positionOf('counting') === 6n)
  assert.deepEqual(counted, [1n, 2n, 3n, 4n, 5n, 6n])
  await consumers.stop()
})

it('consumer: a loss outlives the process until a position is stored, and a follower that becomes the leader notices it', async () => {
  const lane = new Lane()
  await lane.addJobs(3)
  let isFailing = false
  let losses = 0
  const counted: bigint[] = []
  const made = counting(counted, 3, () => isFailing)
  const maker: ConsumerMaker = (tools) => ({ ...made(tools), onLost: () => void losses++ })
  const before = telemetry.read().counters.binlog_consumers_lost
  const lost = (): number => telemetry.read().counters.binlog_consumers_lost - before
  const first = lane.start([maker])
  await until(() => lane.positionOf('counting') === 3n)
  isFailing = true
  await lane.addJobs(5)
  await lane.trim()
  assert.deepEqual([losses, lost(), lane.positionOf('counting')], [1, 1, 3n])
  await first.stop()
  // The next process has nothing but the store.
  isFailing = false
  const second = lane.start([maker])
  await until(() => lane.positionOf('counting') === 8n)
  assert.deepEqual([losses, lost(), counted], [2, 2, [1n, 2n, 3n]])
  await second.stop()
  const role: { role: Role } = { role: 'follower' }
  const third = lane.start([maker], role)
  await lane.addJobs(4)
  await lane.trim()
  assert.deepEqual([losses, lane.positionOf('counting')], [2, 8n])
  const rounds = (): number => telemetry.read().chores.find(({ chore }) => chore === 'binlog-consumers')?.rounds ?? 0
  const soFar = rounds()
  third.wake()
  await until(() => rounds() > soFar)
  // No commit follows.
  role.role = 'leader'
  await until(() => lane.positionOf('counting') === 12n)
  assert.deepEqual([losses, lost(), counted], [3, 3, [1n, 2n, 3n]])
  await third.stop()
})

it('consumer: the loss of one that has stored no position yet outlives the process, too', async () => {
  const lane = new Lane()
  let isFailing = true
  let losses = 0
  const counted: bigint[] = []
  const made = counting(counted, 3, () => isFailing)
  const maker: ConsumerMaker = (tools) => ({ ...made(tools), onLost: () => void losses++ })
  const first = lane.start([maker])
  await lane.addJobs(5)
  await lane.trim()
  assert.deepEqual([losses, lane.positionOf('counting')], [1, 0n])
  await first.stop()
  isFailing = false
  const second = lane.start([maker])
  await until(() => lane.positionOf('counting') === 5n)
  assert.deepEqual([losses, counted], [2, []])
  await second.stop()
})

it('consumer: a trim above a stored position stores it for one that has seen the entries: nothing is lost by a restart', async () => {
  const lane = new Lane()
  // Its position is not stored, because nothing concerned it.
  const idle: ConsumerMaker = () => ({
    name: 'idle',
    position: 'stored',
    writesUnasked: true,
    delayMs: 0,
    pauseMs: 0,
    next: (view, after) => ({ lsn: view.storeCounters().lastLsn, isMore: false, ...(after > 100n ? { change: () => undefined } : {}) }),
  })
  const before = telemetry.read().counters.binlog_consumers_lost
  const first = lane.start([idle])
  await lane.addJobs(6)
  await until(() => first.floor === 6n)
  assert.equal(lane.positionOf('idle'), undefined)
  await lane.trim()
  assert.equal(lane.positionOf('idle'), 6n)
  await first.stop()
  const second = lane.start([idle])
  assert.equal(second.floor, 6n)
  await lane.addJobs(1)
  await until(() => second.floor === 7n)
  assert.equal(telemetry.read().counters.binlog_consumers_lost, before)
  await second.stop()
})

it('consumer: a new one has lost nothing and begins where it says: with the oldest entry that is there, or after the last one', async () => {
  const lane = new Lane()
  await lane.addJobs(6)
  await lane.trim()
  const oldest: bigint[] = []
  const last: bigint[] = []
  const made = counting(last)
  const before = telemetry.read().counters.binlog_consumers_lost
  const consumers = lane.start([counting(oldest), (tools) => ({ ...made(tools), name: 'last', begins: 'last' })])
  await until(() => lane.positionOf('counting') === 6n && lane.positionOf('last') === 6n)
  await lane.addJobs(1)
  await until(() => lane.positionOf('counting') === 7n && lane.positionOf('last') === 7n)
  assert.deepEqual([oldest, last], [[6n, 7n], [7n]])
  assert.equal(telemetry.read().counters.binlog_consumers_lost, before)
  await consumers.stop()
})

it('consumer: all are new in a restored store, and none is lost in it', async () => {
  const lane = new Lane()
  const before = telemetry.read().counters.binlog_consumers_lost
  const first = lane.start([counting([])])
  await lane.addJobs(3)
  await until(() => lane.positionOf('counting') === 3n)
  await first.stop()
  await lane.addJobs(3)
  await stores.pop()?.close()
  const environment = openEnvironment(lane.path)
  resetBinlog(environment)
  await environment.root.close()
  const restored = new Lane(lane.path)
  assert.equal(restored.positionOf('counting'), undefined)
  const counted: bigint[] = []
  const second = restored.start([counting(counted)])
  await restored.addJobs(1)
  // Not 7: that LSN was assigned to another entry.
  const next = 2n ** 32n + 1n
  await until(() => restored.positionOf('counting') === next)
  assert.deepEqual([counted, telemetry.read().counters.binlog_consumers_lost], [[next], before])
  await second.stop()
})

it('notices: those that were trimmed before they were sent are replaced by the one that says to read everything', async () => {
  const lane = new Lane()
  const notices = changeNotices({
    notify: (topics) => void lane.noticed.push([...topics]),
    isFeedWatched: () => false,
    backlogMax: { ofHook: 0, ofAll: 0 },
  })
  lane.store.read((view) => notices.next(view, 0n))
  await lane.addJobs(3)
  await lane.trim()
  lane.noticed.length = 0
  lane.store.read((view) => notices.next(view, 0n))
  lane.store.read((view) => notices.next(view, 2n))
  assert.deepEqual(lane.noticed, [['job/bulk', 'store'], ['job/bulk']])
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
