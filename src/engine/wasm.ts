/**
 * The committed WASM modules (wasm/pkg), and the exports of that of the analyzer and the chunker. Each is
 * compiled once per thread and instantiated as often as needed. Any thread.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../base/installation.js'

/** The part of the global that is used here. Neither ES2023 nor Node's types declare it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, () => void>>>>)
    readonly exports: unknown
  }
}

/** Views become invalid when it grows. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

const compiled = new Map<string, WebAssembly.Module>()

/**
 * Returns the exports of a new instance of `wasm/pkg/<name>.wasm`. Throws if the module is missing or
 * damaged.
 */
export function instantiateModule(name: string): unknown {
  let module = compiled.get(name)
  if (module === undefined) {
    module = new WebAssembly.Module(readFileSync(join(projectFolder(), 'wasm', 'pkg', `${name}.wasm`)))
    compiled.set(name, module)
  }
  // The modules pass only numbers, so the function with which wasm-bindgen sets up its object table is empty.
  return new WebAssembly.Instance(module, { [`./${name}_bg.js`]: { __wbindgen_init_externref_table: () => undefined } }).exports
}

/**
 * The exports of the analyzer and the chunker: wasm/bindings/src/lib.rs. An instance that trapped or grew too
 * large is dropped as a whole, because linear memory never shrinks. Addresses are valid until the next call
 * that may allocate. Views become invalid when memory grows.
 */
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
