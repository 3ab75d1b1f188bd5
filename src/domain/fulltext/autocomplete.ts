/**
 * Autocomplete: completions of the word that is being typed. Completions are words of the documents, most
 * frequent first. The index stores stems, so there are two kinds of candidates: terms that begin with the
 * typed letters, and stems that are shorter than the typed prefix (`configur` for `configura`). Each
 * candidate is shown as a word of the documents that has this stem and begins with the typed letters. Read
 * lanes. Contract: service-1, "Full-text search"; reasons: docs/decisions/search/term-expansion.md.
 */
import type { Completion } from '../../engine/types.js'
import type { View } from '../../store/view.js'
import { foldLetters, type LookUps, type SurfaceTools, type SurfaceWords } from '../words/surface_words.js'
import { STANDARD_FIELDS } from './scoring.js'

/** Characters of the prefix to complete. Fixed by the contract. Further ones are cut off. */
const AUTOCOMPLETE_CHARACTERS_MAX = 32
/** Default number of completions. Fixed by the contract. */
const AUTOCOMPLETE_ITEMS_DEFAULT = 10
/**
 * Maximum number of completions. More do not help a user who types, and each may need a look-up in documents.
 */
const AUTOCOMPLETE_ITEMS_MAX = 100
/**
 * Maximum number of characters cut from the prefix to find stems that are shorter than it. `configura` has
 * five more than its stem would need for `-ational`.
 */
const AUTOCOMPLETE_STEPS_BACK_MAX = 6
/**
 * Terms whose words are looked up in documents for one autocompletion: 24 x 150 us. Further terms are shown
 * in their index form.
 */
const AUTOCOMPLETE_LOOK_UPS_MAX = 24

interface AutocompleteRequest {
  /** The normalised prefix. */
  readonly query: string
  /** As requested. Empty: the fields that a search scores by default. */
  readonly field: string
  readonly most: number
}

interface AutocompleteItem {
  readonly term: string
  readonly field: string
  /**
   * Number of documents that a search for the word finds in the field, including documents with other words
   * of the same stem.
   */
  readonly docCount: number
}

/** Characters that are neither letters, combining marks nor digits. */
const STRIPPED = /[^\p{Alphabetic}\p{M}\p{N}]/gu

/** @param topN 0 selects the default, as with limits */
export function readAutocomplete(q: string, field: string | undefined, topN: number | undefined): AutocompleteRequest {
  const letters = q.normalize('NFC').toLowerCase().replace(STRIPPED, '')
  return {
    query: [...letters].slice(0, AUTOCOMPLETE_CHARACTERS_MAX).join(''),
    field: field ?? '',
    most: Math.min(topN || AUTOCOMPLETE_ITEMS_DEFAULT, AUTOCOMPLETE_ITEMS_MAX),
  }
}

/** `title` is the metadata key. Every other field keeps its own name. */
function fieldsOf(field: string): readonly string[] {
  if (field === '') return STANDARD_FIELDS
  return [field === 'title' ? 'meta.title' : field]
}

function shownField(name: string): string {
  return name === 'meta.title' ? 'title' : name
}

/**
 * Completes prefixes. One per lane, with the lane's cache of surface words. The front end caches the answers.
 */
export class Autocompleter {
  readonly #surfaces: SurfaceWords

  constructor(surfaces: SurfaceWords) {
    this.#surfaces = surfaces
  }

