/**
 * The text of a page, read without the parser: nine tenths of a dump are such runs, which the parser would
 * look at one character after another. A run begins behind the begin tag of a text and ends before the next
 * `<`. References, line ends and characters that XML forbids are treated as the parser does. Pure.
 */
/** Characters of a reference: `&#x10FFFF;` has 10. */
const REFERENCE_CHARS_MAX = 12
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\]\]>/
const REFERENCE = /^(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}))$/
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** How many characters at the end of a part of a run wait for the next part: of a reference, or a return. */
export function unfinished(run: string): number {
  if (run.endsWith('\r')) return 1
  const at = run.lastIndexOf('&')
  return at >= 0 && run.length - at < REFERENCE_CHARS_MAX && !run.includes(';', at) ? run.length - at : 0
}

interface RunFault {
  /** Index in the run. */
  readonly at: number
  readonly message: string
}

/** @returns the text, or why it is not well-formed */
export function decodeRun(run: string): string | RunFault {
  const forbidden = FORBIDDEN.exec(run)
  if (forbidden !== null) return { at: forbidden.index, message: forbidden[0] === ']]>' ? '"]]>" in a text' : 'disallowed character' }
  const text = run.includes('\r') ? run.replace(/\r\n?/g, '\n') : run
  let at = text.indexOf('&')
  if (at < 0) return text
  let decoded = ''
  let from = 0
  for (; at >= 0; at = text.indexOf('&', from)) {
    const end = text.indexOf(';', at)
    const character = end < 0 || end - at > REFERENCE_CHARS_MAX ? undefined : characterOf(text.slice(at + 1, end))
    if (character === undefined) return { at, message: 'undefined entity' }
    decoded += text.slice(from, at) + character
    from = end + 1
  }
  return decoded + text.slice(from)
}

function characterOf(name: string): string | undefined {
  const [, named, decimal, hexadecimal] = REFERENCE.exec(name) ?? []
  if (named !== undefined) return NAMED[named]
  const code = decimal !== undefined ? Number(decimal) : parseInt(hexadecimal ?? '', 16)
  const isCharacter = code === 9 || code === 10 || code === 13 || (code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff))
  return isCharacter && code !== 0xfffe && code !== 0xffff ? String.fromCodePoint(code) : undefined
}
