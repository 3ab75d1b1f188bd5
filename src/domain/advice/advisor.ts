/**
 * What the searches of a collection say about it: queries that find nothing, the words that they lack,
 * queries that are slow, and settings that would help. Everything comes from the counts of queries
 * (telemetry/search_counts.ts) and from the present index. Read lanes. Reasons:
 * docs/decisions/search/search-advisor.md.
 */
import { resolveLanguage } from '../../engine/text/languages.js'
import type { SearchEngine } from '../../engine/types.js'
import { COUNTED_TEXT_BYTES } from '../../limits/search.js'
import type { View } from '../../store/view.js'
import { STANDARD_FIELDS } from '../fulltext/scoring.js'
import type { SearchedCollection } from '../search/context.js'
import type { QueryCounts } from '../search/search_stats.js'
import { applyCorrections } from '../spell/corrector.js'
import type { CorrectionTools } from '../spell/query_correction.js'
import { queryWords } from '../words/query_words.js'

/** A search that takes longer is slow: a person notices 100 ms. */
const ADVICE_SLOW_MS = 100
/** Suggestions of one kind in one answer: what a person reads. */
export const ADVICE_PER_KIND_MAX = 10
/** Times that a query must have been asked, or have found nothing. Once is one person's typing error. */
const ADVICE_TIMES_MIN = 2
/** Times that a query must have run before caching its answers is suggested. */
const ADVICE_REPEATED_TIMES_MIN = 20
/** Mean duration above which a repeated query is worth a cached answer. */
const ADVICE_REPEATED_MS_MIN = 2
/** Queries whose words are examined: 30 spelling searches of 5 ms each fit the deadline. */
const ADVICE_EXAMINED_MAX = 30
/** Queries with results that each of those is compared with: tokenizing one takes 5 us. */
const ADVICE_COMPARED_MAX = 500

const UTF8_CHARACTER_BYTES = 4

interface Suggestion {
  readonly kind: 'setting' | 'synonym' | 'emptyQuery' | 'slowQuery'
  readonly text: string
  readonly evidence: Readonly<Record<string, unknown>>
}

/** Settings of the collection that the server may change on request. */
interface SafeSettings {
  readonly spellCorrect: true
}

interface Advice {
  readonly suggestions: readonly Suggestion[]
  /** Undefined: nothing of it can be applied by the server. */
  readonly settings: SafeSettings | undefined
}

interface AdviceTools extends CorrectionTools {
  readonly config: CorrectionTools['config'] & { readonly ftsDefaultLang: string }
  readonly engine: CorrectionTools['engine'] & Pick<SearchEngine, 'termFrequencies'>
}

interface ExaminedQuery extends QueryCounts {
  /** Times that it certainly was asked. */
  readonly times: number
  /** With its words corrected; undefined: they are known, or nothing is similar. */
  readonly corrected: string | undefined
}

/** @param counts of the collection, the most frequent query first */
export function adviseOn(tools: AdviceTools, view: View, collection: SearchedCollection, counts: readonly QueryCounts[]): Advice {
  const language = languageOf(tools, collection)
  const examined = examine(tools, view, collection, counts, language)
  const misspelled = examined.filter(({ corrected }) => corrected !== undefined)
  const hasCorrection = collection.settings.config.spellCorrect === true
  const spelling = misspelled.length > 0 && !hasCorrection ? [spellingOf(misspelled, tools.config.spell)] : []
  const unknown = examined.filter(({ corrected }) => corrected === undefined)
  const empty = examined.filter((query) => query.empty >= ADVICE_TIMES_MIN)
  return {
    suggestions: [
      ...spelling,
      ...repeatedQueries(counts),
      ...synonymsOf(new TermSets(tools, collection, language), unknown, counts),
      ...empty.slice(0, ADVICE_PER_KIND_MAX).map(describeEmpty),
      ...slowQueries(counts),
    ],
    settings: spelling.length > 0 && tools.config.spell ? { spellCorrect: true } : undefined,
  }
}

function languageOf({ config }: AdviceTools, { settings }: SearchedCollection): string {
  const { spellLang } = settings.config
  return spellLang ? resolveLanguage(spellLang, config.ftsDefaultLang) : config.ftsDefaultLang
}

/** The queries that were asked repeatedly, those that found nothing first. */
function examine(
  tools: AdviceTools,
  view: View,
  collection: SearchedCollection,
  counts: readonly QueryCounts[],
  language: string,
): ExaminedQuery[] {
  const asked = counts.filter(({ query, count, surplus }) => count - surplus >= ADVICE_TIMES_MIN && !isCut(query))
  asked.sort((one, other) => other.empty - one.empty || other.count - one.count)
  return asked.slice(0, ADVICE_EXAMINED_MAX).map((counted) => {
    const misspellings = tools.corrector.check(tools, view, { collection, language, fields: STANDARD_FIELDS }, counted.query)
    const corrected = applyCorrections(counted.query, misspellings)
    return { ...counted, times: counted.count - counted.surplus, corrected: corrected === counted.query ? undefined : corrected }
  })
}

