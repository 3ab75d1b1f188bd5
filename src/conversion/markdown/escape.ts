/**
 * Escapes of text that would be read as markdown. As few as possible: the text is also what a search finds
 * and shows. Pure.
 */

const INLINE = /\\(?=[!-/:-@[-`{-~])|`|\*|_|~~|<(?=[a-z/!?])|&(?=#?\w{1,31};)|\[(?=\^)|\](?=[([])|!(?=\[)/gi
const WORD = /[\p{L}\p{N}]/u
const BLANK = /\s/

/** @param isInLink a closing bracket would end the link */
export function escapeText(text: string, isInLink = false): string {
  const escaped = text.replaceAll(INLINE, (sign, at: number) => {
    const before = text[at - 1] ?? ' '
    const after = text[at + sign.length] ?? ' '
    if (sign === '&') return '&amp;'
    if (sign === '_' && WORD.test(before) && WORD.test(after)) return sign
    if ((sign === '_' || sign === '*') && BLANK.test(before) && BLANK.test(after)) return sign
    return sign === '~~' ? '\\~\\~' : `\\${sign}`
  })
  return isInLink ? escaped.replaceAll(/(?<!\\)[[\]]/g, '\\$&') : escaped
}

const LINE_START = /^(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|={1,}\s*$|-[-\s]*$|\|)/
const NUMBERED = /^(\d{1,9})([.)])(?=\s|$)/

/** For the first character of each line of a paragraph. */
export function escapeLineStart(line: string): string {
  if (LINE_START.test(line)) return `\\${line}`
  return line.replace(NUMBERED, '$1\\$2')
}
