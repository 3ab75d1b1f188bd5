/**
 * The inverse of the query parser: prints a tree as query text. The printed text must parse to the same tree
 * (test/property/search/parser.test.ts, scripts/campaigns/parsers.mjs). Pure.
 */
import type { SyntaxNode } from '../../src/domain/query/query_tree.js'
import { PROXIMITY_DISTANCE_DEFAULT } from '../../src/limits/search.js'

/** Returns text that parses to the tree, in the dialect that the tree came from. */
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
        ...node.optional.map((child, index) => (index === 0 && isUnmarked(node) ? `--${printMarked(child)}` : printAtom(child))),
        ...node.excluded.map((child) => `-${printMarked(child)}`),
      ].join(' ')
  }
}

/**
 * The marks have cancelled each other (`-NOT x`). Without a mark the text would be parsed as words that are
 * all required.
 */
function isUnmarked({ required, excluded }: Extract<SyntaxNode, { kind: 'marked' }>): boolean {
  return required.length === 0 && excluded.length === 0
}

function printAtom(node: SyntaxNode): string {
  const isAtom = node.kind !== 'and' && node.kind !== 'or' && node.kind !== 'not' && node.kind !== 'marked'
  return isAtom ? printQuery(node) : `(${printQuery(node)})`
}

/** The operand of a mark or a field name, where only markable nodes are permitted (query_lexer.ts). */
function printMarked(node: SyntaxNode): string {
  const text = printAtom(node)
  return /^[\p{L}\p{N}_"(*?]/u.test(text) ? text : `(${text})`
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
