/**
 * Turns a parsed query into the tree that the engine evaluates. Words are analysed and stop words are removed
 * (a phrase keeps the gap); terms and phrases remain. Rules: docs/decisions/search/query-syntax.md.
 * Pure except for the analyzer that is passed in.
 */
import type { PlanNode, PlanTerm } from '../../engine/types.js'
import { badRequest } from '../../errors.js'
import { PLAN_DEPTH_MAX } from '../../limits/search.js'
import type { ParsedQuery } from '../query/query_mode.js'
import type { QueryWords } from '../words/reading.js'
import { FieldTable } from './query_fields.js'
import { LeafTable, nodeOf, requiredNodes } from './query_leaves.js'
import { lowerTree } from './query_tree_plan.js'
import type { Scoring } from './scoring.js'

export interface QueryPlan {
  /**
   * Distinct terms in order of first appearance, each with its number of occurrences where that affects the
   * score.
   */
  readonly terms: readonly PlanTerm[]
  /** Scored fields, and fields that the query names. */
  readonly fields: Scoring['fields']
  readonly root: PlanNode
  /** Per term: the query asks for it, so an answer may show it as matched. */
  readonly wanted: readonly boolean[]
  /** Indexes of the terms that are not in the query but were suggested by the collection (pmisparse). */
  readonly suggested: ReadonlySet<number>
  /** Tokens of the query, including repetitions, excluding stop words. */
  readonly tokens: number
  /** `tokens` plus those added by synonyms. */
  readonly leaves: number
}

/** @throws ServiceError 400 when the query has more leaves or is deeper than the engine allows */
export function planQuery(query: ParsedQuery, words: QueryWords, scoring: Scoring): QueryPlan {
  const fields = new FieldTable(scoring)
  const leaves = new LeafTable(words, fields)
  const root = planRoot(query, leaves)
  const depth = depthOf(root)
  if (depth > PLAN_DEPTH_MAX) throw badRequest(`query nested too deeply: ${depth} levels, at most ${PLAN_DEPTH_MAX}`)
  const { terms } = leaves
  const wanted = new Array<boolean>(terms.length).fill(false)
  markWanted(root, wanted)
  return { terms, fields: fields.fields, root, wanted, suggested: new Set(), tokens: leaves.tokens, leaves: leaves.leaves }
}

function planRoot(query: ParsedQuery, leaves: LeafTable): PlanNode {
  switch (query.mode) {
    case 'simple':
      return nodeOf('or', leaves.words(query.text, query.edits))
    case 'phrase':
      return nodeOf('and', requiredNodes(query.phrases.map((text) => leaves.phrase(text, 'occurrences'))))
    case 'boolean':
    case 'expression':
      return lowerTree(query.tree, leaves)
    case 'wildcard':
      return nodeOf(
        'or',
        query.words.flatMap(({ text, isPattern }) => (isPattern ? (leaves.pattern(text) ?? []) : leaves.words(text))),
      )
    case 'proximity':
      return nodeOf(
        'and',
        query.groups.flatMap(({ text, distance }) => leaves.near(text, distance) ?? []),
      )
  }
}

function depthOf(node: PlanNode): number {
  switch (node.kind) {
    case 'and':
    case 'or':
      return 1 + Math.max(...node.children.map(depthOf))
    case 'andNot':
      return 1 + Math.max(depthOf(node.wanted), depthOf(node.excluded))
    default:
      return 1
  }
}

function markWanted(node: PlanNode, wanted: boolean[]): void {
  if (node.kind === 'term' || node.kind === 'fuzzy' || node.kind === 'wildcard') wanted[node.term] = true
  else if (node.kind === 'proximity') for (const term of node.terms) wanted[term] = true
  else if (node.kind === 'phrase') for (const { term } of node.terms) wanted[term] = true
  else if (node.kind === 'and' || node.kind === 'or') for (const child of node.children) markWanted(child, wanted)
  else if (node.kind === 'andNot') markWanted(node.wanted, wanted)
}
