/**
 * The leaves of a query: analysed words, phrases, patterns and word groups, and the table of distinct terms
 * that they refer to. One table per query. Pure except for the analyzer that is passed in.
 */
import type { PlanNode, PlanTerm, QueryToken } from '../../engine/types.js'
import { badRequest } from '../../errors.js'
import { PLAN_LEAVES_MAX } from '../../limits/search.js'
import { normalisePattern, patternParts } from '../query/wildcards.js'
import { identifierAlternatives } from '../words/identifiers.js'
import type { Alternative, QueryWords } from '../words/reading.js'
import type { FieldTable } from './query_fields.js'

/**
 * Tokens that synonyms may add to one query. Together with the query's own tokens they stay below
 * PLAN_LEAVES_MAX for all but the longest queries. Further synonyms are left out.
 */
const FTS_SYNONYM_TOKENS_MAX = 256

type Phrase = Extract<PlanNode, { kind: 'phrase' }>

/**
 * A synonym weighs less than the word of the query. Of two otherwise equal documents, the one with the word
 * itself ranks first.
 */
const SYNONYM_WEIGHT = 0.8
/** Scripts whose terms have one or two characters. One edit would turn any of them into another word. */
const SHORT_TERMED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** A word or a phrase of the query. */
export interface Clause {
  readonly node: PlanNode
  /**
   * Read as prose it consists of stop words, so only code can have it (`is_a`, `"to be"`). Documents that
   * match the rest of a conjunction need not have it.
   */
  readonly isOptional: boolean
}

interface LeafTerm {
  readonly term: string
  weight: number
  /** Index in the field table. Undefined if the query names no field. */
  readonly field: number | undefined
}

export class LeafTable {
  readonly #words: QueryWords
  readonly #fields: FieldTable
  readonly #indexes = new Map<string, number>()
  readonly #terms: LeafTerm[] = []
  #tokens = 0
  #addedTokens = 0

  constructor(words: QueryWords, fields: FieldTable) {
    this.#words = words
    this.#fields = fields
  }

