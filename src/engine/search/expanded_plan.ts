/**
 * The plan as executed by the engine: fuzzy and wildcard leaves are replaced by the terms that they matched.
 * `Hit.matched` contains indexes into its terms, and all code for plain plans can use it. Pure, any thread.
 */
import type { Expansion, PlanNode, PlanTerm, SearchPlan } from '../types.js'

/** @param expansions from the hits that the engine returned for `plan` */
export function expandPlan(plan: SearchPlan, expansions: readonly Expansion[]): SearchPlan {
  if (!isExpandable(plan.root)) return plan
  const added = expansions.map(({ leaf, term }): PlanTerm => {
    const termFields = plan.terms[leaf]?.[2]
    return termFields === undefined ? [term, 1] : [term, 1, termFields]
  })
  return { ...plan, terms: [...plan.terms, ...added], root: expanded(plan.root, expansions, plan.terms.length) }
}

function isExpandable(node: PlanNode): boolean {
  switch (node.kind) {
    case 'fuzzy':
    case 'wildcard':
      return true
    case 'and':
    case 'or':
      return node.children.some(isExpandable)
    case 'andNot':
      return isExpandable(node.wanted) || isExpandable(node.excluded)
    default:
      return false
  }
}

/** @param first index of the first expansion among the terms */
function expanded(node: PlanNode, expansions: readonly Expansion[], first: number): PlanNode {
  switch (node.kind) {
    case 'fuzzy':
    case 'wildcard': {
      const editsMax = node.kind === 'fuzzy' ? node.edits : 0
      const children = expansions.flatMap(({ leaf, edits }, index): PlanNode[] =>
        leaf === node.term && edits <= editsMax ? [{ kind: 'term', term: first + index }] : [],
      )
      return children.length === 0 ? { kind: 'none' } : { kind: 'or', children }
    }
    case 'and':
    case 'or':
      return { kind: node.kind, children: node.children.map((child) => expanded(child, expansions, first)) }
    case 'andNot':
      return { kind: 'andNot', wanted: expanded(node.wanted, expansions, first), excluded: expanded(node.excluded, expansions, first) }
    default:
      return node
  }
}
