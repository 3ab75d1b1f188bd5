/**
 * Candidates for the correction of a misspelled word. The index stores stems, so candidates are terms near
 * the stem of the word, and, where an error in the ending makes the stem wrong, terms near the beginnings of
 * the word. Each term is replaced by its surface words in the documents, and these are compared with the
 * written word. One edit is tried first: most errors are one edit, and that search is five times as fast.
 * Read lanes. Reasons: docs/decisions/search/term-expansion.md.
 */
import { editDistance } from '../../engine/text/edit_distance.js'
import type { NearTerm } from '../../engine/types.js'
import type { View } from '../../store/view.js'
import type { LookUps, SurfaceTools, SurfaceWords } from '../words/surface_words.js'
import type { WordList } from './word_list.js'

/** Edits between a word and its correction, as the engine counts them; a transposition is one. */
const SPELL_EDITS_MAX = 2
/**
 * Words of at most this many characters are similar to too many others. They get one edit, keep the first
 * character, and are corrected only to frequent words.
 */
const SPELL_SHORT_CHARACTERS_MAX = 3
/** Words of at least this many characters may have two errors. */
const SPELL_TWO_EDITS_CHARACTERS_MIN = 5
/**
 * Characters that an ending adds to its stem: `-fulness`, `-ational`. A word with a wrong ending is looked up
 * by what precedes it.
 */
const SPELL_ENDING_CHARACTERS_MAX = 7
/** Terms that one traversal of the dictionaries returns at most. */
const SPELL_NEAR_TERMS_MAX = 32
/** Terms of one traversal whose words are compared, and look-ups in documents for one word: 12 x 150 us. */
const SPELL_CANDIDATES_MAX = 10
const SPELL_LOOK_UPS_MAX = 12

export interface Candidate {
  readonly word: string
  readonly edits: number
  /**
   * Logarithm of the likelihood that this word was intended, up to a constant. One edit less outweighs a word
   * that is 150 times as frequent.
   */
  readonly score: number
}

/** Where candidates come from. */
interface WordSource {
  readonly collection: number | undefined
  /** Text fields whose terms are candidates. */
  readonly fields: readonly string[]
  readonly lists: readonly WordList[]
  /** Number of documents in the collection. */
  readonly documents: number
  /** Returns undefined if the word is a stop word or several terms. */
  readonly stemOf: (word: string) => string | undefined
}

interface TermNear extends NearTerm {
  /** The end of the word that was removed before the search. */
  readonly ending: string
}

const COST_OF_EDIT = 5
const COST_OF_FIRST_LETTER = 2
/** The second most frequent word of a stem is less likely than the first. */
const COST_OF_RARER_FORM = 0.3
/** A word composed of a stem and the written ending that was not seen in a document. It may not exist. */
const COST_OF_UNSEEN_FORM = 3
const COST_OF_CUT = 0.7
/** Removing an ending of up to this many characters costs nothing. */
const CUT_FREE = 3
const BEGINNING_CHARACTERS_MIN = 3
/** Number of leading characters that must match in a search with two edits. */
const FIXED_CHARACTERS = 1
/** A correction of a short word must occur in at least one of this many documents. */
const COMMON_SHARE = 200
const ONLY_LETTERS = /^[\p{L}\p{M}]+$/u

export class CandidateSearch {
  readonly #tools: SurfaceTools
  readonly #view: View
  readonly #surfaces: SurfaceWords
  readonly #source: WordSource

  constructor(tools: SurfaceTools, view: View, surfaces: SurfaceWords, source: WordSource) {
    this.#tools = tools
    this.#view = view
    this.#surfaces = surfaces
    this.#source = source
  }

