/**
 * The committed WASM modules (wasm/pkg). Each is compiled once per thread and instantiated as often as
 * needed. Any thread.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../installation.js'

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
