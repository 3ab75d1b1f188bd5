/**
 * How the words of a query are read: the functions that turn text into tokens, and the alternatives that
 * synonyms and identifiers add to a run of tokens. Types only; `query_words.ts` makes the functions,
 * full-text search and spell correction call them.
 */
import type { QueryToken } from '../../engine/types.js'

export type Tokenize = (text: string) => QueryToken[]

/** The identifiers of a text, as code has them. */
export type FindIdentifiers = (text: string) => readonly QueryToken[]

/** What stands for a run of a query's tokens. */
export interface Alternative {
  /** Of its first token. */
  readonly first: number
  /** Tokens of the query that it stands for. */
  readonly length: number
  /** Terms with their positions, the first at 0. */
  readonly terms: readonly PositionedTerm[]
  /** Of its terms; without it, that of a synonym. */
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
