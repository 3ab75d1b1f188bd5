/**
 * Instances of the WASM module of the analyzer and the chunker. An instance that trapped or grew too large is
 * dropped as a whole, because linear memory never shrinks. Exports: wasm/bindings/src/lib.rs. Addresses are
 * valid until the next call that may allocate. Views become invalid when memory grows.
 */
import { randomBytes } from 'node:crypto'
import { instantiateModule, type WasmMemory } from './wasm_module.js'

export interface WasmExports {
  readonly memory: WasmMemory
  readonly analyzer_seed: (low: number, high: number) => void
  readonly analyzer_window_bytes: () => number
  readonly analyzer_lookahead_bytes: () => number
  readonly analyzer_window_address: () => number
  readonly analyzer_cuts_address: () => number
  readonly analyzer_cuts_max: () => number
  readonly analyzer_begin: (language: number, flags: number) => void
  readonly analyzer_load: (bytes: number, isLast: number) => void
  readonly analyzer_run: () => number
  readonly analyzer_cursor: () => number
  readonly analyzer_han_run_bytes: () => number
  readonly analyzer_place_words: (count: number) => void
  readonly analyzer_finish: () => number
  readonly analyzer_output_address: () => number
  readonly input_room: (bytes: number) => number
  readonly highlight_query: (bytes: number) => number
  readonly highlight_begin: (language: number, flags: number, count: number, bytes: number, isLast: number) => number
  readonly highlight_begin_vector: (language: number, flags: number, bytes: number) => void
  readonly highlight_finish_vector: () => number
  readonly highlight_known: (count: number, vectorBytes: number, bytes: number) => number
  readonly highlight_append: (bytes: number, isLast: number) => number
  readonly highlight_run: () => number
  readonly highlight_finish: () => number
  readonly highlight_output_address: () => number
  readonly chunk_run: (bytes: number, code: number, budget: number, overlap: number) => number
  readonly chunk_output_address: () => number
}

/**
 * Creates an instance with empty tables and a random hash seed. Throws if the committed module is missing or
 * damaged.
 */
export function instantiateWasm(): WasmExports {
  const exports = instantiateModule('mds') as WasmExports
  const seed = randomBytes(8)
  exports.analyzer_seed(seed.readUInt32LE(0), seed.readUInt32LE(4))
  return exports
}
