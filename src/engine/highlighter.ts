/**
 * The highlighter of the WASM module from this side: the question as bytes, and one document through it. Texts cross as bytes only; what comes back is JSON text for the answer.
 * Layout of the question: wasm/analyzer/src/highlight/query.rs. Runs on the thread of its analyzer.
 */
import { HIGHLIGHT_PIECE_BYTES } from '../limits.js'
import { flagsOf, type Instance, placeHanWords } from './analyzer_instance.js'
import { languageIndex } from './languages.js'
import type { AnalysisOptions, HighlightQuery } from './types.js'

const DONE = 0
const NEEDS_WORDS = 2

interface Document {
  readonly escaped: Uint8Array
  readonly options: AnalysisOptions
  readonly matched: readonly number[]
  readonly shouldStop: () => boolean
}

export function encodeHighlightQuery({ terms, phrases, opening, closing, fragmentBytes, most }: HighlightQuery): Uint8Array {
  const tags = [Buffer.from(opening), Buffer.from(closing)]
  const parts = [
    numbers(fragmentBytes, most, terms.length, phrases.length, ...tags.map(({ length }) => length)),
    ...tags,
    ...terms.flatMap((term) => {
      const texts = [Buffer.from(term?.indexed ?? ''), Buffer.from(term?.shown ?? '')]
      return [numbers(...texts.map(({ length }) => length)), ...texts]
    }),
    ...phrases.map((places) => numbers(places.length, ...places.flatMap(({ term, offset }) => [term, offset]))),
  ]
  return Buffer.concat(parts)
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4)
  values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4))
  return bytes
}

/** @param query as encoded; told to the instance when that was last asked something else */
export function highlightDocument(open: Instance, query: Uint8Array, document: Document): Uint8Array | undefined {
  const { exports } = open
  if (open.asked !== query) {
    write(open, query)
    if (exports.highlight_query(query.length) === 0) throw new Error('the highlighter refused its question')
    open.asked = query
  }
  const { escaped, options, matched, shouldStop } = document
  write(open, numbers(...matched))
  exports.highlight_begin(languageIndex(options.language), flagsOf(options), matched.length)
  for (let at = 0, isLast = false; !isLast;) {
    const piece = escaped.subarray(at, at + HIGHLIGHT_PIECE_BYTES)
    isLast = at + piece.length === escaped.length
    write(open, piece)
    at += exports.highlight_append(piece.length, isLast ? 1 : 0)
  }
  for (let status = exports.highlight_run(); status !== DONE; status = exports.highlight_run()) {
    if (status === NEEDS_WORDS) placeHanWords(open)
    else if (shouldStop()) return undefined
  }
  const bytes = exports.highlight_finish()
  return new Uint8Array(exports.memory.buffer, exports.highlight_output_address(), bytes)
}

/** The address is asked for each time: memory may have grown. */
function write({ exports }: Instance, bytes: Uint8Array): void {
  const address = exports.highlight_input(bytes.length)
  new Uint8Array(exports.memory.buffer, address, bytes.length).set(bytes)
}