  /**
   * Best first.
   * @param word lower case, unknown
   * @param stem of the word
   */
  find(word: string, stem: string): Candidate[] {
    const edits = word.length < SPELL_TWO_EDITS_CHARACTERS_MIN ? 1 : SPELL_EDITS_MAX
    const found = new Map<string, Candidate>()
    const lookUps: LookUps = { left: SPELL_LOOK_UPS_MAX }
    this.#addTerms(found, word, this.#oneEdit(word, stem), edits, lookUps)
    // Stems may differ by more edits than their words: `ctiy` is one edit from `city`, two from `citi`.
    const isShort = word.length <= SPELL_SHORT_CHARACTERS_MAX
    if (!isShort && ![...found.values()].some((candidate) => candidate.edits === 1))
      this.#addTerms(found, word, this.#twoEdits(word, stem), edits, lookUps)
    // Lists come last: a nearby word of a list is no evidence for the collection's own words.
    for (const list of this.#source.lists)
      for (const near of list.near(word, edits)) this.#add(found, word, near.word, 0, near.documents, edits)
    return [...found.values()].sort((one, other) => other.score - one.score || (one.word < other.word ? -1 : 1))
  }

  #oneEdit(word: string, stem: string): TermNear[] {
    // A misspelled word may have an ending that the stemmer removes although the intended word does not have
    // it: `eneral`, `ener`.
    const whole = stem === word ? [] : this.#near(word, 1, 0, '')
    return [...this.#near(stem, 1, 0, endingOf(word, stem)), ...whole, ...this.#beginnings(word)]
  }

  /** The beginnings of the word that are themselves terms. */
  #beginnings(word: string): TermNear[] {
    const { collection, fields } = this.#source
    if (collection === undefined) return []
    const beginnings = beginningsOf(word).filter(({ text }) => ONLY_LETTERS.test(text))
    const counts = new Map<string, number>()
    const texts = beginnings.map(({ text }) => text)
    for (const { term, documents } of this.#tools.engine.termFrequencies(collection, fields, texts))
      counts.set(term, (counts.get(term) ?? 0) + documents)
    return beginnings.flatMap(({ text, ending }) => {
      const documents = counts.get(text)
      return documents === undefined ? [] : [{ term: text, edits: 0, documents, ending }]
    })
  }

  #twoEdits(word: string, stem: string): TermNear[] {
    const beginnings = beginningsOf(word).flatMap(({ text, ending }) => this.#near(text, 1, 0, ending))
    return [...this.#near(stem, SPELL_EDITS_MAX, FIXED_CHARACTERS, endingOf(word, stem)), ...beginnings]
  }

  #near(text: string, edits: number, fixed: number, ending: string): TermNear[] {
    const { collection, fields } = this.#source
    if (collection === undefined) return []
    const terms = this.#tools.engine.nearTerms(collection, fields, text, edits, fixed, SPELL_NEAR_TERMS_MAX)
    return terms.filter(({ term }) => ONLY_LETTERS.test(term)).map((near) => ({ ...near, ending }))
  }

  #addTerms(found: Map<string, Candidate>, word: string, terms: readonly TermNear[], editsMax: number, lookUps: LookUps): void {
    const { collection, fields, stemOf } = this.#source
    if (collection === undefined) return
    for (const { term, documents, ending } of likeliest(terms)) {
      const words = this.#surfaces.of(this.#tools, this.#view, collection, fields, term, lookUps) ?? []
      words.forEach((form, rank) => this.#add(found, word, form, COST_OF_RARER_FORM * Math.min(rank, 3), documents, editsMax))
      // Only a few documents are read. They may lack the word with the written ending.
      if (ending !== '' && stemOf(term + ending) === term) this.#add(found, word, term + ending, COST_OF_UNSEEN_FORM, documents, editsMax)
    }
  }

  #add(found: Map<string, Candidate>, word: string, form: string, cost: number, documents: number, editsMax: number): void {
    if (Math.abs(form.length - word.length) > editsMax) return
    const edits = editDistance(word, form)
    if (edits === 0 || edits > editsMax) return
    const isSameFirst = form[0] === word[0]
    if (word.length <= SPELL_SHORT_CHARACTERS_MAX && (!isSameFirst || documents * COMMON_SHARE < this.#source.documents)) return
    const score = Math.log1p(documents) - COST_OF_EDIT * edits - (isSameFirst ? 0 : COST_OF_FIRST_LETTER) - cost
    const known = found.get(form)
    if (known === undefined || known.score < score) found.set(form, { word: form, edits, score })
  }
}

/** The ending that the stemmer removed. Empty if it changed more than the ending. */
function endingOf(word: string, stem: string): string {
  return word.startsWith(stem) ? word.slice(stem.length) : ''
}

/** The word without its last one, two, ... characters. */
function beginningsOf(word: string): { readonly text: string; readonly ending: string }[] {
  const characters = [...word]
  const cuts = Math.min(SPELL_ENDING_CHARACTERS_MAX, characters.length - BEGINNING_CHARACTERS_MIN)
  return Array.from({ length: Math.max(0, cuts) }, (_, index) => {
    const length = characters.length - index - 1
    return { text: characters.slice(0, length).join(''), ending: characters.slice(length).join('') }
  })
}

/**
 * Keeps each term once. Selects candidates before their words are known: few edits, frequent, and little
 * removed.
 */
function likeliest(terms: readonly TermNear[]): TermNear[] {
  const cost = ({ edits, documents, ending }: TermNear): number =>
    COST_OF_EDIT * edits + COST_OF_CUT * Math.max(0, ending.length - CUT_FREE) - Math.log1p(documents)
  const best = new Map<string, TermNear>()
  for (const near of terms) {
    const known = best.get(near.term)
    if (known === undefined || cost(near) < cost(known)) best.set(near.term, near)
  }
  return [...best.values()].sort((one, other) => cost(one) - cost(other)).slice(0, SPELL_CANDIDATES_MAX)
}
