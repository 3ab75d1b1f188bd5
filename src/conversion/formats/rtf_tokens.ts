/**
 * The tokens of RTF: groups, control words and symbols, bytes in hexadecimal, text. Runs in a child
 * process.
 */

export type RtfToken =
  | { readonly kind: 'open' | 'close' }
  | { readonly kind: 'word'; readonly name: string; readonly value: number | undefined }
  | { readonly kind: 'symbol'; readonly sign: string }
  | { readonly kind: 'byte'; readonly byte: number }
  | { readonly kind: 'text'; readonly text: string }

const TOKEN = /\{|\}|\\([a-z]{1,40})(-?\d{1,10})?[ ]?|\\'([0-9a-f]{2})|\\([^a-z])|\r\n?|\n|([^\\{}\r\n]+)/giy
const OPEN: RtfToken = { kind: 'open' }
const CLOSE: RtfToken = { kind: 'close' }

/** @param source bytes as characters (latin1) */
export function* rtfTokens(source: string): Generator<RtfToken> {
  const pattern = new RegExp(TOKEN)
  for (let at = 0; at < source.length; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match === null) {
      pattern.lastIndex = at + 1 // A backslash at the end.
      continue
    }
    const [whole, name, value, hex, sign, text] = match
    if (text !== undefined) yield { kind: 'text', text }
    else if (name !== undefined) {
      yield { kind: 'word', name, value: value === undefined ? undefined : Number(value) }
      // Binary data follows, in which braces mean nothing.
      if (name === 'bin') pattern.lastIndex += Math.max(0, Number(value ?? 0))
    } else if (hex !== undefined) yield { kind: 'byte', byte: Number.parseInt(hex, 16) }
    else if (sign !== undefined) yield { kind: 'symbol', sign }
    else if (whole === '{') yield OPEN
    else if (whole === '}') yield CLOSE
  }
}
