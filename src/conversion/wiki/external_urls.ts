/** The address of an external link `[address text]`. Pure; linear to the length of the address. */

const SCHEME =
  /(?:(?:https?|ftps?|sftp|ircs?|svn|git|gopher|news|nntp|telnet|worldwind|ssh|mms):)?\/\/|(?:mailto|news|tel|sip|sips|sms|urn|geo|bitcoin|magnet|xmpp):/iy
/** First characters of the schemes. */
const FIRST = new Set('hfsignturmbwxHFSIGNTURMBWX/')

interface ExternalUrl {
  /** As it stands in a link of markdown. */
  readonly url: string
  /** Index behind the address and the blanks that follow it. */
  readonly next: number
}

/** @param begin index behind the bracket */
export function readExternalUrl(text: string, begin: number): ExternalUrl | undefined {
  if (!FIRST.has(text.charAt(begin))) return undefined
  SCHEME.lastIndex = begin
  if (!SCHEME.test(text)) return undefined
  let end = SCHEME.lastIndex
  while (end < text.length && isOfUrl(text.charCodeAt(end))) end++
  if (end === SCHEME.lastIndex) return undefined
  let next = end
  while (text.charCodeAt(next) === 0x20 || text.charCodeAt(next) === 0x09) next++
  return { url: markdownUrl(text.slice(begin, end)), next }
}

/** Not controls, blanks, quotes, angle or square brackets, braces, non-breaking and ideographic spaces. */
function isOfUrl(code: number): boolean {
  if (code <= 0x20 || code === 0x7f || code === 0xa0 || code === 0x3000) return false
  return code !== 0x22 && code !== 0x3c && code !== 0x3e && code !== 0x5b && code !== 0x5d && code !== 0x7b && code !== 0x7d
}

/** Pipes would end a cell, and quotes are markup; parentheses that are not balanced would end the link. */
function markdownUrl(written: string): string {
  const url = written.replaceAll('&amp;', '&').replaceAll('|', '%7C').replaceAll("'", '%27')
  let depth = 0
  for (let at = 0; at < url.length && depth >= 0; at++) {
    const code = url.charCodeAt(at)
    if (code === 0x28) depth++
    else if (code === 0x29) depth--
  }
  return depth === 0 ? url : url.replaceAll('(', '%28').replaceAll(')', '%29')
}
