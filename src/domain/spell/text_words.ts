/**
 * Determines the words of a text that may be corrected: runs of letters between white space and punctuation.
 * Numbers, identifiers (`snake_case`, `camelCase`, `v2`), names in capitals, paths, addresses, patterns and
 * everything in quotation marks are never corrected. Pure and linear in the length of the text.
 */

/** Longer runs of letters are not words. */
const SPELL_WORD_CHARACTERS_MAX = 32

interface Word {
  /** As written. */
  readonly text: string
  /** UTF-16 index. */
  readonly start: number
}

const QUOTED = /"(?:\\.|[^"\\])*"?/g
const CHUNK = /\S+/g
const AROUND = /^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu
const PARTS = /[-–—]/
const WORD = /^\p{L}[\p{L}\p{M}]+$/u
/** Scripts without spaces between words, and scripts that are not corrected letter by letter. */
const OTHER_SCRIPTS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const CAPITAL_INSIDE = /.\p{Lu}/u
const POSSESSIVE = /['’]s$/iu

/**
 * @param isPattern is passed the text between white space; text for which it returns true is not corrected
 */
export function wordsOfText(text: string, isPattern: (chunk: string) => boolean = hasStar): Word[] {
  // Replaced by text of the same length, so that positions are preserved.
  const open = text.replace(QUOTED, (quoted) => ' '.repeat(quoted.length))
  return [...open.matchAll(CHUNK)].flatMap((match) => (isPattern(match[0]) ? [] : wordsOfChunk(match[0], match.index)))
}

function hasStar(chunk: string): boolean {
  return chunk.includes('*')
}

function wordsOfChunk(chunk: string, start: number): Word[] {
  const inner = chunk.replace(AROUND, '')
  if (inner === '') return []
  const bare = inner.replace(POSSESSIVE, '')
  let at = start + chunk.indexOf(inner)
  const parts = bare.split(PARTS)
  if (!parts.every((part) => WORD.test(part) || part.length === 1)) return []
  return parts.flatMap((part) => {
    const word = { text: part, start: at }
    at += part.length + 1
    return isWord(part) ? [word] : []
  })
}

function isWord(text: string): boolean {
  return WORD.test(text) && !OTHER_SCRIPTS.test(text) && !CAPITAL_INSIDE.test(text) && text.length <= SPELL_WORD_CHARACTERS_MAX
}

/** The correction, capitalised if the word is. */
export function withCaseOf(word: string, correction: string): string {
  const [first = ''] = word
  return first === first.toLowerCase() ? correction : correction.charAt(0).toUpperCase() + correction.slice(1)
}
