/**
 * The committed WASM modules (wasm/pkg): each compiled once per thread, instantiated as often as needed. Any
 * thread.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../installation.js'

/** The part of the global that is used here; neither ES2023 nor Node's types declare it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, () => void>>>>)
    readonly exports: unknown
  }
}

/** Views die when it grows. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

const compiled = new Map<string, WebAssembly.Module>()

/**
 * The exports of a fresh instance of `wasm/pkg/<name>.wasm`. Throws where the module is missing or damaged.
 */
export function instantiateModule(name: string): unknown {
  let module = compiled.get(name)
  if (module === undefined) {
    module = new WebAssembly.Module(readFileSync(join(projectFolder(), 'wasm', 'pkg', `${name}.wasm`)))
    compiled.set(name, module)
  }
  // The modules pass numbers only: what wasm-bindgen wants to set up for objects stays empty.
  return new WebAssembly.Instance(module, { [`./${name}_bg.js`]: { __wbindgen_init_externref_table: () => undefined } }).exports
}
