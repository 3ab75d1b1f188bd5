/**
 * Text for terminals: names, keys and texts of requests are data, and must neither control a terminal nor
 * change the order in which a line is read. Pure; any thread.
 */

// Control characters, line separators, and characters that change the writing direction in a terminal.
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/gu

/** One line. In JSON, each escape decodes to the original character. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Text whose newlines stay: only for texts in which every piece of data is printable already, or JSON. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}
