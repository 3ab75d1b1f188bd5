/**
 * TypeScript interface of the native engine. Translates plans and hits to bytes and back. There is one engine
 * per process, whichever thread opens it. Every call is synchronous and thread-safe.
 */
import { loadAddon } from '../addon.js'
import type { Completion, EngineCipher, EngineStats, Explanation, OpenedIndex, SearchEngine, StorageState } from '../types.js'
import { decodeAggregated, encodeAggregation } from './aggregation_request.js'
import { decodeHits } from './hits.js'
import { encodePlan, NO_POLL_WORD } from './search_plan.js'

interface Addon {
  readonly open: (directory: string, history: Uint8Array, analysis: number, readOnly: number) => OpenedIndex
  readonly openNext: (directory: string, history: Uint8Array, analysis: number, readOnly: number) => OpenedIndex
  readonly adoptNext: () => void
  readonly dropNext: () => void
  readonly flushedTo: (lsn: bigint) => void
  readonly flush: () => void
  readonly holds: (collection: number, docid: number, lsn: bigint) => boolean
  readonly publish: (batch: Uint8Array) => void
  readonly search: (plan: Uint8Array, control?: Int32Array) => Uint8Array
  readonly completions: (collection: number, fields: string, prefix: string, most: number) => string
  readonly termFrequencies: (collection: number, fields: string, terms: string) => string
  readonly nearTerms: (collection: number, fields: string, word: string, edits: number, prefix: number, most: number) => string
  readonly lastLsn: () => bigint
  readonly explain: (plan: Uint8Array, docid: number, control?: Int32Array) => string
  readonly aggregate: (request: Uint8Array, control?: Int32Array) => string
  readonly metaKeys: (collection: number) => string
  readonly beginRebuild: () => void
  readonly endRebuild: () => void
  readonly forceMerge: () => void
  readonly stats: () => EngineStats
  readonly storageState: () => number
  readonly lockFile: (path: string, shared: number) => void
  readonly checkTruth: (path: string, readsLeaves: boolean) => boolean
  readonly reserveLmdbLineBuffer: () => boolean
  readonly setSealKeys: (primary: number, keys: Uint8Array) => void
  readonly setSealed: (collection: number, isSealed: boolean) => void
  readonly seal: (key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, text: Uint8Array, sealed: Uint8Array) => void
  readonly openRecord: EngineCipher['openRecord']
  readonly hmac: (key: Uint8Array, text: Uint8Array, out: Uint8Array) => void
}

const ADDON_FUNCTIONS: readonly (keyof Addon)[] = [
  'open',
  'openNext',
  'adoptNext',
  'dropNext',
  'flushedTo',
  'flush',
  'holds',
  'publish',
  'search',
  'completions',
  'termFrequencies',
  'nearTerms',
  'lastLsn',
  'explain',
  'aggregate',
  'metaKeys',
  'beginRebuild',
  'endRebuild',
  'forceMerge',
  'stats',
  'storageState',
  'lockFile',
  'checkTruth',
  'reserveLmdbLineBuffer',
  'setSealKeys',
  'setSealed',
  'seal',
  'openRecord',
  'hmac',
]

/** Indexed by the engine's numbers. */
const STORAGE_STATES: readonly StorageState[] = ['good', 'failing', 'lost']
const SEPARATOR = '\0'

