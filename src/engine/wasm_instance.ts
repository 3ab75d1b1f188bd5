/**
 * The WASM module: compiled once per thread, instantiated as often as needed. An instance that trapped or grew too large is dropped as a whole, because linear
 * memory never shrinks. Exports: wasm/bindings/src/lib.rs. Addresses are valid until the next call that may allocate, and views die when memory grows.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { randomBytes } from 'node:crypto'

/** The part of the global that is used here; neither ES2023 nor Node's types declare it. */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, () => void>>>>)
    readonly exports: unknown
  }
}

export interface WasmExports {
  readonly memory: WebAssembly.Memory
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
  readonly highlight_input: (bytes: number) => number
  readonly highlight_query: (bytes: number) => number
  readonly highlight_begin: (language: number, flags: number, count: number) => void
  readonly highlight_append: (bytes: number, isLast: number) => number
  readonly highlight_run: () => number
  readonly highlight_finish: () => number
  readonly highlight_output_address: () => number
}

let compiled: WebAssembly.Module | undefined

/** A fresh instance with empty tables and a random hash seed. Throws where the committed module is missing or damaged. */
export function instantiateWasm(): WasmExports {
  compiled ??= new WebAssembly.Module(readFileSync(join(projectFolder(), 'wasm', 'pkg', 'mds.wasm')))
  // The module passes numbers only: what wasm-bindgen wants to set up for objects stays empty.
  const imports = { './mds_bg.js': { __wbindgen_init_externref_table: () => undefined } }
  const exports = new WebAssembly.Instance(compiled, imports).exports as WasmExports
  const seed = randomBytes(8)
  exports.analyzer_seed(seed.readUInt32LE(0), seed.readUInt32LE(4))
  return exports
}

/** From dist/src/engine, where this file runs. */
function projectFolder(): string {
  return join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
}
