/**
 * The TypeScript face of the native addon: loads it, checks that its exports are what this code was written against, and translates plans and hits to bytes and back.
 * The engine behind it is one per process, whichever thread opens it; every call is synchronous and thread-safe.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodeAggregated, encodeAggregation } from './aggregation_request.js'
import { decodeHits } from './hits.js'
import { encodePlan, NO_POLL_WORD } from './search_plan.js'
import type { Completion, EngineStats, Explanation, OpenedIndex, SearchEngine } from './types.js'

interface Addon {
  readonly open: (directory: string, history: Uint8Array, analysis: number) => OpenedIndex
  readonly openNext: (directory: string, history: Uint8Array, analysis: number) => OpenedIndex
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
  readonly lockFile: (path: string) => void
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
  'lockFile',
]

const SEPARATOR = '\0'

/** @param addonPath for tests with a build of their own; default: `build/mds_engine.node` of the project */
export function openEngine(addonPath: string = defaultAddonPath()): SearchEngine {
  const addon = loadAddon(addonPath)
  return {
    open: (directory, history, analysis) => addon.open(directory, history, analysis),
    openNext: (directory, history, analysis) => addon.openNext(directory, history, analysis),
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
  }
}

function decodeCompletions(json: string): Completion[] {
  return (JSON.parse(json) as [string, string, number][]).map(([term, field, documents]) => ({ term, field, documents }))
}

/** Takes an exclusive lock on the file for the life of this process; throws an Error with the text `locked` when another process holds it. */
export function lockFile(path: string): void {
  loadAddon(defaultAddonPath()).lockFile(path)
}

function loadAddon(path: string): Addon {
  if (!existsSync(path)) throw new Error(`native engine not built: ${path} is missing (node scripts/build-native.mjs makes it)`)
  const loaded: unknown = createRequire(import.meta.url)(path)
  if (!isAddon(loaded)) throw new Error(`native engine ${path} lacks one of ${ADDON_FUNCTIONS.join(', ')}: build it again`)
  return loaded
}

function isAddon(value: unknown): value is Addon {
  if (typeof value !== 'object' || value === null) return false
  const exports = value as Record<string, unknown>
  return ADDON_FUNCTIONS.every((name) => typeof exports[name] === 'function')
}

/** The first folder upwards that holds package.json is the project, whether this file runs from `src` or from `dist/src`. */
function defaultAddonPath(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('native engine: no package.json above the compiled code')
    folder = parent
  }
  return join(folder, 'build', 'mds_engine.node')
}
