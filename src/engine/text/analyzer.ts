/**
 * The text analyzer. Feeds a text to the WASM instance in windows, passes Chinese runs to the word segmenter,
 * and returns packed tokens or query tokens. One analyzer per thread. A trap or excessive memory costs only
 * the WASM instance, never the thread. Definition of terms: docs/decisions/search/text-analysis.md.
 */
import { MIB } from '../../limits/units.js'
import { viewOf } from '../byte_layout.js'
import type { AnalysisOptions, Analyzer, QueryToken } from '../types.js'
import type { WasmExports } from '../wasm.js'
import { FLAGS, flagsOf, type Instance, openInstance, placeHanWords } from './analyzer_instance.js'
import { askInstance, encodeHighlightQuery, highlightDocument, highlightKnown, vectorOfDocument } from './highlighter.js'
import { languageIndex } from './languages.js'
import { mergePackedTokens } from './packed_tokens.js'

/**
 * Linear memory of a WASM analyzer that is kept for the next text. A full lexicon takes 24 MB. An instance
 * that exceeds twice that has analysed a giant text, and its memory never shrinks.
 */
export const ANALYZER_MEMORY_BYTES_KEPT_MAX = 48 * MIB

const NEEDS_WINDOW = 0
const NEEDS_FINISH = 1

/**
 * 32-bit words per token in the list that the module writes: start, end, position, first byte of the term,
 * bytes of the term.
 */
const TOKEN_WORDS = 5

/**
 * @param windowBytesMax bytes of text per window, above 4 096 and at most the module's window; only tests
 * pass it
 * @param isLazy creates the instance with the first text instead of immediately
 */
export function createAnalyzer(windowBytesMax = Number.MAX_SAFE_INTEGER, isLazy = false): Analyzer {
  let instance = isLazy ? undefined : openInstance(windowBytesMax)

  /** A trap leaves the instance in an unknown state, so the next text gets a new instance. */
  function guarded<T>(work: (open: Instance) => T): T {
    const open = (instance ??= openInstance(windowBytesMax))
    try {
      const result = work(open)
      if (open.exports.memory.buffer.byteLength > ANALYZER_MEMORY_BYTES_KEPT_MAX) instance = undefined
      return result
    } catch (cause) {
      instance = undefined
      throw new Error('text analysis failed', { cause })
    }
  }

  return {
    analyze: (text, options) =>
      guarded((open) => {
        const records: Uint8Array[] = []
        feed(open, text, options, FLAGS.folds, (record) => void records.push(record.slice()))
        return mergePackedTokens(records)
      }),
    tokenize: (text, options) =>
      guarded((open) => {
        const tokens: QueryToken[] = []
        const flags = FLAGS.spans | (options.asks === true ? FLAGS.asks : 0)
        feed(open, Buffer.from(text), options, flags, (record) => readTokens(record, tokens))
        return tokens
      }),
    highlighter: (query) => {
      const bytes = encodeHighlightQuery(query)
      return {
        highlight: (escaped, options, matched, shouldStop) =>
          guarded((open) => {
            askInstance(open, bytes)
            return highlightDocument(open, escaped, options, matched, shouldStop)
          }),
        highlightKnown: (escaped, vector, matched) =>
          guarded((open) => {
            askInstance(open, bytes)
            return highlightKnown(open, escaped, vector, matched)
          }),
      }
    },
    termVector: (escaped, options, shouldStop) => guarded((open) => vectorOfDocument(open, escaped, options, shouldStop)),
    memoryBytes: () => instance?.exports.memory.buffer.byteLength ?? 0,
  }
}

/**
 * Runs one text through the instance.
 * @param take receives its records, views of the instance's memory: one record, unless the text is very large
 */
function feed(open: Instance, text: Uint8Array, options: AnalysisOptions, flags: number, take: (record: Uint8Array) => void): void {
  const { exports, windowBytes } = open
  exports.analyzer_begin(languageIndex(options.language), flags | flagsOf(options))
  let at = 0
  for (;;) {
    const end = Math.min(at + windowBytes, text.length)
    // The view is created for each window, because memory may have grown in between.
    new Uint8Array(exports.memory.buffer, open.windowAddress, end - at).set(text.subarray(at, end))
    exports.analyzer_load(end - at, end === text.length ? 1 : 0)
    for (let status = exports.analyzer_run(); status !== NEEDS_WINDOW; status = exports.analyzer_run()) {
      if (status === NEEDS_FINISH) take(finishedRecord(exports))
      else placeHanWords(open)
    }
    if (end === text.length) break
    at += exports.analyzer_cursor()
  }
  take(finishedRecord(exports))
}

function finishedRecord(exports: WasmExports): Uint8Array {
  const bytes = exports.analyzer_finish() * 4
  const begin = exports.analyzer_output_address()
  return new Uint8Array(exports.memory.buffer, begin, bytes)
}

/** Appends the tokens of a record. */
function readTokens(record: Uint8Array, tokens: QueryToken[]): void {
  const words = new Uint32Array(record.buffer, record.byteOffset, record.length / 4)
  const count = words[0] ?? 0
  const terms = viewOf(record).subarray((1 + count * TOKEN_WORDS) * 4)
  for (let token = 0, at = 1; token < count; token++, at += TOKEN_WORDS) {
    const first = words[at + 3] as number
    const term = terms.toString('utf8', first, first + (words[at + 4] as number))
    tokens.push({ term, position: words[at + 2] as number, start: words[at] as number, end: words[at + 1] as number })
  }
}
