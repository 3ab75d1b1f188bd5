/**
 * Opens and closes a lane: store, engine and analyzer of this thread, and on the write lane the writer and
 * its queue. Read lanes also share the rebuild of the index, which runs between the requests that they
 * already serve.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { DocumentSource } from '../../base/document_source.js'
import { Chore, type ChoreTools } from '../../chore.js'
import { RightsCache } from '../../domain/access/rights_cache.js'
import { KnownCollections } from '../../domain/collections/known_collections.js'
import { analysisVersion } from '../../domain/documents/analysis.js'
import { Autocompleter } from '../../domain/fulltext/autocomplete.js'
import { KnownPlans } from '../../domain/fulltext/known_plans.js'
import { RelatedTerms } from '../../domain/fulltext/related_terms.js'
import { TermVectors } from '../../domain/search/term_vectors.js'
import { SettingsCache } from '../../domain/settings/collection_settings.js'
import { Corrector } from '../../domain/spell/corrector.js'
import { SurfaceWords } from '../../domain/words/surface_words.js'
import { openDocuments } from '../../engine/document_reader.js'
import { checkTruth, openEngine, reserveLmdbLineBuffer } from '../../engine/search/native_engine.js'
import { openSharedBodies } from '../../engine/shared_bodies.js'
import { createAnalyzer } from '../../engine/text/analyzer.js'
import { createChunker } from '../../engine/text/chunker.js'
import type { Analyzer } from '../../engine/types.js'
import { openVectorEngine } from '../../engine/vectors/vector_engine.js'
import type { VectorTuning } from '../../engine/vectors/vector_types.js'
import { PURGE_ROWS_MAX, TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../../limits/store.js'
import { MIB } from '../../limits/units.js'
import { DiskSpace } from '../../store/files/disk_space.js'
import { currentGeneration, generationPath, restoreAdvice, TRUTH_FILE } from '../../store/files/layout.js'
import { instanceOf } from '../../store/objects.js'
import { scrub } from '../../store/resealing/scrubbing.js'
import { ByteWriter } from '../../store/rows/byte_writer.js'
import type { Keyring } from '../../store/sealing/keyring.js'
import { keyringOf } from '../../store/sealing/server_keyring.js'
import { TruthStore } from '../../store/truth_store.js'
import { DISK_FULL_VARIABLE, PAGES_DOUBTED_VARIABLE } from '../../supervisor.js'
import { AccessRings } from '../../telemetry/access_rings.js'
import { log } from '../../telemetry/log.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import { SearchCounts } from '../../telemetry/search_counts.js'
import { ControlBlock } from '../../wire/control_block.js'
import { EmbeddingBlock } from '../../wire/embedding_block.js'
import type { LaneStart } from '../../wire/messages/lane_start.js'
import { BinlogConsumers } from '../background/binlog_consumers.js'
import { laneChores } from '../background/chores.js'
import { MemoryEnds } from '../background/memory_ends.js'
import { SpaceGuard } from '../commit/space_guard.js'
import { createWriteLane, type SpaceListener } from '../commit/write_lane.js'
import type { LaneContext, WriteLane } from '../request/handler.js'
import { vectorCacheOf } from '../request/vector_cache.js'
import { buildShare, describe, openIndex, rebuildStaleIndex } from './lane_index.js'
import type { NextGeneration, OpenLane } from './open_lane.js'
import { readOnlyLane } from './read_only_lane.js'
import { beginSealing } from './sealing.js'
import { beginLoading, giveLacking, lackingOf, logDamage, openVectors, VECTORS_FOLDER } from './vector_index.js'

/**
 * While the disk refuses the index, writes that fit into the truth env are accepted until this much of the
 * index is only in memory. A start replays it.
 */
const INDEX_NOT_STORED_BYTES_MAX = 16 * MIB
/**
 * Bytes of term vectors that all read lanes together cache, for documents that were highlighted twice: 4 to
 * 5 KB for a document of 8 KB.
 */
const TERM_VECTORS_BYTES_MAX = 64 * MIB
/**
 * JSON of documents that all read lanes together cache: 12 000 of 5 KB, the first pages of some hundred
 * listings.
 */
const DOCUMENT_CACHE_BYTES_MAX = 64 * MIB

/** The lane's calls to the front end. */
type FrontEnd = Pick<LaneContext, 'fetchObjects' | 'notify'>

/**
 * @param onFatal called once with the reason why the process must not continue; nothing may be acknowledged
 * afterwards
 * @param front the channel to the front end
 */
