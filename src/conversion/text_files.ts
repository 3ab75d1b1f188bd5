/**
 * Text of files that state their encoding badly or not at all, and the fenced code block of those that are
 * wrapped. Pure; any thread and process.
 */

/** Characters of HTML in which a declaration of the encoding is looked for, as browsers do. */
const DECLARATION_CHARACTERS = 1024

const DECLARED = /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i

/**
 * A byte order mark decides, then the declaration of an HTML file, then UTF-8 if the bytes are valid, else
 * windows-1252, of which every byte is a character. The mark is removed.
 */
export function decodeText(bytes: Uint8Array, declares = false): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const declared = declares ? declaredDecoder(bytes) : undefined
  if (declared !== undefined) return declared.decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes) // A fatal decoder throws only if the bytes are invalid.
  }
}

/** Undefined if nothing is declared, or nothing that exists, or UTF-8, which is tried anyway. */
function declaredDecoder(bytes: Uint8Array): InstanceType<typeof TextDecoder> | undefined {
  const head = new TextDecoder('windows-1252').decode(bytes.subarray(0, DECLARATION_CHARACTERS))
  const match = DECLARED.exec(head)
  const label = match?.[1] ?? match?.[2]
  if (label === undefined) return undefined
  try {
    const decoder = new TextDecoder(label)
    // A declaration that is readable byte by byte can't be in UTF-16 (HTML standard, "prescan").
    return decoder.encoding === 'utf-8' || decoder.encoding.startsWith('utf-16') ? undefined : decoder
  } catch {
    return undefined // An unknown label.
  }
}

/** A fence of backticks that is longer than any row of them in the text. */
export function fenced(text: string, language: string): string {
  let longest = 2
  for (const [row] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, row.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}\n`
}
