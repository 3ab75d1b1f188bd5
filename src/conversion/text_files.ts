/**
 * Text of files that state their encoding badly or not at all, and the fenced code block of those that are
 * wrapped. Pure; any thread and process.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

const loadIconv = (): typeof import('iconv-lite') => require('iconv-lite') as typeof import('iconv-lite')

/** Characters of HTML in which a declaration of the encoding is looked for, as browsers do. */
const DECLARATION_CHARACTERS = 1024

/** Bytes in which signs of binary data are looked for: the heads of all formats that are none of text. */
const BINARY_LOOK_BYTES = 8192

const DECLARED = /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i

/** Whether the bytes are none of a text: the file has the wrong extension. */
export function isBinary(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, BINARY_LOOK_BYTES))
  if (/^(?:%PDF-|PK\x03\x04|\{\\rtf)/.test(head.toString('latin1', 0, 8))) return true
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
  return !isUtf16 && head.includes(0)
}

/**
 * A byte order mark decides, then the charset that the sender named, then the declaration of an HTML file,
 * then UTF-8 if the bytes are valid, else windows-1252, of which every byte is a character. The mark is
 * removed.
 * @param charset empty: none was named; one that does not exist counts as none
 */
export function decodeText(bytes: Uint8Array, { declares = false, charset = '' }: { declares?: boolean; charset?: string } = {}): string {
  const named = markedCharset(bytes) ?? knownCharset(charset) ?? (declares ? declaredCharset(bytes) : undefined)
  if (named !== undefined) return decodeBytes(bytes, named)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return decodeBytes(bytes, 'windows-1252') // A fatal decoder throws only if the bytes are invalid.
  }
}

function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

function knownCharset(charset: string): string | undefined {
  return charset !== '' && loadIconv().encodingExists(charset) ? charset : undefined
}

/** Undefined if nothing is declared, or nothing that exists, or UTF-8, which is tried anyway. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const match = DECLARED.exec(Buffer.from(bytes.subarray(0, DECLARATION_CHARACTERS)).toString('latin1'))
  const label = knownCharset(match?.[1] ?? match?.[2] ?? '')
  // A declaration that is readable byte by byte can't be in UTF-16 (HTML standard, "prescan").
  return label === undefined || /^(?:utf|ucs)-?\d/i.test(label) ? undefined : label
}

/** Not by Node's decoder: that of Node 20 leaves 0x80 to 0x9f of windows-1252 as control characters. */
export function decodeBytes(bytes: Uint8Array, charset: string): string {
  return loadIconv().decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), charset)
}

/** A fence of backticks that is longer than any row of them in the text. */
export function fenced(text: string, language: string): string {
  let longest = 2
  for (const [row] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, row.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}\n`
}
