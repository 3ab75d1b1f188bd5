/**
 * The leaves of a query: analysed words and phrases, and the table of distinct terms that they point into. One table per query; pure but for the analyzer that it is handed.
 */
import { badRequest } from '../../errors.js'
import type { PlanNode, QueryToken } from '../../engine/types.js'
import { PLAN_LEAVES_MAX } from '../../limits.js'

export type Tokenize = (text: string) => QueryToken[]

export class LeafTable {
  readonly #tokenize: Tokenize
  readonly #indexes = new Map<string, number>()
  readonly #terms: [string, number][] = []
  #tokens = 0

  constructor(tokenize: Tokenize) {
    this.#tokenize = tokenize
  }

  get terms(): readonly (readonly [string, number])[] {
    return this.#terms
  }

  get tokens(): number {
    return this.#tokens
  }

  /** One TERM leaf for each distinct term of the text, weighing as much as the text says it. */
  words(text: string): PlanNode[] {
    const counts = new Map<number, number>()
    for (const { term } of this.#tokensOf(text)) {
      const index = this.#indexOf(term)
      counts.set(index, (counts.get(index) ?? 0) + 1)
    }
    return [...counts].map(([index, count]): PlanNode => {
      ;(this.#terms[index] as [string, number])[1] = count
      return { kind: 'term', term: index }
    })
  }

  /** A word as written: a TERM, or a phrase where the tokenizer makes several terms of it (`foo-bar`). Undefined when nothing remains. */
  word(text: string): PlanNode | undefined {
    const node = this.phrase(text, 'bm25')
    return node?.terms.length === 1 ? { kind: 'term', term: node.terms[0]?.term ?? 0 } : node
  }

  /** Undefined when nothing but stop words is in it. Gaps between its terms are kept. */
  phrase(text: string, scoring: 'occurrences' | 'bm25'): Extract<PlanNode, { kind: 'phrase' }> | undefined {
    const tokens = this.#tokensOf(text)
    const first = tokens[0]
    if (first === undefined) return undefined
    return {
      kind: 'phrase',
      scoring,
      terms: tokens.map(({ term, position }) => ({ term: this.#indexOf(term), offset: position - first.position })),
    }
  }

  #tokensOf(text: string): QueryToken[] {
    const tokens = this.#tokenize(text)
    this.#tokens += tokens.length
    // Counted before repetitions are merged, so that the bound holds for leaves as well as for terms.
    if (this.#tokens > PLAN_LEAVES_MAX) throw badRequest(`query too long: more than ${PLAN_LEAVES_MAX} terms`)
    return tokens
  }

  #indexOf(term: string): number {
    const known = this.#indexes.get(term)
    if (known !== undefined) return known
    this.#indexes.set(term, this.#terms.length)
    return this.#terms.push([term, 1]) - 1
  }
}

/** The node itself where there is one, NONE where there is nothing. */
export function nodeOf(kind: 'and' | 'or', children: readonly PlanNode[]): PlanNode {
  const [only] = children
  if (only === undefined) return { kind: 'none' }
  return children.length === 1 ? only : { kind, children }
}
