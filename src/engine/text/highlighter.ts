/**
 * TypeScript interface of the WASM highlighter. Encodes the query and highlights one document, by its text or
 * by its term vector. Text is passed as bytes; the result is JSON text for the response. Layout of the query:
 * wasm/analyzer/src/highlight/query.rs. Runs on the thread of its analyzer.
 */
import { KIB } from '../../limits/units.js'
import type { AnalysisOptions, HighlightQuery } from '../types.js'
import type { WasmExports } from '../wasm.js'
import { flagsOf, type Instance, placeHanWords } from './analyzer_instance.js'
import { languageIndex } from './languages.js'

/** Bytes of content passed to the highlighter at once. The highlighter keeps a buffer of this size. */
const HIGHLIGHT_PIECE_BYTES = 256 * KIB

const DONE = 0
const NEEDS_WORDS = 2
const NOTHING = new Uint8Array(0)

export function encodeHighlightQuery({ terms, phrases, opening, closing, fragmentBytes, most }: HighlightQuery): Uint8Array {
  const tags = [Buffer.from(opening), Buffer.from(closing)]
  const parts = [
    numbers(fragmentBytes, most, terms.length, phrases.length, ...tags.map(({ length }) => length)),
    ...tags,
    ...terms.flatMap((term) => {
      const texts = [Buffer.from(term?.indexed ?? ''), Buffer.from(term?.shown ?? '')]
      return [numbers(...texts.map(({ length }) => length)), ...texts]
    }),
    ...phrases.map((phrase) => numbers(phrase.length, ...phrase.flatMap(({ term, offset }) => [term, offset]))),
  ]
  return Buffer.concat(parts)
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4)
  values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4))
  return bytes
}

/**
 * Sets the query for the following documents, unless the instance already has it.
 * @param query as encoded by `encodeHighlightQuery`
 */
export function askInstance(open: Instance, query: Uint8Array): void {
  if (open.asked === query) return
  write(open.exports, [], query, NOTHING)
  if (open.exports.highlight_query(query.length) === 0) throw new Error('the highlighter rejected the query')
  open.asked = query
}

/** Highlights the document by its text. Returns undefined if `shouldStop` returned true. */
export function highlightDocument(
  open: Instance,
  escaped: Uint8Array,
  options: AnalysisOptions,
  matched: readonly number[],
  shouldStop: () => boolean,
): Uint8Array | undefined {
  const { exports } = open
  let piece = escaped.subarray(0, HIGHLIGHT_PIECE_BYTES)
  let isLast = piece.length === escaped.length
  write(exports, matched, NOTHING, piece)
  let at = exports.highlight_begin(languageIndex(options.language), flagsOf(options), matched.length, piece.length, isLast ? 1 : 0)
  while (!isLast) {
    piece = escaped.subarray(at, at + HIGHLIGHT_PIECE_BYTES)
    isLast = at + piece.length === escaped.length
    write(exports, [], NOTHING, piece)
    at += exports.highlight_append(piece.length, isLast ? 1 : 0)
  }
  return readOn(open, shouldStop) ? output(exports, exports.highlight_finish()) : undefined
}

/**
 * Returns a copy of the document's term vector, empty if it would be too large. Returns undefined if
 * `shouldStop` returned true.
 */
export function vectorOfDocument(
  open: Instance,
  escaped: Uint8Array,
  options: AnalysisOptions,
  shouldStop: () => boolean,
): Uint8Array | undefined {
  const { exports } = open
  write(exports, [], NOTHING, escaped)
  exports.highlight_begin_vector(languageIndex(options.language), flagsOf(options), escaped.length)
  return readOn(open, shouldStop) ? output(exports, exports.highlight_finish_vector()).slice() : undefined
}

/** Highlights by the document's term vector. Returns undefined if the text must be read. */
export function highlightKnown(
  { exports }: Instance,
  escaped: Uint8Array,
  vector: Uint8Array,
  matched: readonly number[],
): Uint8Array | undefined {
  write(exports, matched, vector, escaped)
  const bytes = exports.highlight_known(matched.length, vector.length, escaped.length)
  return bytes === 0 ? undefined : output(exports, bytes)
}

/** Reads to the end of the document. Returns false if `shouldStop` returned true. */
function readOn(open: Instance, shouldStop: () => boolean): boolean {
  for (let status = open.exports.highlight_run(); status !== DONE; status = open.exports.highlight_run()) {
    if (status === NEEDS_WORDS) placeHanWords(open)
    else if (shouldStop()) return false
  }
  return true
}

/**
 * Writes the numbers and the two byte strings into the input, one after the other. The address is read before
 * each view is created, because memory may grow.
 */
function write(exports: WasmExports, matched: readonly number[], first: Uint8Array, second: Uint8Array): void {
  const bytes = matched.length * 4 + first.length + second.length
  const address = exports.input_room(bytes)
  const input = new Uint8Array(exports.memory.buffer, address, bytes)
  let at = 0
  for (const index of matched) {
    input[at++] = index & 0xff
    input[at++] = (index >>> 8) & 0xff
    input[at++] = (index >>> 16) & 0xff
    input[at++] = index >>> 24
  }
  input.set(first, at)
  input.set(second, at + first.length)
}

function output({ memory, highlight_output_address: address }: WasmExports, bytes: number): Uint8Array {
  return new Uint8Array(memory.buffer, address(), bytes)
}
