/**
 * Adds the related terms of a collection to a plan of plain words (`pmisparse`). The related terms are
 * optional and weigh less than the words of the query. Pure.
 */
import type { PlanNode, PlanTerm } from '../../engine/types.js'
import { PLAN_LEAVES_MAX, RELATED_QUERY_TERMS_MAX } from '../../limits/fulltext.js'
import type { QueryPlan } from './query_plan.js'
import type { RelatedTerm } from './related_terms.js'

/**
 * A term suggested by several words has the sum of their weights. Only the first words of a long query are
 * looked up.
 */
export function withSuggestions(plan: QueryPlan, relatedOf: (term: string) => readonly RelatedTerm[]): QueryPlan {
  const own = new Set(plan.terms.map(([term]) => term))
  const weights = new Map<string, number>()
  for (const [term] of plan.terms.slice(0, RELATED_QUERY_TERMS_MAX)) {
    for (const { term: other, weight } of relatedOf(term)) if (!own.has(other)) weights.set(other, (weights.get(other) ?? 0) + weight)
  }
  const added: PlanTerm[] = [...weights].slice(0, PLAN_LEAVES_MAX - plan.leaves)
  if (added.length === 0) return plan
  const indexes = added.map((_, index) => plan.terms.length + index)
  const leaves: readonly PlanNode[] = plan.root.kind === 'or' ? plan.root.children : [plan.root]
  return {
    ...plan,
    terms: [...plan.terms, ...added],
    root: { kind: 'or', children: [...leaves, ...indexes.map((term): PlanNode => ({ kind: 'term', term }))] },
    wanted: [...plan.wanted, ...added.map(() => true)],
    suggested: new Set(indexes),
    leaves: plan.leaves + added.length,
  }
}
