/**
 * Words with `*` (any run of characters) and `?` (one character). Patterns are matched against terms as they
 * are indexed, so that what stands between the wildcards is normalised as terms are. Pure but for the
 * analyzer that it is handed; linear in the length of the text.
 */
import type { QueryToken } from '../../engine/types.js'

type Tokenize = (text: string) => readonly QueryToken[]

const WILDCARD = /[*?]/
const TERM_CHARACTER = /[\p{L}\p{N}\p{M}*?]/u
const SEPARATORS = /[^\p{L}\p{N}\p{M}*?]+/u

/** Whether a word is a pattern for who asked for patterns. */
export function isPattern(word: string): boolean {
  return WILDCARD.test(word)
}

/**
 * Whether a word of somebody who named no mode is one: it has a `*` beside a letter or digit and is not
 * emphasised by it, or a `?` with one on either side. `what?` and `**bold**` are words.
 */
export function isClearPattern(word: string): boolean {
  if (/^(\*{1,3})[^*?]+\1$/.test(word)) return false
  return /[\p{L}\p{N}]\*|\*[\p{L}\p{N}]|[\p{L}\p{N}]\?+[\p{L}\p{N}]/u.test(word)
}

/**
 * A part of a word: a plain word, or a pattern. No term has a separator in it, so a word with some is several
 * parts.
 */
export interface PatternPart {
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

/** The pattern with its letters as terms have them. @param unstemmed the analyzer without stemming */
export function normalisePattern(text: string, unstemmed: Tokenize): string {
  return text
    .split(/([*?]+)/)
    .map((piece, index) => (index % 2 === 1 ? piece.replace(/\*+/g, '*') : normalisePiece(piece, unstemmed)))
    .join('')
}

/**
 * Of stop words the analyzer makes nothing, but they are letters like others here; where it cuts a text, as
 * between Chinese characters, no pattern spans the cut.
 */
function normalisePiece(piece: string, unstemmed: Tokenize): string {
  if (piece === '') return ''
  const tokens = unstemmed(piece)
  const [only] = tokens
  return tokens.length === 1 && only !== undefined ? only.term : piece.normalize('NFC').toLowerCase()
}