export async function openLane(start: LaneStart, onFatal: (reason: string) => void, front: FrontEnd): Promise<OpenLane> {
  const control = new ControlBlock(start.control)
  // A rebuild reads the store between requests and must stop before the store is closed.
  const end = new AbortController()
  // The lanes start in parallel, but the write lane opens the store first: on a first start it creates the
  // store, and it decides whether the index is used or rebuilt.
  if (start.kind === 'write') prepareTruth(currentGeneration(start.config.path), start.isReadOnly)
  else await control.storeAnnounced()
  const generation = currentGeneration(start.config.path)
  const keyring = keyringOf(start.config, openEngine())
  // Point reads need no analyzer.
  const context = contextOf(start, await openScrubbed(start, generation, keyring), createAnalyzer(undefined, start.kind === 'point'), front)
  if (start.kind === 'write') {
    beginSealing(context, keyring)
    const history = start.isReadOnly ? context.store.history() : await context.store.beginEpoch()
    await openIndex(context, history, { control, onFatal, end: end.signal })
    if (!start.isReadOnly) openVectors(context.vectorEngine, generation, history)
    beginLoading(context, control, onFatal, end.signal)
  }
  const indexed = start.kind === 'read' && control.rebuildWanted ? buildShare(context, control, end.signal) : Promise.resolve()
  const lane = laneOf(start, context, { generation: basename(generation), control, indexed, end }, onFatal)
  if (lane.writeLane !== undefined) {
    await lane.writeLane.settleJobs()
    control.announceStore()
  }
  return lane
}

/**
 * Runs before LMDB maps the file: damaged pages would end the process without an error message.
 * @throws Error that states what is damaged and what to do
 */
function prepareTruth(generation: string, isReadOnly: boolean): void {
  reserveLmdbLineBuffer()
  const path = join(generation, TRUTH_FILE)
  // A file that LMDB cannot open ends the process inside lmdb-js (3.5.6).
  for (const name of [path, `${path}-lock`]) if (existsSync(name)) closeSync(openSync(name, isReadOnly ? 'r' : 'r+'))
  const signal = process.env[PAGES_DOUBTED_VARIABLE]
  if (signal !== undefined) log.warn('checking every page before opening: a damaged page may have ended the server', { signal })
  let isSettled: boolean
  try {
    isSettled = checkTruth(path, signal !== undefined)
  } catch (error) {
    throw new Error(`${generation} is damaged: ${describe(error)}; ${restoreAdvice(generation)}`, { cause: error })
  }
  if (isReadOnly && !isSettled)
    throw new Error(`${path} was not closed cleanly: the machine went down while it was written; start it once where it can be written`)
}

function openStore({ kind, config, isReadOnly }: LaneStart, generation: string, keyring: Keyring): TruthStore {
  const cacheBytesMax = kind === 'read' ? DOCUMENT_CACHE_BYTES_MAX / config.readLanes : 0
  // What is read to check the reader is not counted.
  let isOpen = false
  const onRead = (documents: number): void => {
    if (isOpen) threadTelemetry().add('documents_read_natively', documents)
  }
  const shape = { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX }
  const openSource = (path: string): DocumentSource => openDocuments(path, shape, onRead)
  const store = new TruthStore(generation, cacheBytesMax, keyring, openSharedBodies(config.limits), isReadOnly, openSource)
  isOpen = true
  return store
}

/** The write lane opens the store first. It rewrites the store if a rotation requested that. */
async function openScrubbed(start: LaneStart, generation: string, keyring: Keyring): Promise<TruthStore> {
  const store = openStore(start, generation, keyring)
  if (start.kind !== 'write' || start.isReadOnly || !store.read((view) => view.isScrubWanted())) return store
  await store.close()
  log.info(await scrub(generation))
  return openStore(start, generation, keyring)
}

function vectorTuning({ vectorBqRerankFactor, vectorParallelWorkers, vectorParallelMinSize }: LaneStart['config']): VectorTuning {
  return { bqRerankFactor: vectorBqRerankFactor, workers: vectorParallelWorkers, parallelMinSize: vectorParallelMinSize }
}

/** All caches of a lane belong to one store and are created again with it. */
function contextOf(start: LaneStart, store: TruthStore, analyzer: Analyzer, front: FrontEnd): LaneContext {
  const surfaces = new SurfaceWords()
  const sharedBodies = openSharedBodies(start.config.limits)
  const control = new ControlBlock(start.control)
  const settings = new SettingsCache()
  let instance: Buffer | undefined
  return {
    config: start.config,
    store,
    settings,
    collections: new KnownCollections(store, settings, control),
    rights: new RightsCache(control, start.config.authAdminUsername),
    completer: new Autocompleter(surfaces),
    corrector: new Corrector(surfaces),
    engine: openEngine(),
    sharedBodies,
    vectorCache: vectorCacheOf(sharedBodies),
    instance: () => (instance ??= instanceOf(resolve(start.config.path))),
    analyzer,
    related: new RelatedTerms(),
    plans: new KnownPlans(),
    vectorEngine: openVectorEngine(vectorTuning(start.config)),
    areVectorsReady: () => !control.vectorsLoading,
    embeddingDepth: () => control.embeddingDepth,
    chunker: createChunker(),
    embedding: new EmbeddingBlock(start.embedding),
    termVectors: new TermVectors(start.kind === 'read' ? TERM_VECTORS_BYTES_MAX / start.config.readLanes : 0),
    accesses: start.accesses === null ? undefined : new AccessRings(start.accesses, threadTelemetry().row),
    searches: start.searches === null ? undefined : new SearchCounts(start.searches, threadTelemetry().row),
    isReadOnly: start.isReadOnly,
    fetchObjects: front.fetchObjects,
    notify: front.notify,
    isFeedWatched: () => control.isFeedWatched,
    out: new ByteWriter(),
  }
}

