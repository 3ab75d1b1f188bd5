/**
 * One WASM instance of the analyzer, the addresses of its memory, and the code that its callers share: flags,
 * and the words of Chinese runs. Runs on the thread of its analyzer.
 */
import type { AnalysisOptions } from '../types.js'
import { instantiateWasm, type WasmExports } from '../wasm.js'
import { cutHanRun } from './han_words.js'

/** The flags of `analyzer_begin` in wasm/bindings. */
export const FLAGS = { stem: 1, markdown: 2, spans: 4, code: 8, folds: 16, asks: 32 } as const

export interface Instance {
  readonly exports: WasmExports
  readonly windowBytes: number
  readonly windowAddress: number
  readonly cutsAddress: number
  readonly cutsMax: number
  /** The query that its highlighter currently has, so that it is set once per search. */
  asked: Uint8Array | undefined
}

/** @param windowBytesMax as for `createAnalyzer` */
export function openInstance(windowBytesMax: number): Instance {
  const exports = instantiateWasm()
  return {
    exports,
    windowBytes: Math.max(exports.analyzer_lookahead_bytes() + 1, Math.min(exports.analyzer_window_bytes(), windowBytesMax)),
    windowAddress: exports.analyzer_window_address(),
    cutsAddress: exports.analyzer_cuts_address(),
    cutsMax: exports.analyzer_cuts_max(),
    asked: undefined,
  }
}

export function flagsOf({ stem, markdown, code }: AnalysisOptions): number {
  return (stem ? FLAGS.stem : 0) | (markdown ? FLAGS.markdown : 0) | (code === true ? FLAGS.code : 0)
}

/** Passes the words of the Han run at the scanner's cursor to the scanner, which waits for them. */
export function placeHanWords({ exports, windowAddress, cutsAddress, cutsMax }: Instance): void {
  const begin = windowAddress + exports.analyzer_cursor()
  const run = Buffer.from(exports.memory.buffer, begin, exports.analyzer_han_run_bytes()).toString('utf8')
  exports.analyzer_place_words(cutHanRun(run, new Uint32Array(exports.memory.buffer, cutsAddress, cutsMax * 3)))
}
