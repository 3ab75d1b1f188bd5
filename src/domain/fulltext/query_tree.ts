/**
 * What a boolean query or an expression says, as a tree, and the text that says it. Pure.
 */
import { PROXIMITY_DISTANCE_DEFAULT } from '../../limits.js'

export type SyntaxNode =
  | { readonly kind: 'word'; readonly text: string }
  /** A word that may be misspelt by `edits`. */
  | { readonly kind: 'fuzzy'; readonly text: string; readonly edits: number }
  /** A word with `*` or `?` in it. */
  | { readonly kind: 'pattern'; readonly text: string }
  | { readonly kind: 'phrase'; readonly text: string }
  /** The words of a text, at most `distance` apart. */
  | { readonly kind: 'near'; readonly text: string; readonly distance: number }
  /** A part of the query that is looked for in one field. */
  | { readonly kind: 'field'; readonly name: string; readonly child: SyntaxNode }
  | { readonly kind: 'and' | 'or'; readonly children: readonly SyntaxNode[] }
  | { readonly kind: 'not'; readonly child: SyntaxNode }
  /** Clauses side by side of which at least one carries a mark: all of `required`, none of `excluded`; `optional` only adds score where something is required. */
  | {
      readonly kind: 'marked'
      readonly required: readonly SyntaxNode[]
      readonly optional: readonly SyntaxNode[]
      readonly excluded: readonly SyntaxNode[]
    }

/** A text that parses to the tree, in the dialect that the tree came from. */
export function printQuery(node: SyntaxNode): string {
  switch (node.kind) {
    case 'word':
    case 'pattern':
      return node.text
    case 'fuzzy':
      return `${node.text}~${node.edits}`
    case 'phrase':
      return quoted(node.text)
    case 'near':
      return `${quoted(node.text)}~${node.distance === PROXIMITY_DISTANCE_DEFAULT ? '' : node.distance}`
    case 'field':
      return `${node.name}:${printMarked(node.child)}`
    case 'not':
      return `NOT ${printAtom(node.child)}`
    case 'and':
    case 'or':
      return node.children
        .map((child) => (child.kind === 'not' ? printQuery(child) : printAtom(child)))
        .join(` ${node.kind.toUpperCase()} `)
    case 'marked':
      return [
        ...node.required.map((child) => `+${printMarked(child)}`),
        ...node.optional.map(printAtom),
        ...node.excluded.map((child) => `-${printMarked(child)}`),
      ].join(' ')
  }
}

function printAtom(node: SyntaxNode): string {
  const isAtom = node.kind !== 'and' && node.kind !== 'or' && node.kind !== 'not' && node.kind !== 'marked'
  return isAtom ? printQuery(node) : `(${printQuery(node)})`
}

/** Directly behind a mark or a name, where only what can be marked may stand (query_lexer.ts). */
function printMarked(node: SyntaxNode): string {
  const text = printAtom(node)
  return /^[\p{L}\p{N}_"(*?]/u.test(text) ? text : `(${text})`
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
