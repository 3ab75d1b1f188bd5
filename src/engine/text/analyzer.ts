/**
 * The text analyzer. Feeds a text to the WASM instance in windows, passes Chinese runs to the word segmenter,
 * and returns packed tokens or query tokens. One analyzer per thread. A trap or excessive memory costs only
 * the WASM instance, never the thread. Definition of terms: docs/decisions/search/text-analysis.md.
 */
import { MIB } from '../../limits/units.js'
import { FLAGS, flagsOf, type Instance, openInstance, placeHanWords } from './analyzer_instance.js'
import { askInstance, encodeHighlightQuery, highlightDocument, highlightKnown, vectorOfDocument } from './highlighter.js'
import { languageIndex } from './languages.js'
import { mergePackedTokens } from './packed_tokens.js'
import type { AnalysisOptions, Analyzer, QueryToken } from '../types.js'
import type { WasmExports } from '../wasm.js'

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
    analyze: (text, options) => guarded((open) => mergePackedTokens(feed(open, text, options, FLAGS.folds))),
    tokenize: (text, options) =>
      guarded((open) => feed(open, Buffer.from(text), options, FLAGS.spans | (options.asks === true ? FLAGS.asks : 0)).flatMap(readTokens)),
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
 * Runs one text through the instance. Returns copies of its records: one record, unless the text is very
 * large.
 */
function feed(open: Instance, text: Uint8Array, options: AnalysisOptions, flags: number): Uint8Array[] {
  const { exports, windowBytes } = open
  const records: Uint8Array[] = []
  exports.analyzer_begin(languageIndex(options.language), flags | flagsOf(options))
  let at = 0
  for (;;) {
    const end = Math.min(at + windowBytes, text.length)
    // The view is created for each window, because memory may have grown in between.
    new Uint8Array(exports.memory.buffer, open.windowAddress, end - at).set(text.subarray(at, end))
    exports.analyzer_load(end - at, end === text.length ? 1 : 0)
    for (let status = exports.analyzer_run(); status !== NEEDS_WINDOW; status = exports.analyzer_run()) {
      if (status === NEEDS_FINISH) records.push(takeRecord(exports))
      else placeHanWords(open)
    }
    if (end === text.length) break
    at += exports.analyzer_cursor()
  }
  records.push(takeRecord(exports))
  return records
}

function takeRecord(exports: WasmExports): Uint8Array {
  const bytes = exports.analyzer_finish() * 4
  const begin = exports.analyzer_output_address()
  return new Uint8Array(exports.memory.buffer.slice(begin, begin + bytes))
}

function readTokens(record: Uint8Array): QueryToken[] {
  const words = new Uint32Array(record.buffer, record.byteOffset, record.length / 4)
  const count = words[0] ?? 0
  const terms = Buffer.from(record.buffer, record.byteOffset + (1 + count * TOKEN_WORDS) * 4)
  return Array.from({ length: count }, (_, index) => {
    const [start = 0, end = 0, position = 0, first = 0, bytes = 0] = words.subarray(1 + index * TOKEN_WORDS)
    return { term: terms.toString('utf8', first, first + bytes), position, start, end }
  })
}
