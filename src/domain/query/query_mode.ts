/**
 * Detects the query language of a text. In a named mode, a text with invalid syntax is rejected. `auto` is
 * for user input: a text with invalid syntax is treated as plain words, and the answer's `mode` reports this.
 * Reasons: docs/decisions/search/query-syntax.md.
 */
import { badRequest, ServiceError } from '../../errors.js'
import { PROXIMITY_DISTANCE_DEFAULT } from '../../limits/search.js'
import { autoDialect } from './auto_syntax.js'
import { BOOLEAN, type Dialect, EXPRESSION } from './query_dialect.js'
import { lexQuery, readDistance } from './query_lexer.js'
import { parseTree } from './query_parser.js'
import { readPhrases, readPieces } from './query_text.js'
import type { SyntaxNode } from './query_tree.js'
import { isClearPattern, isPattern } from './wildcards.js'

/** A text whose query language has been determined, ready to be analysed. */
export type ParsedQuery =
  /** `edits`: maximum edit distance of a word. */
  | { readonly mode: 'simple'; readonly text: string; readonly edits: number }
  | { readonly mode: 'phrase'; readonly phrases: readonly string[] }
  | { readonly mode: 'boolean' | 'expression'; readonly tree: SyntaxNode }
  | { readonly mode: 'wildcard'; readonly words: readonly WildcardWord[] }
  | { readonly mode: 'proximity'; readonly groups: readonly NearGroup[] }

interface WildcardWord {
  readonly isPattern: boolean
  readonly text: string
}

/** Words that must occur near each other. */
interface NearGroup {
  readonly text: string
  readonly distance: number
}

interface QueryOptions {
  /** Edits allowed in simple mode. */
  readonly fuzzy: number
  /** Distance in proximity mode, unless the text specifies one. */
  readonly distance: number
}

const NO_OPTIONS: QueryOptions = { fuzzy: 0, distance: PROXIMITY_DISTANCE_DEFAULT }

/** @param mode of the request; undefined is `auto` */
export function parseQuery(text: string, mode: string | undefined, { fuzzy, distance }: QueryOptions = NO_OPTIONS): ParsedQuery {
  switch (mode) {
    case undefined:
    case 'auto':
      return parseAuto(text, fuzzy)
    case 'simple':
      return { mode, text, edits: fuzzy }
    case 'boolean':
      return { mode, tree: parseTree(text, BOOLEAN) }
    case 'expression':
      return { mode, tree: parseTree(text, EXPRESSION) }
    case 'phrase':
      return { mode, phrases: readPhrases(text) }
    case 'wildcard':
      return { mode, words: readWords(text, isPattern) }
    case 'proximity':
      return { mode, groups: readGroups(text, distance) }
    default:
      throw badRequest(`unknown mode: ${mode}`)
  }
}

function parseAuto(text: string, fuzzy: number): ParsedQuery {
  // The distance of `"…"~N` is syntax, not a word.
  const simple: ParsedQuery = { mode: 'simple', text: text.replace(/"~\d+/g, '" '), edits: fuzzy }
  try {
    const pieces = readPieces(text)
    const [only] = pieces
    if (pieces.length === 1 && only !== undefined && text.trim().startsWith('"')) {
      return only.digits === undefined ? { mode: 'phrase', phrases: [only.text] } : { mode: 'proximity', groups: readGroups(text, 0) }
    }
    const dialect = autoDialect(text)
    if (dialect === undefined) return simple
    if (usesOperators(text, dialect)) return { mode: 'boolean', tree: parseTree(text, dialect) }
    const words = readWords(text, isClearPattern)
    if (words.some((word) => word.isPattern)) return { mode: 'wildcard', words }
  } catch (error) {
    // The text violates the syntax that its marks suggest, so it is treated as plain words. Any other error
    // is an internal fault.
    if (!(error instanceof ServiceError)) throw error
  }
  return simple
}

/** Operators, marks, or quoted strings next to other text. Parentheses alone do not count. */
function usesOperators(text: string, dialect: Dialect): boolean {
  return lexQuery(text, dialect).some(({ kind }) => OPERATORS.has(kind))
}

const OPERATORS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT', '+', '-', 'phrase', 'near'])

function readWords(text: string, isOne: (word: string) => boolean): WildcardWord[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ isPattern: isOne(word), text: word }))
}

/** Every quoted string is a group of its own, and so is the text between two of them. */
function readGroups(text: string, distance: number): NearGroup[] {
  return readPieces(text).map((piece) => ({
    text: piece.text,
    distance: piece.digits === undefined ? distance : readDistance(piece.digits),
  }))
}