  /**
   * Complete only after the whole query has been lowered: the fields of a word without a field name depend on
   * the whole query.
   */
  get terms(): readonly PlanTerm[] {
    const usual = this.#fields.usual
    return this.#terms.map(({ term, weight, field }): PlanTerm => {
      const fields = field === undefined ? usual : [field]
      return fields === undefined ? [term, weight] : [term, weight, fields]
    })
  }

  /** Tokens of the query, excluding those added by synonyms and other alternatives. */
  get tokens(): number {
    return this.#tokens
  }

  get leaves(): number {
    return this.#tokens + this.#addedTokens
  }

  /**
   * One leaf for each distinct term of the text, weighted by its number of occurrences in the text, and the
   * leaves of its synonyms.
   * @param edits maximum edit distance of a word
   */
  words(text: string, edits = 0): PlanNode[] {
    const tokens = this.#tokensOf(text)
    const counts = new Map<number, number>()
    for (const { term } of tokens) {
      const index = this.#indexOf(term)
      counts.set(index, (counts.get(index) ?? 0) + 1)
    }
    const nodes = [...counts].map(([index, count]): PlanNode => {
      const leaf = this.#terms[index] as LeafTerm
      leaf.weight = count
      return fuzzyNode(index, leaf.term, edits)
    })
    return [...nodes, ...this.#besides(this.#alternativesOf(text, tokens), tokens)]
  }

  /**
   * A word as written: a TERM, or a phrase if the tokenizer splits it into several terms (`foo-bar`), with
   * its synonyms as alternatives. Undefined when nothing remains.
   */
  word(text: string, field?: string): Clause | undefined {
    const tokens = this.#tokensOf(text)
    const alternatives = this.#alternativesOf(text, tokens).filter(({ length }) => length === tokens.length)
    const besides = this.#besides(alternatives, tokens, field)
    const nodes = tokens.length === 0 ? besides : [this.#sequence(tokens, field), ...besides]
    return clauseOf(nodes, tokens)
  }

  /** Identifiers of code, and synonyms. */
  #alternativesOf(text: string, tokens: readonly QueryToken[]): Alternative[] {
    return [...identifierAlternatives(text, tokens, this.#words.identifiers), ...this.#words.alternatives(tokens)]
  }

  /** If the tokenizer splits the word into several terms, each may be misspelled, and all are required. */
  fuzzyWord(text: string, edits: number, field?: string): PlanNode | undefined {
    const tokens = this.#tokensOf(text)
    const nodes = tokens.map(({ term }) => fuzzyNode(this.#indexOf(term, 1, field), term, edits))
    return nodes.length === 0 ? undefined : nodeOf('and', nodes)
  }

  /**
   * A word with wildcards. Characters that separate words also separate patterns, and all parts are required.
   * `running*` also finds what `running` finds, although the index stores the stem `run` for both. Undefined
   * when nothing remains.
   */
  pattern(text: string, field?: string): PlanNode | undefined {
    const nodes = patternParts(text).flatMap((part): PlanNode[] => {
      if (!part.isPattern) return requiredNodes([this.word(part.text, field)])
      const pattern = normalisePattern(part.text, this.#words.unstemmed)
      this.#count(1)
      const leaf: PlanNode = { kind: 'wildcard', term: this.#indexOf(pattern, 1, field) }
      const stem = this.#stemOfPrefix(part.text, pattern)
      return [stem === undefined ? leaf : { kind: 'or', children: [leaf, { kind: 'term', term: this.#indexOf(stem, 1, field) }] }]
    })
    return nodes.length === 0 ? undefined : nodeOf('and', nodes)
  }

  /** The stem of `word*`, if the pattern does not match it. */
  #stemOfPrefix(text: string, pattern: string): string | undefined {
    if (!/^[^*?]+\*+$/.test(text)) return undefined
    const [token, ...others] = this.#words.tokenize(text)
    if (token === undefined || others.length > 0 || token.term.startsWith(pattern.slice(0, -1))) return undefined
    this.#addedTokens++
    return token.term
  }

  /**
   * Words within a distance of each other. A single word matches anywhere. Undefined when nothing remains.
   */
  near(text: string, distance: number, field?: string): PlanNode | undefined {
    const terms = this.#tokensOf(text).map(({ term }) => this.#indexOf(term, 1, field))
    const [first] = terms
    if (first === undefined) return undefined
    return terms.length === 1 ? { kind: 'term', term: first } : { kind: 'proximity', distance, terms }
  }

  /**
   * Leaves of the alternatives to `tokens`. An alternative equal to `tokens` or to an earlier alternative is
   * skipped.
   */
  #besides(alternatives: readonly Alternative[], tokens: readonly QueryToken[], field?: string): PlanNode[] {
    const seen = new Set<string>(alternatives.length === 0 ? [] : tokens.map(({ term }) => `${term} 0`))
    return alternatives.flatMap(({ terms, weight = SYNONYM_WEIGHT }): PlanNode[] => {
      const name = terms.map(({ term, offset }) => `${term} ${offset}`).join('\n')
      if (seen.has(name)) return []
      if (this.leaves + terms.length > PLAN_LEAVES_MAX || this.#addedTokens + terms.length > FTS_SYNONYM_TOKENS_MAX) return []
      seen.add(name)
      this.#addedTokens += terms.length
      const positioned = terms.map(({ term, offset }) => ({ term: this.#indexOf(term, weight, field), offset }))
      return [
        positioned.length === 1 ? { kind: 'term', term: positioned[0]?.term ?? 0 } : { kind: 'phrase', scoring: 'bm25', terms: positioned },
      ]
    })
  }

  #sequence(tokens: readonly QueryToken[], field: string | undefined): PlanNode {
    const node = this.#phraseOf(tokens, 'bm25', field)
    return node.terms.length === 1 ? { kind: 'term', term: node.terms[0]?.term ?? 0 } : node
  }

  /**
   * Undefined if the text contains only stop words. Gaps between its terms are kept. If the phrase reads
   * differently as code, that reading is added as an alternative.
   */
  phrase(text: string, scoring: Phrase['scoring'], field?: string): Clause | undefined {
    const tokens = this.#tokensOf(text)
    const identifiers = this.#words.identifiers(text)
    const capacity = Math.min(PLAN_LEAVES_MAX - this.leaves, FTS_SYNONYM_TOKENS_MAX - this.#addedTokens)
    const nodes = tokens.length === 0 ? [] : [this.#phraseOf(tokens, scoring, field)]
    if (identifiers.length > 0 && identifiers.length <= capacity && !areSame(tokens, identifiers)) {
      this.#addedTokens += identifiers.length
      nodes.push(this.#phraseOf(identifiers, scoring, field))
    }
    return clauseOf(nodes, tokens)
  }

  #phraseOf(tokens: readonly QueryToken[], scoring: Phrase['scoring'], field: string | undefined): Phrase {
    const start = tokens[0]?.position ?? 0
    return {
      kind: 'phrase',
      scoring,
      terms: tokens.map(({ term, position }) => ({ term: this.#indexOf(term, 1, field), offset: position - start })),
    }
  }

  #tokensOf(text: string): QueryToken[] {
    const tokens = this.#words.tokenize(text)
    this.#count(tokens.length)
    return tokens
  }

  /** Counted before repetitions are merged, so that the bound applies to leaves as well as to terms. */
  #count(tokens: number): void {
    this.#tokens += tokens
    if (this.#tokens > PLAN_LEAVES_MAX) throw badRequest(`query too long: more than ${PLAN_LEAVES_MAX} terms`)
  }

  #indexOf(term: string, weight = 1, field?: string): number {
    const fieldIndex = field === undefined ? undefined : this.#fields.indexOf(field)
    const name = `${fieldIndex ?? ''} ${term}`
    const known = this.#indexes.get(name)
    if (known !== undefined) {
      const entry = this.#terms[known] as LeafTerm
      entry.weight = Math.max(entry.weight, weight)
      return known
    }
    this.#indexes.set(name, this.#terms.length)
    return this.#terms.push({ term, weight, field: fieldIndex }) - 1
  }
}

function areSame(tokens: readonly QueryToken[], others: readonly QueryToken[]): boolean {
  const shift = (others[0]?.position ?? 0) - (tokens[0]?.position ?? 0)
  return (
    tokens.length === others.length &&
    tokens.every(({ term, position }, index) => others[index]?.term === term && others[index].position === position + shift)
  )
}

/** @param tokens that the clause has as prose */
function clauseOf(nodes: readonly PlanNode[], tokens: readonly QueryToken[]): Clause | undefined {
  return nodes.length === 0 ? undefined : { node: nodeOf('or', nodes), isOptional: tokens.length === 0 }
}

/**
 * The nodes of which a conjunction consists. Optional clauses only add their score, unless there are no
 * others.
 */
export function requiredNodes(clauses: readonly (Clause | undefined)[]): PlanNode[] {
  const present = clauses.filter((clause) => clause !== undefined)
  const required = present.filter(({ isOptional }) => !isOptional).map(({ node }) => node)
  const optional = present.filter(({ isOptional }) => isOptional).map(({ node }) => node)
  if (required.length === 0 || optional.length === 0) return [...required, ...optional]
  return [...required, { kind: 'or', children: [...optional, { kind: 'all' }] }]
}

/** A term of one character allows no edits, a term of two characters at most one. */
function fuzzyNode(index: number, term: string, edits: number): PlanNode {
  if (edits === 0) return { kind: 'term', term: index }
  const allowed = SHORT_TERMED.test(term) ? 0 : Math.min(edits, [...term].length - 1)
  return allowed > 0 ? { kind: 'fuzzy', term: index, edits: allowed, prefix: 0 } : { kind: 'term', term: index }
}

/** A single child is returned as it is. No children: NONE. */
export function nodeOf(kind: 'and' | 'or', children: readonly PlanNode[]): PlanNode {
  const [only] = children
  if (only === undefined) return { kind: 'none' }
  return children.length === 1 ? only : { kind, children }
}