interface LaneParts {
  readonly generation: string
  readonly control: ControlBlock
  readonly indexed: Promise<void>
  readonly end: AbortController
}

function laneOf(
  { kind }: LaneStart,
  context: LaneContext,
  { generation, control, indexed, end }: LaneParts,
  onFatal: (reason: string) => void,
): OpenLane {
  const writeLane = kind === 'write' ? openWriteLane(context, control, onFatal, end.signal) : undefined
  const close = async (): Promise<void> => {
    end.abort()
    if (writeLane !== undefined) await closeWriteLane(context, writeLane)
    await context.store.close()
  }
  const settle = async (): Promise<void> => {
    end.abort()
    await writeLane?.close()
  }
  return { context, generation, indexed, close, settle, ...(writeLane === undefined ? {} : { writeLane }) }
}

/**
 * Opens a generation prepared by a restore, beside the one that is served.
 * @throws Error if it cannot be served
 */
export async function openNextGeneration(start: LaneStart, generation: string): Promise<NextGeneration> {
  const path = generationPath(start.config.path, generation)
  const engine = openEngine()
  const keyring = keyringOf(start.config, engine)
  const store = openStore(start, path, keyring)
  if (start.kind === 'write') {
    // The next index takes its keys and sealed collections from the present one. A collection that is sealed
    // in one of the stores is then sealed in both indexes. This is safe, because both indexes have the same
    // keys.
    const sealed = beginSealing({ store, engine }, keyring)
    store.noteAdoption()
    const history = await store.beginEpoch()
    const { checkpoint, damage } = engine.openNext(join(path, 'index'), history, analysisVersion(start.config))
    const lastLsn = store.read((view) => view.storeCounters().lastLsn)
    if (damage.length > 0 || checkpoint !== lastLsn)
      throw new Error(`its index is at ${checkpoint}, the store at ${lastLsn}${damage.length > 0 ? `; ${damage.join('; ')}` : ''}`)
    await openNextVectors(store, join(path, VECTORS_FOLDER), history, sealed)
  }
  return { generation, store }
}

/**
 * Vectors missing from its files, such as those of sealed collections, are loaded between the groups of the
 * lane, so that the engine is complete when it is adopted.
 */
