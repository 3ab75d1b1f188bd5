/**
 * Maps terms of the index, which are stems, back to words: `databas` is shown as `database`. There is no
 * second index. A few documents that contain the term are read, and the word that most often has it as its
 * stem is its surface form. Results are cached while the index is unchanged and for one minute afterwards,
 * which bounds how long they can be wrong. One per lane; reads the engine and a view. Reasons:
 * docs/decisions/search/term-expansion.md.
 */
import { isAscii } from 'node:buffer'
import { BoundedCache } from '../../base/bounded_cache.js'
import { resolveLanguage } from '../../engine/text/languages.js'
import type { SearchEngine, SearchPlan } from '../../engine/types.js'
import { SURFACE_SECONDS_MAX } from '../../limits/search.js'
import { KIB } from '../../limits/units.js'
import type { View } from '../../store/view.js'
import type { AnalysisTools } from '../documents/analysis.js'
import { isCodeDocument } from '../documents/code_document.js'
import { contentStartOf, headOf, readingOf } from '../documents/document_json.js'
import { readingAll } from '../documents/wanted_bodies.js'

/** Documents that are searched for the words of one term. */
const SURFACE_DOCUMENTS = 3
/** Bytes of the content of each document that are searched: 10 us. */
const SURFACE_TEXT_BYTES_MAX = 32 * KIB
/** Positions in one document at which words with the beginning of the term are read: 64 x 0.3 us. */
const SURFACE_OCCURRENCES_MAX = 64
/** Words kept of one term, the most frequent ones first. */
const SURFACE_FORMS_MAX = 8
/** Terms whose words a lane caches: 32 768 x 300 B = 10 MB. */
const SURFACE_TERMS_MAX = 32_768
/** Words of documents whose stems a lane caches: 32 768 x 150 B = 5 MB. */
const SURFACE_STEMS_MAX = 32_768

export interface SurfaceTools extends AnalysisTools {
  readonly engine: SearchEngine
}

/**
 * Number of terms that the request may still look up in documents. A look-up costs about 150 us, a cached
 * term nothing.
 */
export interface LookUps {
  left: number
}

interface Found {
  readonly words: readonly string[]
  /** LSN of the index that they were found in. They are correct while the index is at this LSN. */
  readonly lsn: bigint
  /** Unix seconds. */
  readonly at: number
}

/**
 * Stemmers change at most the last one or two characters (`librari`, `happi`). A word begins with all other
 * characters of its term.
 */
