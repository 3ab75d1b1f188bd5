/**
 * What a misspelled word may have been meant to be. The index holds stems, so terms near to the word's own stem come into question, and, where the error is in the ending and the stem is wrong for
 * that, terms near to what the word begins with. Only words count in the end: each term is taken for the words of the documents that it stands for, and these are compared with what was written.
 * Two steps: most errors are one edit, which is looked for first and is five times as fast. Read lanes. Reasons: docs/decisions/0065-spell-correction.md.
 */
import type { NearTerm } from '../../engine/types.js'
import {
  SPELL_CANDIDATES_MAX,
  SPELL_EDITS_MAX,
  SPELL_ENDING_CHARACTERS_MAX,
  SPELL_LOOK_UPS_MAX,
  SPELL_NEAR_TERMS_MAX,
  SPELL_SHORT_CHARACTERS_MAX,
  SPELL_TWO_EDITS_CHARACTERS_MIN,
} from '../../limits.js'
import type { View } from '../../store/view.js'
import type { LookUps, SurfaceTools, SurfaceWords } from '../fulltext/surface_words.js'
import { editDistance } from './edit_distance.js'
import type { WordList } from './word_list.js'

export interface Candidate {
  readonly word: string
  readonly edits: number
  /** Logarithm of how likely it was meant, up to a constant: one edit less outweighs a word that is 150 times as common. */
  readonly score: number
}

/** Where words come from. */
export interface WordSource {
  readonly collection: number | undefined
  /** Text fields whose terms count. */
  readonly fields: readonly string[]
  readonly lists: readonly WordList[]
  /** Documents of the collection. */
  readonly documents: number
}

interface TermNear extends NearTerm {
  /** Characters of the word's end that were left out. */
  readonly cut: number
}

const COST_OF_EDIT = 5
const COST_OF_FIRST_LETTER = 2
/** The second commonest word of a stem is less likely than the first. */
const COST_OF_RARER_FORM = 0.3
const COST_OF_CUT = 0.7
/** An ending of so many characters is nothing unusual. */
const CUT_FREE = 3
const BEGINNING_CHARACTERS_MIN = 3
/** Of a walk with two edits or a beginning with one, this many first characters are right. */
const FIXED_CHARACTERS = 1
/** A word that one document in so many has is common enough for a short word. */
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

  /** @param word lower-case, unknown. @param stem of it. Best first. */
  find(word: string, stem: string): Candidate[] {
    const edits = word.length < SPELL_TWO_EDITS_CHARACTERS_MIN ? 1 : SPELL_EDITS_MAX
    const found = new Map<string, Candidate>()
    for (const list of this.#source.lists)
      for (const near of list.near(word, edits)) this.#add(found, word, near.word, 0, near.documents, edits)
    const lookUps: LookUps = { left: SPELL_LOOK_UPS_MAX }
    this.#addTerms(found, word, this.#oneEdit(word, stem), edits, lookUps)
    // Stems may differ by more than their words: `ctiy` is one edit from `city`, two from `citi`.
    const isShort = word.length <= SPELL_SHORT_CHARACTERS_MAX
    if (!isShort && ![...found.values()].some((candidate) => candidate.edits === 1))
      this.#addTerms(found, word, this.#twoEdits(word, stem), edits, lookUps)
    return [...found.values()].sort((one, other) => other.score - one.score || (one.word < other.word ? -1 : 1))
  }

  #oneEdit(word: string, stem: string): TermNear[] {
    const beginnings = beginningsOf(word).flatMap(({ text, cut }) => this.#near(text, 0, 0, cut))
    return [...this.#near(stem, 1, 0, 0), ...beginnings]
  }

  #twoEdits(word: string, stem: string): TermNear[] {
    const beginnings = beginningsOf(word).flatMap(({ text, cut }) => this.#near(text, 1, FIXED_CHARACTERS, cut))
    return [...this.#near(stem, SPELL_EDITS_MAX, FIXED_CHARACTERS, 0), ...beginnings]
  }

  #near(text: string, edits: number, fixed: number, cut: number): TermNear[] {
    const { collection, fields } = this.#source
    if (collection === undefined) return []
    const terms = this.#tools.engine.nearTerms(collection, fields, text, edits, fixed, SPELL_NEAR_TERMS_MAX)
    return terms.filter(({ term }) => ONLY_LETTERS.test(term)).map((near) => ({ ...near, cut }))
  }

  #addTerms(found: Map<string, Candidate>, word: string, terms: readonly TermNear[], editsMax: number, lookUps: LookUps): void {
    const { collection, fields } = this.#source
    if (collection === undefined) return
    for (const { term, documents } of likeliest(terms)) {
      const words = this.#surfaces.of(this.#tools, this.#view, collection, fields, term, lookUps) ?? []
      words.forEach((form, rank) => this.#add(found, word, form, rank, documents, editsMax))
    }
  }

  #add(found: Map<string, Candidate>, word: string, form: string, rank: number, documents: number, editsMax: number): void {
    if (Math.abs(form.length - word.length) > editsMax) return
    const edits = editDistance(word, form)
    if (edits === 0 || edits > editsMax) return
    const isSameFirst = form[0] === word[0]
    if (word.length <= SPELL_SHORT_CHARACTERS_MAX && (!isSameFirst || documents * COMMON_SHARE < this.#source.documents)) return
    const score =
      Math.log1p(documents) - COST_OF_EDIT * edits - (isSameFirst ? 0 : COST_OF_FIRST_LETTER) - COST_OF_RARER_FORM * Math.min(rank, 3)
    const known = found.get(form)
    if (known === undefined || known.score < score) found.set(form, { word: form, edits, score })
  }
}

/** The word without one, two, ... of its last characters. */
function beginningsOf(word: string): { readonly text: string; readonly cut: number }[] {
  const characters = [...word]
  const cuts = Math.min(SPELL_ENDING_CHARACTERS_MAX, characters.length - BEGINNING_CHARACTERS_MIN)
  return Array.from({ length: Math.max(0, cuts) }, (_, index) => ({
    text: characters.slice(0, characters.length - index - 1).join(''),
    cut: index + 1,
  }))
}

/** Each term once. What is taken before its words are known: few edits, common, not much left out. */
function likeliest(terms: readonly TermNear[]): TermNear[] {
  const cost = ({ edits, documents, cut }: TermNear): number =>
    COST_OF_EDIT * edits + COST_OF_CUT * Math.max(0, cut - CUT_FREE) - Math.log1p(documents)
  const best = new Map<string, TermNear>()
  for (const near of terms) {
    const known = best.get(near.term)
    if (known === undefined || cost(near) < cost(known)) best.set(near.term, near)
  }
  return [...best.values()].sort((one, other) => cost(one) - cost(other)).slice(0, SPELL_CANDIDATES_MAX)
}
