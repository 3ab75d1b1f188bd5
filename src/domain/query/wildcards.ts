/**
 * Words with `*` (any run of characters) and `?` (one character). Patterns are matched against indexed terms,
 * so the text between the wildcards is normalised as terms are. Pure except for the analyzer that is passed
 * in; linear in the length of the text.
 */
import type { QueryToken } from '../../engine/types.js'

type Tokenize = (text: string) => readonly QueryToken[]

const WILDCARD = /[*?]/
const TERM_CHARACTER = /[\p{L}\p{N}\p{M}*?]/u
const SEPARATORS = /[^\p{L}\p{N}\p{M}*?]+/u

/** Whether a word is a pattern in wildcard mode. */
export function isPattern(word: string): boolean {
  return WILDCARD.test(word)
}

/**
 * Whether a word is a pattern when no mode is named: it has a `*` next to a letter or digit that is not
 * emphasis, or a `?` between two of them. `what?`, `**bold**` and `**options` are words, and so is a product
 * (`2*2`).
 */
export function isClearPattern(word: string): boolean {
  if (/^(\*{1,3})[^*?]+\1$|\*\*|\p{N}\*\p{N}/u.test(word)) return false
  return /[\p{L}\p{N}]\*|\*[\p{L}\p{N}]|[\p{L}\p{N}]\?+[\p{L}\p{N}]/u.test(word)
}

/**
 * A part of a word: a plain word, or a pattern. Terms contain no separators, so a word with separators has
 * several parts.
 */
interface PatternPart {
  readonly isPattern: boolean
  readonly text: string
}

export function patternParts(word: string): PatternPart[] {
  if (!TERM_CHARACTER.test(word)) return []
  return word
    .split(SEPARATORS)
    .filter((part) => part !== '')
    .map((text) => ({ isPattern: isPattern(text), text }))
}

/** The pattern with its letters normalised as in terms. @param unstemmed the analyzer without stemming */
export function normalisePattern(text: string, unstemmed: Tokenize): string {
  return text
    .split(/([*?]+)/)
    .map((piece, index) => (index % 2 === 1 ? piece.replace(/\*+/g, '*') : normalisePiece(piece, unstemmed)))
    .join('')
}

/**
 * The analyzer drops stop words. Here their letters are kept like others. A pattern does not span a token
 * boundary of the analyzer, as between Chinese characters.
 */
function normalisePiece(piece: string, unstemmed: Tokenize): string {
  if (piece === '') return ''
  const tokens = unstemmed(piece)
  const [only] = tokens
  return tokens.length === 1 && only !== undefined ? only.term : piece.normalize('NFC').toLowerCase()
}
