/**
 * The leaves of a query: analysed words and phrases, and the table of distinct terms that they point into. One table per query; pure but for the analyzer that it is handed.
 */
import { badRequest } from '../../errors.js'
import type { PlanNode, QueryToken } from '../../engine/types.js'
import { FTS_SYNONYM_TOKENS_MAX, PLAN_LEAVES_MAX } from '../../limits.js'
import { type FindIdentifiers, identifierAlternatives } from './identifiers.js'
import type { Alternative, FindAlternatives } from './query_words.js'

type Phrase = Extract<PlanNode, { kind: 'phrase' }>

export type Tokenize = (text: string) => QueryToken[]

/** A synonym weighs less than the word that was asked for, so that of two documents that are otherwise alike the one with the word comes first. */
const SYNONYM_WEIGHT = 0.8

export class LeafTable {
  readonly #tokenize: Tokenize
  readonly #alternatives: FindAlternatives
  readonly #identifiers: FindIdentifiers
  readonly #indexes = new Map<string, number>()
  readonly #terms: [string, number][] = []
  #tokens = 0
  #synonymTokens = 0

  constructor(tokenize: Tokenize, alternatives: FindAlternatives = () => [], identifiers: FindIdentifiers = () => []) {
    this.#tokenize = tokenize
    this.#alternatives = alternatives
    this.#identifiers = identifiers
  }

  get terms(): readonly (readonly [string, number])[] {
    return this.#terms
  }

  /** Of the query, without what synonyms added. */
  get tokens(): number {
    return this.#tokens
  }

  get leaves(): number {
    return this.#tokens + this.#synonymTokens
  }

  /** One TERM leaf for each distinct term of the text, weighing as much as the text says it, and those of its synonyms. */
  words(text: string): PlanNode[] {
    const tokens = this.#tokensOf(text)
    const counts = new Map<number, number>()
    for (const { term } of tokens) {
      const index = this.#indexOf(term)
      counts.set(index, (counts.get(index) ?? 0) + 1)
    }
    const nodes = [...counts].map(([index, count]): PlanNode => {
      ;(this.#terms[index] as [string, number])[1] = count
      return { kind: 'term', term: index }
    })
    return [...nodes, ...this.#besides(this.#alternativesOf(text, tokens), tokens)]
  }

  /** A word as written: a TERM, or a phrase where the tokenizer makes several terms of it (`foo-bar`); with its synonyms beside it. Undefined when nothing remains. */
  word(text: string): PlanNode | undefined {
    const tokens = this.#tokensOf(text)
    const besides = this.#besides(
      this.#alternativesOf(text, tokens).filter(({ length }) => length === tokens.length),
      tokens,
    )
    const nodes = tokens.length === 0 ? besides : [this.#sequence(tokens), ...besides]
    return nodes.length === 0 ? undefined : nodeOf('or', nodes)
  }

  #alternativesOf(text: string, tokens: readonly QueryToken[]): Alternative[] {
    return [...identifierAlternatives(text, tokens, this.#identifiers), ...this.#alternatives(tokens)]
  }

  /** Leaves to stand beside those of `tokens`: what these say themselves is not looked for twice. */
  #besides(alternatives: readonly Alternative[], tokens: readonly QueryToken[]): PlanNode[] {
    const seen = new Set<string>(alternatives.length === 0 ? [] : tokens.map(({ term }) => `${term} 0`))
    return alternatives.flatMap(({ terms, weight = SYNONYM_WEIGHT }): PlanNode[] => {
      const name = terms.map(({ term, offset }) => `${term} ${offset}`).join('\n')
      if (seen.has(name)) return []
      if (this.leaves + terms.length > PLAN_LEAVES_MAX || this.#synonymTokens + terms.length > FTS_SYNONYM_TOKENS_MAX) return []
      seen.add(name)
      this.#synonymTokens += terms.length
      const places = terms.map(({ term, offset }) => ({ term: this.#indexOf(term, weight), offset }))
      return [places.length === 1 ? { kind: 'term', term: places[0]?.term ?? 0 } : { kind: 'phrase', scoring: 'bm25', terms: places }]
    })
  }

  #sequence(tokens: readonly QueryToken[]): PlanNode {
    const node = this.#phraseOf(tokens, 'bm25')
    return node.terms.length === 1 ? { kind: 'term', term: node.terms[0]?.term ?? 0 } : node
  }

  /** Undefined when nothing but stop words is in it. Gaps between its terms are kept. Beside it, where that is something else, the phrase as it stands in code. */
  phrase(text: string, scoring: Phrase['scoring']): PlanNode | undefined {
    const tokens = this.#tokensOf(text)
    const identifiers = this.#identifiers(text)
    const room = Math.min(PLAN_LEAVES_MAX - this.leaves, FTS_SYNONYM_TOKENS_MAX - this.#synonymTokens)
    const nodes = tokens.length === 0 ? [] : [this.#phraseOf(tokens, scoring)]
    if (identifiers.length > 0 && identifiers.length <= room && !areSame(tokens, identifiers)) {
      this.#synonymTokens += identifiers.length
      nodes.push(this.#phraseOf(identifiers, scoring))
    }
    return nodes.length === 0 ? undefined : nodeOf('or', nodes)
  }

  #phraseOf(tokens: readonly QueryToken[], scoring: Phrase['scoring']): Phrase {
    const start = tokens[0]?.position ?? 0
    return { kind: 'phrase', scoring, terms: tokens.map(({ term, position }) => ({ term: this.#indexOf(term), offset: position - start })) }
  }

  #tokensOf(text: string): QueryToken[] {
    const tokens = this.#tokenize(text)
    this.#tokens += tokens.length
    // Counted before repetitions are merged, so that the bound holds for leaves as well as for terms.
    if (this.#tokens > PLAN_LEAVES_MAX) throw badRequest(`query too long: more than ${PLAN_LEAVES_MAX} terms`)
    return tokens
  }

  #indexOf(term: string, weight = 1): number {
    const known = this.#indexes.get(term)
    if (known !== undefined) {
      const entry = this.#terms[known] as [string, number]
      entry[1] = Math.max(entry[1], weight)
      return known
    }
    this.#indexes.set(term, this.#terms.length)
    return this.#terms.push([term, weight]) - 1
  }
}

function areSame(tokens: readonly QueryToken[], others: readonly QueryToken[]): boolean {
  const shift = (others[0]?.position ?? 0) - (tokens[0]?.position ?? 0)
  return (
    tokens.length === others.length &&
    tokens.every(({ term, position }, index) => others[index]?.term === term && others[index].position === position + shift)
  )
}

/** The node itself where there is one, NONE where there is nothing. */
export function nodeOf(kind: 'and' | 'or', children: readonly PlanNode[]): PlanNode {
  const [only] = children
  if (only === undefined) return { kind: 'none' }
  return children.length === 1 ? only : { kind, children }
}