/** @param addonPath for tests with their own build; default: `build/mds_engine.node` of the project */
export function openEngine(addonPath?: string): SearchEngine {
  const addon = loadAddon<Addon>(ADDON_FUNCTIONS, addonPath)
  return {
    open: (directory, history, analysis, isReadOnly = false) => addon.open(directory, history, analysis, Number(isReadOnly)),
    openNext: (directory, history, analysis) => addon.openNext(directory, history, analysis, 0),
    adoptNext: () => addon.adoptNext(),
    dropNext: () => addon.dropNext(),
    flushedTo: (lsn) => addon.flushedTo(lsn),
    flush: () => addon.flush(),
    holds: (collection, docid, lsn) => addon.holds(collection, docid, lsn),
    publish: (batch) => addon.publish(batch),
    search: (plan, stop) =>
      decodeHits(
        stop === undefined ? addon.search(encodePlan(plan, NO_POLL_WORD)) : addon.search(encodePlan(plan, stop.byteOffset), stop.control),
      ),
    completions: (collection, fields, prefix, most) =>
      decodeCompletions(addon.completions(collection, fields.join(SEPARATOR), prefix, most)),
    termFrequencies: (collection, fields, terms) =>
      decodeCompletions(addon.termFrequencies(collection, fields.join(SEPARATOR), terms.join(SEPARATOR))),
    nearTerms: (collection, fields, word, edits, prefix, most) =>
      (JSON.parse(addon.nearTerms(collection, fields.join(SEPARATOR), word, edits, prefix, most)) as [string, number, number][]).map(
        ([term, distance, documents]) => ({ term, edits: distance, documents }),
      ),
    lastLsn: () => addon.lastLsn(),
    explain: (plan, docid, stop) => {
      const bytes = encodePlan(plan, stop?.byteOffset ?? NO_POLL_WORD)
      return (
        (JSON.parse(stop === undefined ? addon.explain(bytes, docid) : addon.explain(bytes, docid, stop.control)) as Explanation | null) ??
        undefined
      )
    },
    aggregate: (request, stop) =>
      decodeAggregated(
        stop === undefined
          ? addon.aggregate(encodeAggregation(request, NO_POLL_WORD))
          : addon.aggregate(encodeAggregation(request, stop.byteOffset), stop.control),
      ),
    // JSON.parse makes `__proto__` an own property like any other key, so a hostile metadata key stays data.
    metaKeys: (collection) => JSON.parse(addon.metaKeys(collection)) as Record<string, string[]>,
    beginRebuild: () => addon.beginRebuild(),
    endRebuild: () => addon.endRebuild(),
    forceMerge: () => addon.forceMerge(),
    stats: () => addon.stats(),
    storageState: () => STORAGE_STATES[addon.storageState()] ?? 'lost',
    setSealKeys: (primary, keys) => addon.setSealKeys(primary, keys),
    setSealed: (collection, isSealed) => addon.setSealed(collection, isSealed),
    cipher: { seal: addon.seal, openRecord: addon.openRecord, hmac: addon.hmac },
  }
}

function decodeCompletions(json: string): Completion[] {
  return (JSON.parse(json) as [string, string, number][]).map(([term, field, documents]) => ({ term, field, documents }))
}

/**
 * Takes an exclusive lock on the file for the lifetime of this process. Throws an Error with the text
 * `locked` if another process holds the lock.
 * @param isShared the file is not writable: other processes that only read may hold the lock, too
 */
export function lockFile(path: string, isShared: boolean): void {
  loadAddon<Addon>(ADDON_FUNCTIONS).lockFile(path, Number(isShared))
}

/**
 * Checks the meta pages, the free list and the trees of a truth env that no process has open, down to the
 * pages above the leaves. A missing or empty file passes.
 * @param readsLeaves also checks the leaves, which are most of the file
 * @returns whether the newest meta page is the one that a start uses; false after a machine crash during a
 * write
 * @throws Error that describes the damage
 */
export function checkTruth(path: string, readsLeaves = false): boolean {
  return loadAddon<Addon>(ADDON_FUNCTIONS).checkTruth(path, readsLeaves)
}

/**
 * Prevents the lmdb package from corrupting the heap when it reports a refused write
 * (native/binding/lmdb_lines.h). Applies to the whole process. Called when the package is loaded, before the
 * first write.
 * @returns false if the package or platform is not supported; a refused write may then end the process before
 * the reason is logged
 */
export function reserveLmdbLineBuffer(): boolean {
  return loadAddon<Addon>(ADDON_FUNCTIONS).reserveLmdbLineBuffer()
}