const CHANGED_CHARACTERS = 2
/** Scripts that are indexed by characters, pairs or dictionary words. Their terms equal the written text. */
const UNSTEMMED = /[\p{N}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u
const WORD_BEGINNING = /^[\p{L}\p{M}\p{N}]+/u
const ONLY_ASCII = /^[\x00-\x7f]*$/
const ACCENTED = /[\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]/g
/** First bytes of Latin, Greek and Cyrillic letters beyond ASCII. */
const ACCENT_BYTES = /[\xc3-\xd4\xe1]/
const ESCAPES = /\\(?:u[0-9a-f]{4}|.)/gi

export class SurfaceWords {
  readonly #known = new BoundedCache<Found>(SURFACE_TERMS_MAX)
  readonly #stems: Stems = new BoundedCache(SURFACE_STEMS_MAX)

  /**
   * The words that have the term as their stem in these fields, in lower case, most frequent first. Empty if
   * no readable document contains the term. Undefined if nothing is cached and no look-up is left.
   */
  of(
    tools: SurfaceTools,
    view: View,
    collection: number,
    fields: readonly string[],
    term: string,
    lookUps: LookUps,
  ): readonly string[] | undefined {
    if (!tools.config.ftsStemming || UNSTEMMED.test(term)) return [term]
    const key = `${collection} ${fields.join()} ${term}`
    const known = this.#known.get(key)
    const lsn = tools.engine.lastLsn()
    if (known !== undefined && (known.lsn === lsn || Math.abs(view.now - known.at) < SURFACE_SECONDS_MAX)) return known.words
    if (lookUps.left <= 0) return undefined
    lookUps.left--
    const words = lookUp(tools, this.#stems, view, collection, fields, term)
    this.#known.set(key, { words, lsn, at: view.now })
    return words
  }
}

/**
 * By language and word: its stem, and that of the word without its accents. The analyzer's result never
 * changes, and words recur across documents.
 */
type Stems = BoundedCache<readonly string[]>

interface Count {
  documents: number
  occurrences: number
}

function lookUp(tools: SurfaceTools, stems: Stems, view: View, collection: number, fields: readonly string[], term: string): string[] {
  const { hits } = tools.engine.search(planOf(collection, fields, term))
  const counts = new Map<string, Count>()
  const docids = hits.map(({ docid }) => docid)
  readingAll(
    view,
    collection,
    () => docids,
    () => {
      view.expect(collection, hits)
      for (const docid of docids) {
        // Not cached: it is read once, and caching it would evict documents that are shown to users.
        const document = view.document(collection, docid, false)
        if (document === undefined) continue
        for (const [word, occurrences] of wordsOf(tools, stems, document.json, fields, term)) {
          const count = counts.get(word) ?? { documents: 0, occurrences: 0 }
          counts.set(word, { documents: count.documents + 1, occurrences: count.occurrences + occurrences })
        }
      }
    },
  )
  const isCommoner = ([one, a]: [string, Count], [other, b]: [string, Count]): number =>
    b.documents - a.documents || b.occurrences - a.occurrences || (one < other ? -1 : 1)
  return [...counts]
    .sort(isCommoner)
    .slice(0, SURFACE_FORMS_MAX)
    .map(([word]) => word)
}

/**
 * The best documents for the term, in which it is frequent. A ranked search terminates early; a listing by
 * docid reads the whole posting list.
 */
function planOf(collection: number, fields: readonly string[], term: string): SearchPlan {
  return {
    collection,
    algorithm: fields.length === 1 ? 'bm25' : 'bm25f',
    k1: 1.2,
    b: 0.75,
    k: SURFACE_DOCUMENTS,
    skip: 0,
    sort: 'score',
    descending: true,
    exactTotal: false,
    fields: fields.map((field) => [field, 1]),
    filters: [],
    terms: [[term, 1]],
    root: { kind: 'term', term: 0 },
  }
}

/** Words of the document's fields whose stem is the term, with their numbers of occurrences. */
function wordsOf(tools: AnalysisTools, stems: Stems, json: Buffer, fields: readonly string[], term: string): Map<string, number> {
  const found = new Map<string, number>()
  const { lang, marks } = readingOf(json)
  // Source code is indexed unstemmed: identifiers and their parts are themselves the terms.
  if (isCodeDocument(marks)) return found.set(term, 1)
  for (const field of fields) {
    const words = field === 'content' ? contentWords(json, term) : metadataWords(json, field.slice('meta.'.length), term)
    for (const [word, count] of words) found.set(word, (found.get(word) ?? 0) + count)
  }
  return withStem(tools, stems, lang, found, term)
}

/** The words whose stem is the term. */
function withStem(tools: AnalysisTools, stems: Stems, lang: string, words: ReadonlyMap<string, number>, term: string): Map<string, number> {
  const language = resolveLanguage(lang, tools.config.ftsDefaultLang)
  const unknown = [...words.keys()].filter((word) => stems.get(`${language} ${word}`) === undefined)
  const learned = unknown.length === 0 ? undefined : stemsOf(tools, language, unknown)
  for (const word of unknown) stems.set(`${language} ${word}`, learned?.get(word) ?? [])
  const hasStem = (word: string): boolean => (learned?.get(word) ?? stems.get(`${language} ${word}`))?.includes(term) === true
  return new Map([...words].filter(([word]) => hasStem(word)))
}

/** One run of the analyzer, with one word per line, so that a token's position identifies its word. */
function stemsOf({ analyzer }: AnalysisTools, language: string, words: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const starts = new Map<number, string>()
  let bytes = 0
  // A word with accents is also indexed without them.
  const lines = words.flatMap((word) => [...new Set([word, foldLetters(word)])].map((written) => ({ word, written })))
  for (const { word, written } of lines) {
    starts.set(bytes, word)
    bytes += Buffer.byteLength(written) + 1
  }
  const tokens = analyzer.tokenize(lines.map(({ written }) => written).join('\n'), { language, stem: true, markdown: false })
  for (const { term, start } of tokens) {
    const word = starts.get(start)
    if (word !== undefined) found.set(word, [...(found.get(word) ?? []), term])
  }
  return found
}

function metadataWords(json: Buffer, key: string, term: string): Map<string, number> {
  const { meta } = headOf(json)
  return textWords(Object.hasOwn(meta, key) ? (meta[key] as readonly string[]).join(' ') : '', term)
}

/** Scans bytes, which is three times as fast. Scans text if words may have accents that their stem lacks. */
function contentWords(json: Buffer, term: string): Map<string, number> {
  const start = contentStartOf(json)
  const end = Math.min(json.length - 2, start + SURFACE_TEXT_BYTES_MAX)
  const bytes = json.toString('latin1', start, end)
  if (ONLY_ASCII.test(term) && (isAscii(json.subarray(start, end)) || !ACCENT_BYTES.test(bytes)))
    return byteWords(json, start, bytes.toLowerCase(), beginningOf(term))
  return textWords(json.toString('utf8', start, end).replace(ESCAPES, ' '), term)
}

/**
 * Lower-case words with their counts.
 * @param lower the bytes from `start` on, lower-cased; only its ASCII letters are reliable
 */
function byteWords(json: Buffer, start: number, lower: string, beginning: string): Map<string, number> {
  const counts = new Map<string, number>()
  let left = SURFACE_OCCURRENCES_MAX
  for (let at = lower.indexOf(beginning); at >= 0 && left > 0; at = lower.indexOf(beginning, at + 1)) {
    if (at > 0 && isWordByte(lower.charCodeAt(at - 1)) && lower[at - 2] !== '\\') continue
    let end = at + beginning.length
    while (end < lower.length && isWordByte(lower.charCodeAt(end))) end++
    const written = json
      .toString('utf8', start + at, start + end)
      .toLowerCase()
      .normalize('NFC')
    const word = WORD_BEGINNING.exec(written)?.[0] ?? ''
    if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1)
    at = end - 1
    left--
  }
  return counts
}

/**
 * ASCII letters and digits, and all bytes of non-ASCII characters. Whether these are letters is determined
 * after decoding.
 */
function isWordByte(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code >= 0x80
}

function beginningOf(term: string): string {
  const characters = [...foldLetters(term)]
  return characters.slice(0, Math.max(1, characters.length - CHANGED_CHARACTERS)).join('')
}

/** Lower-case words of the text that begin like the term, ignoring accents, with their counts. */
function textWords(text: string, term: string): Map<string, number> {
  const beginning = beginningOf(term)
  const lower = text.toLowerCase().normalize('NFC')
  const folded = foldLetters(lower)
  const counts = new Map<string, number>()
  for (let at = folded.indexOf(beginning); at >= 0; at = folded.indexOf(beginning, at + 1)) {
    if (at > 0 && isWordCharacter(lower, at - 1)) continue
    let end = at + beginning.length
    while (end < lower.length && isWordCharacter(lower, end)) end++
    const word = lower.slice(at, end)
    counts.set(word, (counts.get(word) ?? 0) + 1)
    at = end - 1
  }
  return counts
}

/**
 * Letters without their accents, which some stemmers remove (`häuser`, `haus`). Positions are preserved.
 * @param text NFC
 */
export function foldLetters(text: string): string {
  return text.replace(ACCENTED, (letter) => letter.normalize('NFD').charAt(0))
}

function isWordCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
  // Surrogate halves count as letters.
  return (code >= 0xd800 && code <= 0xdfff) || WORD_CHARACTER.test(text[at] ?? '')
}
