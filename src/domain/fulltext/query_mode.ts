/**
 * Which query language a text is written in. A mode that was asked for is taken at its word, and a text that breaks its syntax is refused; `auto` is for what people type,
 * so a text whose marks do not add up is plain words there, and the answer's `mode` says so. Reasons: docs/decisions/0020-fulltext-query-syntax.md.
 */
import { badRequest, ServiceError } from '../../errors.js'
import { lexBoolean } from './boolean_lexer.js'
import { parseBoolean, type SyntaxNode } from './boolean_parser.js'
import { isQuoted, readPhrases } from './query_text.js'

/** A text with its language resolved, ready to be analysed. */
export type ParsedQuery =
  | { readonly mode: 'simple'; readonly text: string }
  | { readonly mode: 'phrase'; readonly phrases: readonly string[] }
  | { readonly mode: 'boolean'; readonly tree: SyntaxNode }

/** Modes of the contract that this version refuses. */
const LATER_MODES = ['wildcard', 'proximity', 'expression']

/** @param mode as the request says it; undefined is `auto` */
export function parseQuery(text: string, mode: string | undefined): ParsedQuery {
  switch (mode) {
    case undefined:
    case 'auto':
      return parseAuto(text)
    case 'simple':
      return { mode, text }
    case 'boolean':
      return { mode, tree: parseBoolean(text) }
    case 'phrase':
      return { mode, phrases: readPhrases(text) }
    default:
      throw badRequest(LATER_MODES.includes(mode) ? `mode not available yet: ${mode}` : `unknown mode: ${mode}`)
  }
}

function parseAuto(text: string): ParsedQuery {
  try {
    if (isQuoted(text)) return { mode: 'phrase', phrases: readPhrases(text) }
    if (usesBooleanSyntax(text)) return { mode: 'boolean', tree: parseBoolean(text) }
  } catch (error) {
    // The text breaks the syntax that its marks suggest: these are words, then. Anything else is a fault of ours.
    if (!(error instanceof ServiceError)) throw error
  }
  // The distance of `"…"~N` is a mark, not a word.
  return { mode: 'simple', text: text.replace(/"~\d+/g, '" ') }
}

/** Operators, marks, or quoted strings beside other text. Parentheses alone say nothing. */
function usesBooleanSyntax(text: string): boolean {
  return lexBoolean(text).some(
    ({ kind }) => kind === 'AND' || kind === 'OR' || kind === 'NOT' || kind === '+' || kind === '-' || kind === 'phrase',
  )
}