  /** Returns the answer's JSON. @param collection undefined if it does not exist */
  complete(tools: SurfaceTools, view: View, collection: number | undefined, request: AutocompleteRequest): string {
    if (collection === undefined || request.query === '') return answerOf([], request)
    return answerOf(completionsOf(tools, this.#surfaces, view, collection, request), request)
  }
}

function answerOf(items: readonly AutocompleteItem[], { query, field }: AutocompleteRequest): string {
  return JSON.stringify({ items, total: items.length, query, field })
}

function completionsOf(
  tools: SurfaceTools,
  surfaces: SurfaceWords,
  view: View,
  collection: number,
  request: AutocompleteRequest,
): readonly AutocompleteItem[] {
  const { query, most } = request
  const fields = fieldsOf(request.field)
  const lookUps: LookUps = { left: AUTOCOMPLETE_LOOK_UPS_MAX }
  const wordOf = ({ term, field }: Completion): string | undefined =>
    // A prefix without accents also matches words with accents. A prefix with accents matches only those.
    (surfaces.of(tools, view, collection, [field], term, lookUps) ?? [term]).find(
      (form) => form.startsWith(query) || foldLetters(form).startsWith(query),
    )
  const beginnings = [...new Set([query, foldLetters(query)])]
  const passed = passedTerms(tools, collection, fields, query)
  const candidatesOf = (asked: number): Candidates => {
    const begun = beginnings.map((beginning) => tools.engine.completions(collection, fields, beginning, asked))
    return { terms: onePerTerm([...begun.flat(), ...passed]), lasts: begun.flatMap((terms) => terms[asked - 1] ?? []) }
  }
  // A term may be returned once per field, and some terms have no word that begins with the typed letters.
  // The worst case therefore needs `most * (fields + 1)` candidates. `2 * most` usually suffice and take the
  // engine half the time, so they are tried first.
  const found =
    itemsOf(candidatesOf(2 * most), most, wordOf) ?? itemsOf({ ...candidatesOf(most * (fields.length + 1)), lasts: [] }, most, wordOf) ?? []
  return found.sort((one, other) => other.docCount - one.docCount || (one.term < other.term ? -1 : 1))
}

interface Candidates {
  /** Most frequent first. */
  readonly terms: readonly Completion[]
  /** The last term of each list that the engine cut off: terms that sort after it may be missing. */
  readonly lasts: readonly Completion[]
}

/** Returns undefined if a missing term may belong to the first `most`. */
function itemsOf(
  { terms, lasts }: Candidates,
  most: number,
  wordOf: (candidate: Completion) => string | undefined,
): AutocompleteItem[] | undefined {
  const items = new Map<string, AutocompleteItem>()
  for (const candidate of terms) {
    if (items.size === most) break
    if (lasts.some((last) => isBefore(last, candidate))) return undefined
    const word = wordOf(candidate)
    if (word === undefined || items.has(word)) continue
    items.set(word, { term: word, field: shownField(candidate.field), docCount: candidate.documents })
  }
  return items.size < most && lasts.length > 0 ? undefined : [...items.values()]
}

function isBefore(one: Completion, other: Completion): boolean {
  return one.documents > other.documents || (one.documents === other.documents && one.term < other.term)
}

/** Keeps each term once, for the field in which most documents have it. Most frequent first. */
function onePerTerm(completions: readonly Completion[]): Completion[] {
  const best = new Map<string, Completion>()
  for (const completion of completions) {
    const known = best.get(completion.term)
    if (known === undefined || completion.documents > known.documents) best.set(completion.term, completion)
  }
  return [...best.values()].sort((one, other) => (isBefore(one, other) ? -1 : 1))
}

/**
 * Terms that do not begin with the typed letters, but whose surface words may: the stem of the prefix, and
 * the prefix with letters removed from its end.
 */
function passedTerms(
  { engine, analyzer, config }: SurfaceTools,
  collection: number,
  fields: readonly string[],
  query: string,
): Completion[] {
  if (!config.ftsStemming) return []
  const stems = analyzer.tokenize(query, { language: config.ftsDefaultLang, stem: true, markdown: false }).map(({ term }) => term)
  const candidates = new Set(stems.length === 1 ? stems.filter((stem) => !stem.startsWith(query)) : [])
  for (const characters of new Set([query, foldLetters(query)]).values()) {
    const all = [...characters]
    for (let length = all.length - 1; length >= Math.max(2, all.length - AUTOCOMPLETE_STEPS_BACK_MAX); length--)
      candidates.add(all.slice(0, length).join(''))
  }
  return engine.termFrequencies(collection, fields, [...candidates])
}
