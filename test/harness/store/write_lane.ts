/**
 * The write lane over a store of the test, with a clock that the test sets. A group can be refused as by a
 * full disk: it is written and taken back. The guard of the disk's space is played.
 */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { ABORT } from 'lmdb'
import { loadConfig } from '../../../src/config/config.js'
import { type Command, decodeCommand, encodeCommand, type PreparedDocument } from '../../../src/domain/commands.js'
import { SettingsCache } from '../../../src/domain/settings/collection_settings.js'
import { prepareDocument } from '../../../src/domain/writes/preparation.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import { openSharedBodies } from '../../../src/engine/shared_bodies.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { openVectorEngine } from '../../../src/engine/vectors/vector_engine.js'
import type { Role } from '../../../src/role.js'
import type { Service } from '../../../src/services.js'
import { WriteTransaction } from '../../../src/store/apply.js'
import type { StoredEntry } from '../../../src/store/entries/entry.js'
import type { Environment } from '../../../src/store/environment.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { NoSpace } from '../../../src/store/writer.js'
import type { Enqueue } from '../../../src/worker/background/lane_work.js'
import { type BinlogReaders, createWriteLane, type SpaceListener } from '../../../src/worker/commit/write_lane.js'
import type { CommitAnswer, LaneContext, WriteLane } from '../../../src/worker/request/handler.js'

export class WriteLaneBench {
  readonly role: { role: Role } = { role: 'leader' }
  readonly store: TruthStore
  readonly context: LaneContext
  readonly lane: WriteLane & SpaceListener
  readonly enqueue: Enqueue
  /** Unix seconds. */
  now = 1_000
  /** What a full disk does to the groups that follow. */
  areGroupsRefused = false
  groups = 0
  readers: BinlogReaders | undefined
  #environment: Environment | undefined

  /** @param folder of the test, which removes it @param chores of the lane */
  constructor(folder: string, chores: (bench: WriteLaneBench, enqueue: Enqueue) => readonly Service[] = () => []) {
    this.store = new TruthStore(openDataDirectory(mkdtempSync(join(folder, 'store-'))).generationPath)
    const config = loadConfig([], {})
    const context = {
      config,
      store: this.store,
      settings: new SettingsCache(),
      sharedBodies: openSharedBodies(config.limits),
      engine: openEngine(),
      vectorEngine: openVectorEngine(),
      analyzer: createAnalyzer(),
      notify: () => undefined,
    }
    this.context = context as unknown as LaneContext
    const writer = this.store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    const group = <T>(_: unknown, change: (transaction: WriteTransaction) => T): Promise<T> => {
      this.groups++
      if (this.areGroupsRefused) this.#refuse(change)
      return writer.group(
        () => this.now,
        (transaction) => {
          this.#environment = transaction.environment
          return change(transaction)
        },
      )
    }
    const space = { isFull: false, rowsMax: 100, admits: () => true, reclaimSpace: () => undefined, onRefused: () => undefined, stop: () => undefined } // prettier-ignore
    let enqueue: Enqueue | undefined
    this.lane = createWriteLane(this.context, {
      writer: { group, isDurable: true, flushed: () => writer.flushed() } as never,
      space: space as never,
      role: this.role,
      readers: () => this.readers,
      chores: (given) => {
        enqueue = given
        return chores(this, given)
      },
      onIndexFailure: (error) => assert.fail(error as Error),
      onVectorFailure: (error) => assert.fail(error as Error),
      onPublished: () => undefined,
      onCommitted: () => undefined,
      onAccessChanged: () => undefined,
      onSessionsEnded: () => undefined,
      onQueueDepth: () => undefined,
    })
    this.enqueue = enqueue ?? assert.fail()
  }

  /** @throws NoSpace */
  #refuse(change: (transaction: WriteTransaction) => unknown): never {
    const environment = this.#environment ?? assert.fail('the first group is written')
    environment.root.transactionSync(() => {
      const transaction = new WriteTransaction(environment, this.now)
      change(transaction)
      transaction.finish()
      return ABORT
    })
    throw new NoSpace('the disk of the test is full')
  }

  /** @returns the answer of the lane */
  async commit(command: Command, actor = ''): Promise<CommitAnswer> {
    return await new Promise((reply) => void this.lane.commit([{ command: decodeCommand(encodeCommand(command)), bytes: 0, actor, reply }]))
  }

  /** One group. */
  async write(change: (transaction: WriteTransaction) => void): Promise<void> {
    const run = (transaction: WriteTransaction): boolean => (change(transaction), false)
    await this.enqueue({ onFullDisk: 'runs', weight: 1, run, answer: () => ({ body: '' }) })
  }

  document(key: string, ttl: number | null = null): PreparedDocument {
    const rules = { settingsLsn: 0n, schema: undefined }
    const input = { key, lang: 'en', meta: {}, rules, contentMd: `text of ${key}`, ttl, saveRevision: true, answered: false } // prettier-ignore
    return prepareDocument(this.context, input)
  }

  entriesAfter(lsn: bigint): StoredEntry[] {
    return this.store.read((view) => view.binlog.entriesAfter(lsn, 1000))
  }

  get lastLsn(): bigint {
    return this.store.read((view) => view.storeCounters().lastLsn)
  }

  async close(): Promise<void> {
    await this.lane.close()
    await this.store.close()
  }
}
