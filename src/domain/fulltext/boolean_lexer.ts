/**
 * Cuts a boolean query into tokens. Linear in the length of the text: every character is looked at a bounded number of times.
 * Grammar and reasons: docs/decisions/0020-fulltext-query-syntax.md.
 */
import { readQuoted } from './query_text.js'

export type LexemeKind = 'word' | 'phrase' | '(' | ')' | 'AND' | 'OR' | 'NOT' | '+' | '-' | 'end'

export interface Lexeme {
  readonly kind: LexemeKind
  /** Of words and phrases: what is to be analysed. */
  readonly text: string
  /** UTF-16 index in the query. */
  readonly at: number
}

/** Behind a mark stands something that can be marked; so `->`, `- ` and `C++` are text. */
const MARKABLE = /[\p{L}\p{N}_"(]/u
const SPACE = /\s/

/** Ends with an `end` lexeme. Throws a 400 on an unclosed quote. */
export function lexBoolean(text: string): Lexeme[] {
  const lexemes: Lexeme[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at] ?? ''
    if (SPACE.test(char)) {
      at++
    } else if (char === '(' || char === ')') {
      lexemes.push({ kind: char, text: '', at })
      at++
    } else if (char === '"') {
      const quoted = readQuoted(text, at)
      lexemes.push({ kind: 'phrase', text: quoted.text, at })
      at = quoted.end
    } else {
      at = char === '+' || char === '-' ? readMarks(text, at, lexemes) : readWord(text, at, lexemes)
    }
  }
  lexemes.push({ kind: 'end', text: '', at: text.length })
  return lexemes
}

/** A run of marks, or, where nothing markable follows, a word. */
function readMarks(text: string, start: number, lexemes: Lexeme[]): number {
  let end = start
  while (text[end] === '+' || text[end] === '-') end++
  if (end === text.length || !MARKABLE.test(String.fromCodePoint(text.codePointAt(end) ?? 0))) return readWord(text, start, lexemes)
  for (let at = start; at < end; at++) lexemes.push({ kind: text[at] === '+' ? '+' : '-', text: '', at })
  return end
}

function readWord(text: string, start: number, lexemes: Lexeme[]): number {
  let end = start + 1
  while (end < text.length && !isWordEnd(text[end] ?? '')) end++
  const word = text.slice(start, end)
  const kind = word === 'AND' || word === 'OR' || word === 'NOT' ? word : 'word'
  lexemes.push({ kind, text: word, at: start })
  return end
}

function isWordEnd(char: string): boolean {
  return char === '(' || char === ')' || char === '"' || SPACE.test(char)
}
