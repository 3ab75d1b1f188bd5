/**
 * Shared parts of the query languages: quoted strings, and the messages of syntax errors. Errors count
 * characters (code points) from 1. Pure and linear in the length of the text.
 */
import { badRequest, type ServiceError } from '../../errors.js'

interface QuotedText {
  /** The text between the quotes, with `\"` and `\\` unescaped. */
  readonly text: string
  /** Index after the closing quote. */
  readonly end: number
}

/** A 400 that points at `index` (UTF-16) of the query. */
export function queryProblem(text: string, index: number, problem: string): ServiceError {
  let character = 1
  for (let at = 0; at < index; character++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return badRequest(`${problem} at character ${character}`)
}

/** Reads the quoted string that opens at `start`. @throws ServiceError 400 if it is unclosed */
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
      return { text: unescaped + text.slice(from, at), end: at + 1 }
    }
  }
  throw queryProblem(text, start, 'unclosed quote')
}

/**
 * The phrases of phrase mode: every quoted string, and the text between two of them. A text without quotes is
 * one phrase. `"…"~N` belongs to another mode: 400.
 */
export function readPhrases(text: string): string[] {
  return readPieces(text).map(({ text: phrase, tilde, digits }) => {
    if (digits !== undefined) throw queryProblem(text, tilde, `unexpected token '~'`)
    return phrase
  })
}

/** A quoted string, or the text between two of them. */
interface Piece {
  readonly text: string
  /** The digits after the quotes in `"…"~N`. Undefined without a `~`. */
  readonly digits: string | undefined
  /** Index after the piece: that of the `~` if there is one. */
  readonly tilde: number
}

const DISTANCE = /~(\d*)/y

export function readPieces(text: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', from)) {
    const quoted = readQuoted(text, quote)
    DISTANCE.lastIndex = quoted.end
    const distance = DISTANCE.exec(text)
    pieces.push(
      { text: text.slice(from, quote), digits: undefined, tilde: quote },
      { text: quoted.text, digits: distance?.[1], tilde: quoted.end },
    )
    from = quoted.end + (distance?.[0].length ?? 0)
  }
  pieces.push({ text: text.slice(from), digits: undefined, tilde: text.length })
  return pieces.filter((piece) => piece.text.trim() !== '')
}
