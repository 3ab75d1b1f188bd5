/**
 * From terms of the index, which are stems, back to words that people read: `databas` is shown as `database`. There is no second index: a few documents that have the term are looked at, and
 * the word of theirs whose stem it is most often is its surface form. What was found is kept for a minute, so that it can't be wrong for longer. One per lane; reads the engine and a view.
 * Reasons: docs/decisions/0064-autocomplete.md.
 */
import { resolveLanguage } from '../../engine/languages.js'
import type { SearchEngine, SearchPlan } from '../../engine/types.js'
import { SURFACE_DOCUMENTS, SURFACE_FORMS_MAX, SURFACE_SECONDS_MAX, SURFACE_TERMS_MAX, SURFACE_TEXT_BYTES_MAX } from '../../limits.js'
import type { View } from '../../store/view.js'
import { BoundedCache } from '../bounded_cache.js'
import type { PreparationTools } from '../preparation.js'
import { contentStartOf, headOf } from './document_text.js'

export interface SurfaceTools extends PreparationTools {
  readonly engine: SearchEngine
}

/** How many terms may still be looked up in documents for the request: looking up costs some 60 us, remembering nothing. */
export interface LookUps {
  left: number
}

interface Found {
  readonly words: readonly string[]
  readonly at: number
}

/** Characters of a term that its words surely begin with: stemmers change the last one or two (`librari`, `happi`), never what is before. */
const CHANGED_CHARACTERS = 2
/** Scripts that are indexed by characters, pairs or dictionary words: their terms are what is written. */
const UNSTEMMED = /[\p{N}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u
const ACCENTED = /[\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]/g
const ESCAPES = /\\(?:u[0-9a-f]{4}|.)/gi

export class SurfaceWords {
  readonly #known = new BoundedCache<Found>(SURFACE_TERMS_MAX)

  /**
   * The words that the term stands for in these fields, lower-case, commonest first. Empty where no document that can be read has it; undefined where nothing is known and no look-up is left.
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
    if (known !== undefined && Math.abs(view.now - known.at) < SURFACE_SECONDS_MAX) return known.words
    if (lookUps.left <= 0) return undefined
    lookUps.left--
    const words = lookUp(tools, view, collection, fields, term)
    this.#known.set(key, { words, at: view.now })
    return words
  }
}

interface Count {
  documents: number
  occurrences: number
}

function lookUp(tools: SurfaceTools, view: View, collection: number, fields: readonly string[], term: string): string[] {
  const { hits } = tools.engine.search(planOf(collection, fields, term))
  const counts = new Map<string, Count>()
  for (const { docid } of hits) {
    const document = view.document(collection, docid)
    if (document === undefined) continue
    for (const [word, occurrences] of wordsOf(tools, document.json, fields, term)) {
      const count = counts.get(word) ?? { documents: 0, occurrences: 0 }
      counts.set(word, { documents: count.documents + 1, occurrences: count.occurrences + occurrences })
    }
  }
  const isCommoner = ([one, a]: [string, Count], [other, b]: [string, Count]): number =>
    b.documents - a.documents || b.occurrences - a.occurrences || (one < other ? -1 : 1)
  return [...counts]
    .sort(isCommoner)
    .slice(0, SURFACE_FORMS_MAX)
    .map(([word]) => word)
}

/** The best documents for the term, which say it often: a ranked search stops early, a listing by docid walks the whole list. */
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

/** Words of the document's fields whose stem the term is, with how often they stand there. */
function wordsOf({ analyzer, config }: PreparationTools, json: Buffer, fields: readonly string[], term: string): Map<string, number> {
  const { lang, meta } = headOf(json)
  const text = fields
    .map((field) => (field === 'content' ? contentOf(json) : (meta[field.slice('meta.'.length)] ?? []).join(' ')))
    .join('\n')
  const candidates = wordsBeginningWith(text, beginningOf(term))
  const list = [...candidates.keys()]
  const language = resolveLanguage(lang, config.ftsDefaultLang)
  const words = new Map<string, number>()
  // One run of the analyzer for all of them; a line each, so that a token's place tells its word.
  const starts = new Map<number, string>()
  let bytes = 0
  for (const word of list) {
    starts.set(bytes, word)
    bytes += Buffer.byteLength(word) + 1
  }
  for (const { term: stem, start } of analyzer.tokenize(list.join('\n'), { language, stem: true, markdown: false })) {
    const word = starts.get(start)
    if (word !== undefined && stem === term) words.set(word, candidates.get(word) ?? 0)
  }
  return words
}

/** A part of the content, its escapes taken for spaces. */
function contentOf(json: Buffer): string {
  const start = contentStartOf(json)
  return json.toString('utf8', start, Math.min(json.length - 2, start + SURFACE_TEXT_BYTES_MAX)).replace(ESCAPES, ' ')
}

function beginningOf(term: string): string {
  const characters = [...foldLetters(term)]
  return characters.slice(0, Math.max(1, characters.length - CHANGED_CHARACTERS)).join('')
}

/** Lower-case words of the text with their counts. */
function wordsBeginningWith(text: string, beginning: string): Map<string, number> {
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

/** Letters without their accents, which some stemmers take away (`häuser`, `haus`). Places stay. @param text NFC */
export function foldLetters(text: string): string {
  return text.replace(ACCENTED, (letter) => letter.normalize('NFD').charAt(0))
}

function isWordCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
  // Halves of letters beyond the basic plane count as letters.
  return (code >= 0xd800 && code <= 0xdfff) || WORD_CHARACTER.test(text[at] ?? '')
}
