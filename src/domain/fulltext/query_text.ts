/**
 * What the query languages share: where quoted strings lie, and how a problem is told. A place is counted in characters (code points) from 1, as a user counts.
 * Pure and linear in the length of the text.
 */
import { badRequest, type ServiceError } from '../../errors.js'

export interface QuotedText {
  /** Between the quotes, `\"` and `\\` resolved. */
  readonly text: string
  /** Index behind the closing quote. */
  readonly end: number
}

/** A 400 that points at `index` (UTF-16) of the query. */
export function queryProblem(text: string, index: number, problem: string): ServiceError {
  let character = 1
  for (let at = 0; at < index; character++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return badRequest(`${problem} at character ${character}`)
}

/**
 * Reads the quoted string that opens at `start`. Unclosed: 400. `"…"~N` belongs to another mode, so that a `~` just behind the closing quote is refused
 * rather than read as a word.
 */
export function readQuoted(text: string, start: number): QuotedText {
  let unescaped = ''
  let from = start + 1
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) {
      unescaped += text.slice(from, at)
      from = at + 1
      at++
    } else if (char === '"') {
      if (text[at + 1] === '~') throw queryProblem(text, at + 1, `unexpected '~'`)
      return { text: unescaped + text.slice(from, at), end: at + 1 }
    }
  }
  throw queryProblem(text, start, 'unclosed quote')
}

/** The phrases of phrase mode: every quoted string, and what stands between them; a text without quotes is one phrase. */
export function readPhrases(text: string): string[] {
  const phrases: string[] = []
  let from = 0
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', from)) {
    const quoted = readQuoted(text, quote)
    phrases.push(text.slice(from, quote), quoted.text)
    from = quoted.end
  }
  phrases.push(text.slice(from))
  return phrases
}

/** Whether the text is one quoted string and nothing else. */
export function isQuoted(text: string): boolean {
  const trimmed = text.trim()
  return trimmed.startsWith('"') && readQuoted(trimmed, 0).end === trimmed.length
}