async function openNextVectors(store: TruthStore, directory: string, history: Uint8Array, sealed: readonly number[]): Promise<void> {
  const vectorEngine = openVectorEngine()
  logDamage(vectorEngine.openNext(directory, history, sealed))
  const source = { store, vectors: vectorEngine.next }
  for (const given of giveLacking(source, lackingOf(source))) if (given > 0) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Drops the next generation, which is not to be served after all. */
export async function dropNextGeneration(start: LaneStart, { store }: NextGeneration): Promise<void> {
  if (start.kind === 'write') {
    openEngine().dropNext()
    openVectorEngine().dropNext()
  }
  await store.close()
}

/**
 * Switches the lane to the next generation. No lane runs requests meanwhile. The background work of the write
 * lane is finished first.
 * @throws Error after which the process must not continue
 */
export async function adoptNextGeneration(
  start: LaneStart,
  lane: OpenLane,
  { generation, store }: NextGeneration,
  onFatal: (reason: string) => void,
): Promise<OpenLane> {
  const control = new ControlBlock(start.control)
  await lane.settle()
  const context = contextOf(start, store, lane.context.analyzer, lane.context)
  if (start.kind === 'write') {
    const lastLsn = store.read((view) => view.storeCounters().lastLsn)
    context.engine.adoptNext()
    // The in-memory bodies belong to the store that was replaced.
    context.sharedBodies.clear()
    context.engine.flushedTo(lastLsn)
    // An empty index reports that it is being built. Nothing is missing from it.
    if (lastLsn === 0n) context.engine.endRebuild()
    control.indexStale = false
    control.writesLost = false
  }
  const end = new AbortController()
  if (start.kind === 'write') {
    context.vectorEngine.adoptNext()
    // All vectors were loaded when it was opened, and nothing was written since.
    control.vectorsLoading = false
  }
  const next = laneOf(start, context, { generation, control, indexed: Promise.resolve(), end }, onFatal)
  await next.writeLane?.settleJobs()
  await lane.context.store.close()
  return next
}

function openWriteLane(context: LaneContext, control: ControlBlock, onFatal: (reason: string) => void, end: AbortSignal): WriteLane {
  if (context.isReadOnly) return readOnlyLane()
  const { durability, temporal } = context.config
  const disk = diskOf(context)
  const writer = context.store.openWriter({
    durability,
    tracksHistory: temporal,
    space: disk,
    onCommit: (isRunning) => control.setCommitting(isRunning),
    onFailure: (failure) => {
      if (disk.isCauseOf(failure.cause)) control.diskFull = true
      onFatal(describe(failure))
    },
  })
  const tools: ChoreTools = { role: control, telemetry: threadTelemetry() }
  const space = guardSpace(context, disk, control, tools, () => lane)
  let consumers: BinlogConsumers | undefined
  let ends: MemoryEnds | undefined
  let woken: readonly Pick<Chore, 'noteCommit'>[] = []
  const lane: WriteLane & SpaceListener = createWriteLane(context, {
    role: control,
    writer,
    space,
    readers: () => consumers,
    chores: (enqueue) => {
      const parts = { lane: context, tools, enqueue }
      consumers = new BinlogConsumers(parts)
      const isIndexBuilding = (): boolean =>
        control.indexStale || (control.rebuildWanted && control.rebuiltShares < context.config.readLanes)
      ends = new MemoryEnds(parts, isIndexBuilding)
      const chores = laneChores({
        ...parts,
        purgeRowsMax: () => space.rowsMax ?? PURGE_ROWS_MAX,
        isIndexBuilding,
        memoryEnds: ends,
        onFindings: (count) => (control.findings = count),
        onFatal,
      })
      woken = chores.filter((chore): chore is Chore => chore instanceof Chore && chore.isWokenByCommits)
      return [...chores, consumers]
    },
    onVectorFailure: (error) => {
      log.error('the vector engine refused a batch; missing vectors are reloaded', { reason: error })
      beginLoading(context, control, onFatal, end)
    },
    onIndexFailure: (error) => void rebuildStaleIndex(context, { control, onFatal, end, note: () => lane.noteUnindexed() }, error),
    onPublished: () => control.countPublished(),
    onSessionsEnded: (ids) => ends?.note(ids),
    onCommitted: () => {
      const now = performance.now()
      for (const chore of woken) chore.noteCommit(now)
      space.noteCommit()
    },
    onAccessChanged: () => control.raiseAccessEpoch(),
    onQueueDepth: (depth) => (control.embeddingDepth = depth),
  })
  return lane
}

function diskOf({ config }: LaneContext): DiskSpace {
  return new DiskSpace(config.path, config.diskReserveBytes)
}

function guardSpace(
  { store, engine }: LaneContext,
  space: DiskSpace,
  control: ControlBlock,
  tools: ChoreTools,
  lane: () => SpaceListener,
): SpaceGuard {
  const isDoubted = process.env[DISK_FULL_VARIABLE] !== undefined
  // The variable describes this start of the process, not a generation that is adopted later.
  delete process.env[DISK_FULL_VARIABLE]
  const onChange = (isFull: boolean, freeBytes: number): void => {
    const wasFull = control.diskFull
    control.diskFull = isFull
    const fields = { free: freeBytes, kept: space.floorBytes }
    if (isFull) log.error('disk full: writes are refused until there is space', fields)
    else if (wasFull) {
      log.info('disk has space again: writes are accepted', fields)
      setImmediate(() => lane().onSpace())
    }
  }
  const parts = {
    space,
    unusedBytes: () => store.unusedBytes(),
    isIndexStored: () => {
      const state = engine.storageState()
      return state === 'good' || (state === 'failing' && engine.stats().unflushedBytes < INDEX_NOT_STORED_BYTES_MAX)
    },
    onChange,
    onStillFull: () => lane().onStillFull(),
  }
  return new SpaceGuard(parts, isDoubted, tools)
}

/** Order: first the index on disk is complete, then the store records the clean shutdown. */
async function closeWriteLane(context: LaneContext, writeLane: WriteLane): Promise<void> {
  const { store, engine, isReadOnly } = context
  await writeLane.close()
  if (isReadOnly) return
  try {
    engine.flush()
  } catch (error) {
    log.error('the index is not stored; the next start replays', { reason: error })
  }
  try {
    store.endEpoch()
  } catch (error) {
    if (!diskOf(context).isCauseOf(error)) throw error
    log.error('disk full: the clean shutdown could not be recorded; the next start treats it as unclean', { reason: error })
  }
}
