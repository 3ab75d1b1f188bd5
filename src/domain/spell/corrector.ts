/**
 * Corrects words that are neither in the documents of a collection nor in its dictionary. Known words are
 * never changed. One per lane; its cache is valid while index and settings are unchanged. Read lanes.
 * Reasons: docs/decisions/search/term-expansion.md.
 */
import { BoundedCache } from '../../base/bounded_cache.js'
import { SURFACE_SECONDS_MAX } from '../../limits/search.js'
import type { View } from '../../store/view.js'
import { type CollectionSettings, NO_SETTINGS, type SpellWords } from '../settings/collection_settings.js'
import { queryWords } from '../words/query_words.js'
import type { SurfaceTools, SurfaceWords } from '../words/surface_words.js'
import { defaultStopWords } from '../words/vocabulary.js'
import { type Candidate, CandidateSearch } from './candidates.js'
import { withCaseOf, wordsOfText } from './text_words.js'
import { WordList } from './word_list.js'

/** Unknown words that one request corrects, at up to 2 ms each: 0.5 s. Further ones are left as they are. */
const SPELL_WORDS_MAX = 256
/** Corrections that a lane caches until index or settings change: 4 096 x 300 B. */
const SPELL_CORRECTIONS_MAX = 4096

/** The data that a text is checked against. */
interface SpellContext {
  /** Undefined if the collection does not exist: only the stop words are known then. */
  readonly collection: { readonly id: number; readonly settings: CollectionSettings } | undefined
  /** Base code. */
  readonly language: string
  readonly fields: readonly string[]
}

/** An unknown word with its corrections. */
export interface Misspelling {
  /** As written. */
  readonly word: string
  /** UTF-16 index in the text. */
  readonly start: number
  /** Best first, in the word's case. */
  readonly suggestions: readonly string[]
  /** Of the first suggestion, 0 to 1. */
  readonly confidence: number
}

interface Remembered {
  readonly lsn: bigint
  readonly settingsLsn: bigint
  /** Unix seconds. */
  readonly at: number
  /** Undefined: the word is correct. */
  readonly candidates: readonly Candidate[] | undefined
}

/** Stop words are not in the index. Each counts as if one in this many documents contained it. */
const STOP_WORD_SHARE = 4
const CERTAINTY_BY_EDITS = [1, 0.95, 0.8]

const stopWordLists = new Map<string, readonly string[]>()
const dictionaries = new WeakMap<SpellWords, WordList>()

export class Corrector {
  readonly #surfaces: SurfaceWords
  readonly #known = new BoundedCache<Remembered>(SPELL_CORRECTIONS_MAX)

  constructor(surfaces: SurfaceWords) {
    this.#surfaces = surfaces
  }

  /**
   * The unknown words of the text, in its order. A repeated word costs nothing.
   * @param isPattern tells which parts are not checked
   */
  check(tools: SurfaceTools, view: View, context: SpellContext, text: string, isPattern?: (chunk: string) => boolean): Misspelling[] {
    const words = new Map<string, readonly Candidate[] | undefined>()
    let searched = 0
    return wordsOfText(text, isPattern).flatMap(({ text: word, start }) => {
      const lower = word.toLowerCase().normalize('NFC')
      if (!words.has(lower)) {
        if (searched >= SPELL_WORDS_MAX) return []
        const candidates = this.#candidates(tools, view, context, lower)
        if (candidates !== undefined) searched++
        words.set(lower, candidates)
      }
      const candidates = words.get(lower)
      if (candidates === undefined) return []
      return [
        {
          word,
          start,
          suggestions: candidates.map((candidate) => withCaseOf(word, candidate.word)),
          confidence: confidenceOf(candidates),
        },
      ]
    })
  }

  #candidates(tools: SurfaceTools, view: View, context: SpellContext, word: string): readonly Candidate[] | undefined {
    const { collection, language, fields } = context
    const settingsLsn = collection?.settings.lsn ?? 0n
    const lsn = tools.engine.lastLsn()
    const key = `${collection?.id ?? ''} ${language} ${fields.join()} ${word}`
    const known = this.#known.get(key)
    const isFresh = known?.lsn === lsn && known.settingsLsn === settingsLsn && Math.abs(view.now - known.at) < SURFACE_SECONDS_MAX
    if (isFresh) return known.candidates
    const candidates = this.#search(tools, view, context, word)
    this.#known.set(key, { lsn, settingsLsn, at: view.now, candidates })
    return candidates
  }

  #search(tools: SurfaceTools, view: View, { collection, language, fields }: SpellContext, word: string): Candidate[] | undefined {
    const settings = collection?.settings ?? NO_SETTINGS
    const reading = { language, stem: tools.config.ftsStemming, synonyms: true }
    const { tokenize, alternatives } = queryWords(tools.analyzer, settings, reading)
    const tokens = tokenize(word)
    const [token] = tokens
    // A stop word, or a word that is not a single term in the index.
    if (token === undefined || tokens.length > 1 || alternatives(tokens).length > 0) return undefined
    if (collection !== undefined && tools.engine.termFrequencies(collection.id, fields, [token.term]).length > 0) return undefined
    const documents = collection === undefined ? 0 : view.collectionCounters(collection.id).documents
    const dictionary = dictionaryOf(settings.dictionaries.get(language))
    if (dictionary?.has(word) === true) return undefined
    const lists = [stopWordsOf(language, documents), ...(dictionary === undefined ? [] : [dictionary])]
    const stemOf = (other: string): string | undefined => {
      const [only, ...more] = tokenize(other)
      return more.length > 0 ? undefined : only?.term
    }
    const source = { collection: collection?.id, fields, lists, documents, stemOf }
    return new CandidateSearch(tools, view, this.#surfaces, source).find(word, token.term)
  }
}

/** Replaces each word that has suggestions by its first suggestion. */
export function applyCorrections(text: string, misspellings: readonly Misspelling[]): string {
  let corrected = ''
  let from = 0
  for (const { word, start, suggestions } of misspellings) {
    const [suggestion] = suggestions
    if (suggestion === undefined) continue
    corrected += text.slice(from, start) + suggestion
    from = start + word.length
  }
  return corrected + text.slice(from)
}

/** The likelihood of the first candidate relative to all candidates, reduced by its number of edits. */
function confidenceOf(candidates: readonly Candidate[]): number {
  const [best] = candidates
  if (best === undefined) return 0
  const sum = candidates.reduce((total, { score }) => total + Math.exp(score - best.score), 0)
  return Math.round(((CERTAINTY_BY_EDITS[best.edits] ?? 0) / sum) * 1000) / 1000
}

function stopWordsOf(language: string, documents: number): WordList {
  const known = stopWordLists.get(language) ?? [...defaultStopWords(language)].filter((word) => word.length > 1)
  stopWordLists.set(language, known)
  return new WordList(known.map((word) => ({ word, documents: Math.max(1, Math.floor(documents / STOP_WORD_SHARE)) })))
}

function dictionaryOf(words: SpellWords | undefined): WordList | undefined {
  if (words === undefined) return undefined
  const known = dictionaries.get(words) ?? new WordList(words.map(([word, documents]) => ({ word, documents })))
  dictionaries.set(words, known)
  return known
}
