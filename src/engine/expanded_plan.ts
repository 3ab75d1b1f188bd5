/**
 * A plan as the engine ran it: the terms that fuzzy and wildcard leaves stood for as plain terms. Indexes of `Hit.matched` are indexes into its terms, and whatever understands plain plans
 * understands it. Pure, any thread.
 */
import type { Expansion, PlanNode, SearchPlan } from './types.js'

/** @param expansions of the hits that the engine returned for `plan` */
export function expandPlan(plan: SearchPlan, expansions: readonly Expansion[]): SearchPlan {
  if (!isExpandable(plan.root)) return plan
  const terms = [...plan.terms, ...expansions.map(({ term }): readonly [string, number] => [term, 1])]
  // A term that the plan has more than once is known by its first index.
  const indexes = new Map<string, number>()
  for (const [index, [term]] of terms.entries()) if (!indexes.has(term)) indexes.set(term, index)
  return { ...plan, terms, root: expanded(plan.root, expansions, indexes) }
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

function expanded(node: PlanNode, expansions: readonly Expansion[], indexes: ReadonlyMap<string, number>): PlanNode {
  switch (node.kind) {
    case 'fuzzy':
    case 'wildcard': {
      const editsMax = node.kind === 'fuzzy' ? node.edits : 0
      const children = expansions
        .filter(({ leaf, edits }) => leaf === node.term && edits <= editsMax)
        .map(({ term }): PlanNode => ({ kind: 'term', term: indexes.get(term)! }))
      return children.length === 0 ? { kind: 'none' } : { kind: 'or', children }
    }
    case 'and':
    case 'or':
      return { kind: node.kind, children: node.children.map((child) => expanded(child, expansions, indexes)) }
    case 'andNot':
      return { kind: 'andNot', wanted: expanded(node.wanted, expansions, indexes), excluded: expanded(node.excluded, expansions, indexes) }
    default:
      return node
  }
}