function spellingOf(misspelled: readonly ExaminedQuery[], isOffered: boolean): Suggestion {
  const queries = misspelled.slice(0, ADVICE_PER_KIND_MAX).map(({ query, corrected, times }) => ({ query, corrected, times }))
  const times = misspelled.reduce((sum, query) => sum + query.times, 0)
  const first = isOffered
    ? 'Set `spellCorrect` of the collection'
    : 'Start the server with SVC_SPELL=true and set `spellCorrect` of the collection'
  return {
    kind: 'setting',
    text: `${first}: ${times} searches had a misspelled word, which no document has.`,
    evidence: { setting: 'spellCorrect', value: true, queries },
  }
}

function repeatedQueries(counts: readonly QueryCounts[]): Suggestion[] {
  const repeated = counts.filter(
    ({ count, surplus, meanMs }) => count - surplus >= ADVICE_REPEATED_TIMES_MIN && meanMs >= ADVICE_REPEATED_MS_MIN,
  )
  return repeated.slice(0, ADVICE_PER_KIND_MAX).map(({ query, count, surplus, meanMs }) => ({
    kind: 'setting',
    text: `Send \`cacheTtl\` with the query ${quoted(query)}: its answer is then reused until the next write.`,
    evidence: { setting: 'cacheTtl', query, times: count - surplus, meanMs: rounded(meanMs) },
  }))
}

function describeEmpty({ query, count, empty, corrected }: ExaminedQuery): Suggestion {
  return {
    kind: 'emptyQuery',
    text: `The query ${quoted(query)} found nothing ${empty} times.`,
    evidence: { query, times: empty, searches: count, ...(corrected === undefined ? {} : { corrected }) },
  }
}

export function slowQueries(counts: readonly QueryCounts[]): Suggestion[] {
  const slow = counts.filter(({ slowestMs }) => slowestMs >= ADVICE_SLOW_MS).sort((one, other) => other.slowestMs - one.slowestMs)
  return slow.slice(0, ADVICE_PER_KIND_MAX).map(({ query, count, surplus, meanMs, slowestMs }) => ({
    kind: 'slowQuery',
    text: `The query ${quoted(query)} took up to ${Math.round(slowestMs)} ms.`,
    evidence: { query, times: count - surplus, meanMs: rounded(meanMs), slowestMs: rounded(slowestMs) },
  }))
}

/**
 * A word that no document has, in a query that is otherwise equal to one that finds documents, may mean the
 * word that the other query has in its place.
 */
function synonymsOf(sets: TermSets, unknown: readonly ExaminedQuery[], counts: readonly QueryCounts[]): Suggestion[] {
  const found = counts.filter(({ count, empty }) => empty < count).slice(0, ADVICE_COMPARED_MAX)
  const suggestions: Suggestion[] = []
  for (const asked of unknown) {
    if (suggestions.length >= ADVICE_PER_KIND_MAX) break
    const terms = sets.of(asked.query)
    const lacking = [...terms].filter(([term]) => !sets.isKnown(term))
    const [missing] = lacking
    if (missing === undefined || lacking.length > 1 || terms.size < 2) continue
    for (const other of found) {
      const replacement = sets.replacementIn(sets.of(other.query), terms, missing[0])
      if (replacement === undefined) continue
      suggestions.push({
        kind: 'synonym',
        text: `Add ${quoted(replacement)} as a synonym of ${quoted(missing[1])}: no document has the latter.`,
        evidence: { term: missing[1], synonym: replacement, query: asked.query, times: asked.times, similarQuery: other.query },
      })
      break
    }
  }
  return suggestions
}

/** The terms of queries, each with the word as it was written. */
class TermSets {
  readonly #sets = new Map<string, ReadonlyMap<string, string>>()
  readonly #known = new Map<string, boolean>()
  readonly #tools: AdviceTools
  readonly #collection: SearchedCollection
  readonly #language: string

  constructor(tools: AdviceTools, collection: SearchedCollection, language: string) {
    this.#tools = tools
    this.#collection = collection
    this.#language = language
  }

  of(query: string): ReadonlyMap<string, string> {
    let terms = this.#sets.get(query)
    if (terms === undefined) {
      const reading = { language: this.#language, stem: this.#tools.config.ftsStemming, synonyms: false }
      const { tokenize, unstemmed } = queryWords(this.#tools.analyzer, this.#collection.settings, reading)
      const written = new Map(unstemmed(query).map(({ start, term }) => [start, term]))
      terms = new Map(tokenize(query).map(({ start, term }) => [term, written.get(start) ?? term]))
      this.#sets.set(query, terms)
    }
    return terms
  }

  isKnown(term: string): boolean {
    let isKnown = this.#known.get(term)
    if (isKnown === undefined) {
      isKnown = this.#tools.engine.termFrequencies(this.#collection.id, STANDARD_FIELDS, [term]).length > 0
      this.#known.set(term, isKnown)
    }
    return isKnown
  }

  /**
   * The word that `other` has in the place of `missing`, if the two queries have all other terms in common.
   */
  replacementIn(other: ReadonlyMap<string, string>, terms: ReadonlyMap<string, string>, missing: string): string | undefined {
    if (other.size !== terms.size) return undefined
    const different = [...other].filter(([term]) => !terms.has(term))
    const [only] = different
    return only === undefined || different.length > 1 || other.has(missing) || !this.isKnown(only[0]) ? undefined : only[1]
  }
}

/** Its last word may be half a word. */
function isCut(query: string): boolean {
  return Buffer.byteLength(query) > COUNTED_TEXT_BYTES - UTF8_CHARACTER_BYTES
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}
