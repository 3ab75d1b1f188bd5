/**
 * A separate process that prepares a copied store to be served. It checks every record, resets the binlog and
 * builds the index. All of it is on disk when it exits with 0. Damaged LMDB pages can end the process that
 * reads them: this one, not the server. Its parent sends it the task, and it ends when the parent does, also
 * within a step: the next server removes the folder, and may prepare another store in one of the same name.
 * Started by src/worker/handlers/backup/restore_process.ts.
 */
import { join } from 'node:path'
import type { Config } from '../config/config.js'
import { rebuildPages } from '../consumers/rebuild.js'
import { analysisVersion } from '../domain/documents/analysis.js'
import { SettingsCache } from '../domain/settings/collection_settings.js'
import { endWithParent } from '../engine/parent_process.js'
import { joinBatch } from '../engine/search/index_batch.js'
import { checkTruth, openEngine, reserveLmdbLineBuffer } from '../engine/search/native_engine.js'
import { openSharedBodies } from '../engine/shared_bodies.js'
import { createAnalyzer } from '../engine/text/analyzer.js'
import type { SearchEngine } from '../engine/types.js'
import { openVectorEngine } from '../engine/vectors/vector_engine.js'
import { MIB } from '../limits/units.js'
import { policyOf } from '../outbound/destination.js'
import { ObjectStores } from '../outbound/object_stores.js'
import { Outbound } from '../outbound/safe_fetch.js'
import { checkEnvironment, resetBinlog } from '../store/backup/restored_env.js'
import * as sealing from '../store/collections/sealing_change.js'
import type { Environment } from '../store/environment.js'
import { openEnvironment } from '../store/environment.js'
import { TRUTH_FILE } from '../store/files/layout.js'
import { CorruptRecord } from '../store/rows/record.js'
import { keyringOf } from '../store/sealing/server_keyring.js'
import { TruthStore } from '../store/truth_store.js'
import { claimClockNote } from '../telemetry/log.js'
import { ObjectFetching } from '../worker/background/object_fetching.js'
import type { RestorePreparation } from '../worker/handlers/backup/restore_process.js'
import { beginSealing } from '../worker/lane/sealing.js'
import { giveLacking, lackingOf, VECTORS_FOLDER } from '../worker/lane/vector_index.js'

/**
 * Bytes of vectors that this process passes to its engine before it waits for their files. With their codes
 * and the index the process stays below a GB.
 */
const RESTORE_VECTOR_BYTES_UNSTORED = 256 * MIB

process.once('message', (preparation: RestorePreparation) => {
  prepare(preparation).then(
    () => process.exit(0),
    (error: unknown) => {
      process.send?.(reasonOf(error), undefined, undefined, () => process.exit(1))
    },
  )
})
// Where the system does not end this process with its parent.
process.once('disconnect', () => process.exit(1))

/** The parent puts `backup NAME is` in front of it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof CorruptRecord ? `damaged: ${error.message}` : error.message
}

async function prepare({ config, path, parent, servedLsn }: RestorePreparation): Promise<void> {
  endWithParent(parent)
  // The server that has started this process logs it.
  claimClockNote()
  reserveLmdbLineBuffer()
  const engine = openEngine()
  const keyring = keyringOf(config, engine)
  checkTruth(join(path, TRUTH_FILE))
  const environment = openEnvironment(path, keyring)
  requireKeys(environment)
  checkEnvironment(environment)
  resetBinlog(environment, servedLsn)
  await environment.root.flushed
  const store = new TruthStore(path, 0, keyring, openSharedBodies(config.limits))
  const sealed = beginSealing({ store, engine, vectorEngine: openVectorEngine() }, keyring)
  const history = await store.beginEpoch()
  await buildIndex({ config, engine, store }, path, history)
  storeVectors(store, path, history, new Set(sealed))
  store.endEpoch()
  await store.close()
}

/**
 * Checks the keys first, as a start does. The check of the records treats everything that cannot be decrypted
 * as damage, and nobody should discard a whole backup because a key was missing.
 */
function requireKeys(environment: Environment): void {
  try {
    sealing.beginSealing(environment)
  } catch (error) {
    if (!(error instanceof sealing.SealingRefused)) throw error
    throw new Error(`unreadable: ${error.message}`, { cause: error })
  }
}

interface Prepared {
  readonly config: Config
  readonly engine: SearchEngine
  readonly store: TruthStore
}

async function buildIndex({ config, engine, store }: Prepared, path: string, history: Uint8Array): Promise<void> {
  engine.open(join(path, 'index'), history, analysisVersion(config))
  // This process serves no requests and may wait for the network.
  const outbound = new Outbound(policyOf(config))
  const stores = new ObjectStores(outbound, openSharedBodies(config.limits))
  const fetching = new ObjectFetching({ store, settings: new SettingsCache(), fetchObjects: (objects) => stores.bringEach(objects) })
  const pages = rebuildPages({ config, store, engine, analyzer: createAnalyzer() }, { share: 0, shares: 1 })
  for (let step = pages.next(false); step.done !== true;) {
    const { damaged, lacking } = step.value
    if (damaged.length > 0) throw new Error(`not indexed: ${damaged.join('; ')}`)
    const isFetched = await fetching.obtain(lacking)
    for (const reason of fetching.lost.values()) throw new Error(`not indexed: ${reason}`)
    if (!isFetched && lacking.length > 0) throw new Error("not indexed: an object store can't be read")
    step = pages.next(isFetched)
  }
  await stores.close()
  const lastLsn = store.read((view) => view.storeCounters().lastLsn)
  // The checkpoint is that of the store, even if the last entries contained nothing to index.
  engine.publish(joinBatch([], lastLsn))
  engine.endRebuild()
  engine.flushedTo(lastLsn)
  engine.flush()
}

/**
 * Writes the files of all vectors that may be stored on disk, and their graphs. The data that the engine
 * holds in memory only is bounded by waiting for its files periodically. The interval grows with the size of
 * the files.
 */
function storeVectors(store: TruthStore, path: string, history: Uint8Array, sealed: ReadonlySet<number>): void {
  const vectors = openVectorEngine()
  vectors.open(join(path, VECTORS_FOLDER), history)
  const source = { store, vectors }
  const lacking = lackingOf(source)
  const clear = lacking.filter((_, at) => !sealed.has(lacking[at - (at % 2)] as number))
  let stored = 0
  let unstored = 0
  for (const given of giveLacking(source, clear)) {
    unstored += given
    if (unstored < Math.max(RESTORE_VECTOR_BYTES_UNSTORED, stored / 4)) continue
    vectors.settle()
    stored += unstored
    unstored = 0
  }
  vectors.settle()
  if (vectors.storageFailures() > 0) throw new Error("its vectors can't be stored")
}
