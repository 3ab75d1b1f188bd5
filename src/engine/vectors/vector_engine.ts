/**
 * TypeScript interface of the native vector engine. Translates requests and hits to bytes and back. There is
 * one engine per process, whichever thread opens it. Every call is synchronous and thread-safe.
 */
import { BQ_RERANK_FACTOR_DEFAULT, VECTOR_PARALLEL_SIZE_DEFAULT } from '../../limits/search.js'
import { loadAddon } from '../addon.js'
import { NO_POLL_WORD } from '../search/search_plan.js'
import { decodeSimilar, decodeVectorHits, encodeVectorRequest } from './vector_bytes.js'
import type { VectorEngine, VectorSetStats, VectorTuning } from './vector_types.js'

interface VectorAddon {
  readonly vectorOpen: (directory: string, history: Uint8Array) => string[]
  readonly vectorOpenNext: (directory: string, history: Uint8Array, sealed: Uint8Array) => string[]
  readonly vectorApplyNext: (batch: Uint8Array) => void
  readonly vectorCompareNext: (stamps: Uint8Array) => Uint32Array
  readonly vectorAdoptNext: () => void
  readonly vectorDropNext: () => void
  readonly vectorSetSealed: (collection: number, isSealed: boolean) => void
  readonly vectorSettle: () => void
  readonly vectorStorageFailures: () => number
  readonly vectorIsStoreRefused: () => boolean
  readonly vectorApply: (batch: Uint8Array) => void
  readonly vectorCompare: (stamps: Uint8Array) => Uint32Array
  readonly vectorSearch: (request: Uint8Array, control?: Int32Array) => Uint8Array
  readonly vectorSimilar: (
    collection: number,
    dimensions: number,
    threshold: number,
    docidMax: number,
    pollWord: number,
    control?: Int32Array,
  ) => Uint8Array
  readonly vectorStats: () => VectorSetStats[]
  readonly vectorIsa: () => string
}

const ADDON_FUNCTIONS: readonly (keyof VectorAddon)[] = [
  'vectorOpen',
  'vectorOpenNext',
  'vectorApplyNext',
  'vectorCompareNext',
  'vectorAdoptNext',
  'vectorDropNext',
  'vectorSetSealed',
  'vectorSettle',
  'vectorStorageFailures',
  'vectorIsStoreRefused',
  'vectorApply',
  'vectorCompare',
  'vectorSearch',
  'vectorSimilar',
  'vectorStats',
  'vectorIsa',
]

/** For processes with few searches: tests, and the preparation of a restore. */
const NO_TUNING: VectorTuning = {
  bqRerankFactor: BQ_RERANK_FACTOR_DEFAULT,
  workers: 1,
  parallelMinSize: VECTOR_PARALLEL_SIZE_DEFAULT,
}

/** @param tuning applies to every search made through this interface */
export function openVectorEngine(tuning: VectorTuning = NO_TUNING): VectorEngine {
  const addon = loadAddon<VectorAddon>(ADDON_FUNCTIONS)
  return {
    open: (directory, history) => addon.vectorOpen(directory, history),
    openNext: (directory, history, sealed) => addon.vectorOpenNext(directory, history, new Uint8Array(Uint32Array.from(sealed).buffer)),
    next: { apply: (batch) => addon.vectorApplyNext(batch), compare: (stamps) => addon.vectorCompareNext(stamps) },
    adoptNext: () => addon.vectorAdoptNext(),
    dropNext: () => addon.vectorDropNext(),
    setSealed: (collection, isSealed) => addon.vectorSetSealed(collection, isSealed),
    settle: () => addon.vectorSettle(),
    apply: (batch) => addon.vectorApply(batch),
    compare: (stamps) => addon.vectorCompare(stamps),
    search: (request, stop) =>
      decodeVectorHits(
        stop === undefined
          ? addon.vectorSearch(encodeVectorRequest(request, tuning, NO_POLL_WORD))
          : addon.vectorSearch(encodeVectorRequest(request, tuning, stop.byteOffset), stop.control),
      ),
    similar: ({ collection, dimensions, threshold, docidMax }, stop) =>
      decodeSimilar(
        stop === undefined
          ? addon.vectorSimilar(collection, dimensions, threshold, docidMax, NO_POLL_WORD)
          : addon.vectorSimilar(collection, dimensions, threshold, docidMax, stop.byteOffset, stop.control),
      ),
    stats: () => addon.vectorStats(),
    storageFailures: () => addon.vectorStorageFailures(),
    isStoreRefused: () => addon.vectorIsStoreRefused(),
    isa: addon.vectorIsa(),
  }
}
