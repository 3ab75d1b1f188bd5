/**
 * Analyses the words of a query in a collection with its own stop words and synonyms. Stop words are removed
 * like the default ones, and synonyms are added to the search. Both lists are analysed as the query is, once
 * per state of the settings, language and stemming. Pure except for the analyzer; read lanes. Rules:
 * docs/decisions/search/search-answers.md.
 */
import type { Analyzer, QueryToken } from '../../engine/types.js'
import type { CollectionSettings, Synonyms } from '../settings/collection_settings.js'
import { wholesOf } from './identifiers.js'
import type { Alternative, FindAlternatives, FindIdentifiers, PositionedTerm, QueryWords, Tokenize } from './reading.js'

interface Reading {
  readonly language: string
  readonly stem: boolean
  readonly synonyms: boolean
}

/** Compiled lists, keyed by the settings that they were built from and garbage-collected with them. */
const compiled = new WeakMap<CollectionSettings, Map<string, QueryWords>>()

const NO_ALTERNATIVES: FindAlternatives = () => []

export function queryWords(analyzer: Analyzer, settings: CollectionSettings, { language, stem, synonyms }: Reading): QueryWords {
  const plain: Tokenize = (text) => analyzer.tokenize(text, { language, stem, markdown: false, asks: true })
  const identifiers: FindIdentifiers = (text) =>
    wholesOf(analyzer.tokenize(text, { language, stem, markdown: false, asks: true, code: true }))
  const hasSynonyms = synonyms && settings.synonyms.length > 0
  const unstemmed: Tokenize = (text) => analyzer.tokenize(text, { language, stem: false, markdown: false, asks: true })
  if (settings.stopWords.length === 0 && !hasSynonyms) return { tokenize: plain, unstemmed, alternatives: NO_ALTERNATIVES, identifiers }
  const readings = compiled.get(settings) ?? new Map<string, QueryWords>()
  compiled.set(settings, readings)
  const name = `${language} ${stem} ${hasSynonyms}`
  let words = readings.get(name)
  if (words === undefined) {
    const tokenize = settings.stopWords.length === 0 ? plain : withoutWords(settings.stopWords, plain, unstemmed)
    words = { tokenize, unstemmed, alternatives: hasSynonyms ? alternativesOf(settings.synonyms, plain) : NO_ALTERNATIVES, identifiers }
    readings.set(name, words)
  }
  return words
}

/**
 * Stop words are compared as written, not by their stems: the stop word `being` must not remove `be`. The
 * remaining tokens keep their positions, so that phrases keep their gaps.
 */
function withoutWords(stopWords: readonly string[], tokenize: Tokenize, unstemmed: Tokenize): Tokenize {
  const unwanted = new Set(tokensOfTexts(stopWords, unstemmed).flatMap((tokens) => (tokens.length === 1 ? [tokens[0]?.term] : [])))
  return (text) => {
    const written = new Map(unstemmed(text).map(({ start, term }) => [start, term]))
    return tokenize(text).filter(({ start }) => !unwanted.has(written.get(start)))
  }
}

interface Entry {
  readonly term: readonly PositionedTerm[]
  readonly synonyms: readonly (readonly PositionedTerm[])[]
}

/** Synonyms that consist only of stop words are ignored. */
function alternativesOf(synonyms: Synonyms, tokenize: Tokenize): FindAlternatives {
  const byFirst = new Map<string, Entry[]>()
  const terms = tokensOfTexts(
    synonyms.map(([term]) => term),
    tokenize,
  )
  const words = tokensOfTexts(
    synonyms.flatMap(([, list]) => list),
    tokenize,
  )
  let next = 0
  for (const [index, [, list]] of synonyms.entries()) {
    const given = words.slice(next, (next += list.length)).filter((tokens) => tokens.length > 0)
    const term = positioned(terms[index] ?? [])
    const [first] = term
    if (first === undefined) continue
    const entry: Entry = { term, synonyms: given.map(positioned) }
    byFirst.set(first.term, [...(byFirst.get(first.term) ?? []), entry])
  }
  return (tokens) =>
    tokens.flatMap((token, first) =>
      (byFirst.get(token.term) ?? [])
        .filter(({ term }) => term.every(({ term: wanted, offset }, index) => isAt(tokens[first + index], wanted, token.position + offset)))
        .flatMap(({ term, synonyms: of }) => of.map((terms): Alternative => ({ first, length: term.length, terms }))),
    )
}

function isAt(token: QueryToken | undefined, term: string, position: number): boolean {
  return token?.term === term && token.position === position
}

function positioned(tokens: readonly QueryToken[]): PositionedTerm[] {
  const start = tokens[0]?.position ?? 0
  return tokens.map(({ term, position }) => ({ term, offset: position - start }))
}

/** Tokenizes many short texts in one run of the analyzer. The overhead of a run equals ten words. */
function tokensOfTexts(texts: readonly string[], tokenize: Tokenize): QueryToken[][] {
  const lists = texts.map((): QueryToken[] => [])
  const ends: number[] = []
  let end = 0
  for (const text of texts) ends.push((end += Buffer.byteLength(text) + 1))
  let list = 0
  for (const token of tokenize(texts.join('\n'))) {
    while (token.start >= (ends[list] ?? Number.POSITIVE_INFINITY)) list++
    lists[list]?.push(token)
  }
  return lists
}
