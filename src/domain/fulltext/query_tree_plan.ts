/**
 * Lowers the syntax tree of a query with operators to the engine's nodes. There is no match-all. A negation
 * subtracts from its siblings in a conjunction, and matches nothing if there is nothing to subtract from.
 * Negations are propagated upwards to the nearest such conjunction, so `b AND (NOT a)` subtracts and `NOT NOT
 * a` is `a`. A clause in which only stop words remain is removed. Rules:
 * docs/decisions/search/query-syntax.md.
 */
import type { PlanNode } from '../../engine/types.js'
import type { SyntaxNode } from '../query/query_tree.js'
import { type Clause, type LeafTable, nodeOf, requiredNodes } from './query_leaves.js'

/**
 * The meaning of a subtree: the documents of `node`, or, if negated, all other documents. Undefined if the
 * subtree contained only stop words.
 */
type Lowered = (Clause & { readonly negated: boolean }) | undefined

export function lowerTree(tree: SyntaxNode, leaves: LeafTable): PlanNode {
  const lowered = lower(tree, leaves, undefined)
  return lowered === undefined || lowered.negated ? { kind: 'none' } : lowered.node
}

/** @param field that the subtree is searched in; undefined: all fields that the request scores */
function lower(tree: SyntaxNode, leaves: LeafTable, field: string | undefined): Lowered {
  switch (tree.kind) {
    case 'word':
      return positive(leaves.word(tree.text, field))
    case 'fuzzy':
      return wanted(leaves.fuzzyWord(tree.text, tree.edits, field))
    case 'pattern':
      return wanted(leaves.pattern(tree.text, field))
    case 'phrase':
      return positive(leaves.phrase(tree.text, 'bm25', field))
    case 'near':
      return wanted(leaves.near(tree.text, tree.distance, field))
    case 'field':
      return lower(tree.child, leaves, tree.name)
    case 'not':
      return negate(lower(tree.child, leaves, field))
    case 'and':
      return conjunction(lowerAll(tree.children, leaves, field))
    case 'or':
      return disjunction(lowerAll(tree.children, leaves, field))
    case 'marked':
      return lowerMarked(tree, leaves, field)
  }
}

function lowerAll(trees: readonly SyntaxNode[], leaves: LeafTable, field: string | undefined): Lowered[] {
  return trees.map((tree) => lower(tree, leaves, field))
}

function positive(clause: Clause | undefined): Lowered {
  return clause === undefined ? undefined : { ...clause, negated: false }
}

function wanted(node: PlanNode | undefined): Lowered {
  return node === undefined ? undefined : { negated: false, isOptional: false, node }
}

function unwanted(node: PlanNode): Lowered {
  return { negated: true, isOptional: false, node }
}

function negate(lowered: Lowered): Lowered {
  return lowered === undefined ? undefined : { ...lowered, negated: !lowered.negated }
}

/** a AND NOT b = a minus b; NOT a AND NOT b = NOT (a OR b). */
function conjunction(parts: readonly Lowered[]): Lowered {
  const clauses = clausesOf(parts, false)
  const negative = nodesOf(parts, true)
  if (clauses.length === 0) return negative.length === 0 ? undefined : unwanted(nodeOf('or', negative))
  const node = nodeOf('and', requiredNodes(clauses))
  if (negative.length > 0) return wanted({ kind: 'andNot', wanted: node, excluded: nodeOf('or', negative) })
  return positive({ node, isOptional: clauses.every((clause) => clause.isOptional) })
}

/**
 * NOT a OR NOT b = NOT (a AND b). Next to a positive clause, a negation has nothing to subtract from and adds
 * no documents.
 */
function disjunction(parts: readonly Lowered[]): Lowered {
  const clauses = clausesOf(parts, false)
  const nodes = clauses.map(({ node }) => node)
  if (nodes.length > 0) return positive({ node: nodeOf('or', nodes), isOptional: clauses.every((clause) => clause.isOptional) })
  const negative = nodesOf(parts, true)
  return negative.length === 0 ? undefined : unwanted(nodeOf('and', negative))
}

/**
 * If a clause is required, the optional clauses are combined with ALL: they may match or not, and add their
 * score when they match.
 */
function lowerMarked(tree: Extract<SyntaxNode, { kind: 'marked' }>, leaves: LeafTable, field: string | undefined): Lowered {
  const required = lowerAll(tree.required, leaves, field)
  const optional = nodesOf(lowerAll(tree.optional, leaves, field), false)
  const excluded = lowerAll(tree.excluded, leaves, field).map(negate)
  const isRequired = clausesOf([...required, ...excluded], false).some((clause) => !clause.isOptional)
  const parts = [...required, ...excluded]
  if (optional.length > 0)
    parts.push(wanted(isRequired ? { kind: 'or', children: [...optional, { kind: 'all' }] } : nodeOf('or', optional)))
  return conjunction(parts)
}

function clausesOf(parts: readonly Lowered[], negated: boolean): readonly Clause[] {
  return parts.filter((part) => part?.negated === negated).filter((part) => part !== undefined)
}

function nodesOf(parts: readonly Lowered[], negated: boolean): PlanNode[] {
  return clausesOf(parts, negated).map(({ node }) => node)
}
