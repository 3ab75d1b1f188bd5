/**
 * Splits a query with operators into tokens. Linear in the length of the text: every character is read a
 * bounded number of times. Grammar and reasons: docs/decisions/search/query-syntax.md.
 */
import { FUZZY_EDITS_MAX, PROXIMITY_DISTANCE_DEFAULT, PROXIMITY_DISTANCE_MAX } from '../../limits/search.js'
import type { Dialect } from './query_dialect.js'
import { readQuoted } from './query_text.js'
import { isClearPattern, isPattern } from './wildcards.js'

type LexemeKind = 'word' | 'fuzzy' | 'pattern' | 'phrase' | 'near' | 'field' | '(' | ')' | 'AND' | 'OR' | 'NOT' | '+' | '-' | 'end'

export interface Lexeme {
  readonly kind: LexemeKind
  /** Words, patterns and phrases: the text to analyse. Fields: the name. */
  readonly text: string
  /** UTF-16 index in the query. */
  readonly at: number
  /** Edits of a fuzzy word, distance of a proximity phrase; else 0. */
  readonly number: number
}

/** A mark must be followed by a clause that can be marked, so `->`, `- ` and `C++` are text. */
const MARKABLE = /[\p{L}\p{N}_"(*?]/u
/** A name, a colon, and the beginning of a searchable clause, so `http://` and `std::vector` are text. */
const FIELD = /[A-Za-z_][\w.-]*:(?=[\p{L}\p{N}_"(*?])/uy
const LETTER = /[\p{L}\p{N}]/u
const DIGITS = /^\d*$/
const DISTANCE = /~(\d*)/y
const SPACE = /\s/

/** The last lexeme is `end`. @throws ServiceError 400 on an unclosed quote */
export function lexQuery(text: string, dialect: Dialect): Lexeme[] {
  const lexemes: Lexeme[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at] ?? ''
    if (SPACE.test(char)) {
      at++
    } else if (char === '(' || char === ')') {
      lexemes.push({ kind: char, text: '', at, number: 0 })
      at++
    } else if (char === '"') {
      at = readPhrase(text, at, lexemes)
    } else {
      at = char === '+' || char === '-' ? readMarks(text, at, lexemes, dialect) : readWord(text, at, lexemes, dialect)
    }
  }
  lexemes.push({ kind: 'end', text: '', at: text.length, number: 0 })
  return lexemes
}

/** A phrase followed by `~N` is a proximity clause: its words only have to be near each other. */
function readPhrase(text: string, at: number, lexemes: Lexeme[]): number {
  const quoted = readQuoted(text, at)
  DISTANCE.lastIndex = quoted.end
  const distance = DISTANCE.exec(text)
  if (distance === null) {
    lexemes.push({ kind: 'phrase', text: quoted.text, at, number: 0 })
    return quoted.end
  }
  lexemes.push({ kind: 'near', text: quoted.text, at, number: readDistance(distance[1]) })
  return DISTANCE.lastIndex
}

/** @param digits after the `~`; none selects the contract's default */
export function readDistance(digits: string | undefined): number {
  return digits ? Math.min(Number(digits), PROXIMITY_DISTANCE_MAX) : PROXIMITY_DISTANCE_DEFAULT
}

/** A run of marks, or a word if nothing markable follows. */
function readMarks(text: string, start: number, lexemes: Lexeme[], dialect: Dialect): number {
  let end = start
  while (text[end] === '+' || text[end] === '-') end++
  if (!dialect.exclusions && text.slice(start, end).includes('-')) return readWord(text, start, lexemes, dialect)
  if (end === text.length || !MARKABLE.test(String.fromCodePoint(text.codePointAt(end) ?? 0)))
    return readWord(text, start, lexemes, dialect)
  for (let at = start; at < end; at++) lexemes.push({ kind: text[at] === '+' ? '+' : '-', text: '', at, number: 0 })
  return end
}

function readWord(text: string, start: number, lexemes: Lexeme[], dialect: Dialect): number {
  if (dialect.fields) {
    FIELD.lastIndex = start
    const field = FIELD.exec(text)
    if (field !== null) {
      lexemes.push({ kind: 'field', text: field[0].slice(0, -1), at: start, number: 0 })
      return FIELD.lastIndex
    }
  }
  let end = start + 1
  while (end < text.length && !isWordEnd(text[end] ?? '')) end++
  lexemes.push({ ...readTerm(text.slice(start, end), dialect), at: start })
  return end
}

function readTerm(word: string, dialect: Dialect): Omit<Lexeme, 'at'> {
  const keyword = dialect.anyCase ? word.toUpperCase() : word
  if (keyword === 'AND' || keyword === 'OR' || (keyword === 'NOT' && dialect.negations)) return { kind: keyword, text: word, number: 0 }
  if (dialect.anyPattern ? isPattern(word) : isClearPattern(word)) return { kind: 'pattern', text: word, number: 0 }
  const tilde = word.lastIndexOf('~')
  const text = word.slice(0, Math.max(tilde, 0))
  const digits = word.slice(tilde + 1)
  if (!LETTER.test(text) || !DIGITS.test(digits)) return { kind: 'word', text: word, number: 0 }
  return { kind: 'fuzzy', text, number: digits === '' ? FUZZY_EDITS_MAX : Math.min(Number(digits), FUZZY_EDITS_MAX) }
}

function isWordEnd(char: string): boolean {
  return char === '(' || char === ')' || char === '"' || SPACE.test(char)
}
