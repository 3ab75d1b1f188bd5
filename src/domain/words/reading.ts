/**
 * How the words of a query are analysed: the functions that turn text into tokens, and the alternatives that
 * synonyms and identifiers add to a run of tokens. Types only. `query_words.ts` creates the functions;
 * full-text search and spell correction call them.
 */
import type { QueryToken } from '../../engine/types.js'

export type Tokenize = (text: string) => QueryToken[]

/** The identifiers of a text, in the form that code has. */
export type FindIdentifiers = (text: string) => readonly QueryToken[]

/** An alternative to a run of a query's tokens. */
export interface Alternative {
  /** Index of the first token of the run. */
  readonly first: number
  /** Number of tokens in the run. */
  readonly length: number
  /** Terms with their positions, the first at 0. */
  readonly terms: readonly PositionedTerm[]
  /** Weight of its terms. Default: the weight of a synonym. */
  readonly weight?: number
}

export interface PositionedTerm {
  readonly term: string
  readonly offset: number
}

export type FindAlternatives = (tokens: readonly QueryToken[]) => readonly Alternative[]

export interface QueryWords {
  readonly tokenize: Tokenize
  /** Without stemming, and without the collection's own stop words. */
  readonly unstemmed: Tokenize
  readonly alternatives: FindAlternatives
  readonly identifiers: FindIdentifiers
}
