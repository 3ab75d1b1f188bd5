/**
 * Characters that are text although they look like markup: those of `nowiki`, of entities and of link labels.
 * The removal of markup writes them as noncharacters of Unicode, the blocks pass them through, and
 * `restoreText` gives them back. Noncharacters of the input are replaced first, so nothing else is restored.
 * Pure.
 */

/** What means something to blocks.ts, in the order of the noncharacters from U+FDD0 on. */
const PROTECTED = "\n'|!=*#:;-{"
const BASE = 0xfdd0
/** Noncharacter of each character below 128, or 0. */
const CODES = Uint16Array.from({ length: 128 }, (_, code) => {
  const index = PROTECTED.indexOf(String.fromCharCode(code))
  return index < 0 ? 0 : BASE + index
})
const BLOCKS = Uint8Array.from({ length: 128 }, (_, code) => ('!=*#:;-'.includes(String.fromCharCode(code)) ? 1 : 0))
const NONCHARACTERS = /[\uFDD0-\uFDEF]/
const ALL_NONCHARACTERS = /[\uFDD0-\uFDEF]/g
const SPECIAL = /[\n'|!=*#:;\-{]/g
const SPECIAL_IN_FENCE = /[\n'|!]/g

export const PROTECTED_NEWLINE = protect('\n')
export const PROTECTED_PIPE = protect('|')

/** Replaces noncharacters, which no sane text has, by U+FFFD. */
export function withoutNoncharacters(text: string): string {
  return NONCHARACTERS.test(text) ? text.replace(ALL_NONCHARACTERS, '\uFFFD') : text
}

/** Whether a line that begins with this character could be a list, a heading or a rule, or one of a table. */
export function beginsBlock(code: number): boolean {
  return code < 128 && BLOCKS[code] === 1
}

/** @param character one of PROTECTED, otherwise it is returned as it is */
export function protect(character: string): string {
  const code = CODES[character.charCodeAt(0)] ?? 0
  return code === 0 ? character : String.fromCharCode(code)
}

/** Text of one line: its newlines become spaces. */
export function protectText(text: string): string {
  return text.replace(SPECIAL, (character) => (character === '\n' ? ' ' : protect(character)))
}

/** The content of a fence, whose newlines are restored. */
export function protectFence(text: string): string {
  return text.replace(SPECIAL_IN_FENCE, protect)
}

/**
 * A `*` that was text in the wiki is text in markdown too, and so is a `#` that begins a line. The other
 * characters are given back as they were.
 */
export function restoreText(text: string): string {
  if (!NONCHARACTERS.test(text)) return text
  return text.replace(ALL_NONCHARACTERS, (code, at: number) => {
    const character = PROTECTED[code.charCodeAt(0) - BASE] ?? ''
    if (character === '*') return '\\*'
    return character === '#' && (at === 0 || text.charCodeAt(at - 1) === 10) ? '\\#' : character
  })
}
