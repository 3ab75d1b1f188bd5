/**
 * Completions of a word that is being typed: words of the documents, commonest first. The index has stems, so
 * two kinds of terms are candidates: terms that begin with the typed letters, and shorter stems that the
 * typed letters have passed (`configur` for `configura`). Each is shown as the word of the documents that it
 * stands for and that begins as typed. Read lanes. Contract: service-1, "Full-text search"; reasons:
 * docs/decisions/0064-autocomplete.md.
 */
import type { Completion } from '../../engine/types.js'
import {
  AUTOCOMPLETE_CHARACTERS_MAX,
  AUTOCOMPLETE_ITEMS_DEFAULT,
  AUTOCOMPLETE_ITEMS_MAX,
  AUTOCOMPLETE_LOOK_UPS_MAX,
  AUTOCOMPLETE_STEPS_BACK_MAX,
} from '../../limits/autocomplete.js'
import type { View } from '../../store/view.js'
import { STANDARD_FIELDS } from './scoring.js'
import { foldLetters, type LookUps, type SurfaceTools, type SurfaceWords } from '../words/surface_words.js'

export interface AutocompleteRequest {
  /** As normalised. */
  readonly query: string
  /** As asked; empty: the fields that a search looks in. */
  readonly field: string
  readonly most: number
}

export interface AutocompleteItem {
  readonly term: string
  readonly field: string
  /** Documents that a search for the word finds in the field, words of the same stem included. */
  readonly docCount: number
}

/** Neither a letter with its marks nor a digit. */
const STRIPPED = /[^\p{Alphabetic}\p{M}\p{N}]/gu

/** @param topN 0 is the default, as with limits */
export function readAutocomplete(q: string, field: string | undefined, topN: number | undefined): AutocompleteRequest {
  const letters = q.normalize('NFC').toLowerCase().replace(STRIPPED, '')
  return {
    query: [...letters].slice(0, AUTOCOMPLETE_CHARACTERS_MAX).join(''),
    field: field ?? '',
    most: Math.min(topN || AUTOCOMPLETE_ITEMS_DEFAULT, AUTOCOMPLETE_ITEMS_MAX),
  }
}

/** `title` is the metadata key; every other field has its own name. */
function fieldsOf(field: string): readonly string[] {
  if (field === '') return STANDARD_FIELDS
  return [field === 'title' ? 'meta.title' : field]
}

function shownField(name: string): string {
  return name === 'meta.title' ? 'title' : name
}

/** One per lane: with the words that it remembers. Answers are kept by the front end. */
export class Autocompleter {
  readonly #surfaces: SurfaceWords

  constructor(surfaces: SurfaceWords) {
    this.#surfaces = surfaces
  }

  /** The answer's JSON. @param collection undefined where there is none */
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
    // Who types no accents finds words with them; who types one means it.
    (surfaces.of(tools, view, collection, [field], term, lookUps) ?? [term]).find(
      (form) => form.startsWith(query) || foldLetters(form).startsWith(query),
    )
  const beginnings = [...new Set([query, foldLetters(query)])]
  const passed = passedTerms(tools, collection, fields, query)
  const candidatesOf = (asked: number): Candidates => {
    const begun = beginnings.map((beginning) => tools.engine.completions(collection, fields, beginning, asked))
    return { terms: onePerTerm([...begun.flat(), ...passed]), lasts: begun.flatMap((terms) => terms[asked - 1] ?? []) }
  }
  // Each term may come from each field, and some have no word that begins as typed; but as a rule a few do,
  // which takes the engine half the time.
  const found =
    itemsOf(candidatesOf(2 * most), most, wordOf) ?? itemsOf({ ...candidatesOf(most * (fields.length + 1)), lasts: [] }, most, wordOf) ?? []
  return found.sort((one, other) => other.docCount - one.docCount || (one.term < other.term ? -1 : 1))
}

interface Candidates {
  /** Commonest first. */
  readonly terms: readonly Completion[]
  /** Behind each of them there may be terms that are missing. */
  readonly lasts: readonly Completion[]
}

/** Undefined where missing terms may be among the first `most`. */
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

/** A word is offered once, for the field in which most documents have it. Commonest first. */
function onePerTerm(completions: readonly Completion[]): Completion[] {
  const best = new Map<string, Completion>()
  for (const completion of completions) {
    const known = best.get(completion.term)
    if (known === undefined || completion.documents > known.documents) best.set(completion.term, completion)
  }
  return [...best.values()].sort((one, other) => (isBefore(one, other) ? -1 : 1))
}

/**
 * Terms that are shorter than what was typed, or end otherwise, and of whose words some may go on as typed.
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
