/**
 * The bytes of a dump as text: UTF-8, or UTF-16 in either byte order, by the byte order mark, else by the
 * first characters, which XML fixes. Keeps at most one character between two chunks. Bytes that are no text
 * are an error with their offset, never replaced. Pure, except for the source that it reads.
 */
import { isUtf8 } from 'node:buffer'
import { DumpError } from './dump_error.js'

type Encoding = 'utf8' | 'utf16le' | 'utf16be'

/** The encoding and the length of the mark in bytes. */
function detect(head: Buffer): readonly [Encoding, number] {
  const [a, b, c] = head
  if (a === 0xef && b === 0xbb && c === 0xbf) return ['utf8', 3]
  if (a === 0xff && b === 0xfe) return ['utf16le', 2]
  if (a === 0xfe && b === 0xff) return ['utf16be', 2]
  if (a === 0x3c && b === 0) return ['utf16le', 0]
  return a === 0 && b === 0x3c ? ['utf16be', 0] : ['utf8', 0]
}

/** What a declaration may name, for each encoding: every text in ASCII is UTF-8. */
const DECLARED: Readonly<Record<Encoding, RegExp>> = {
  utf8: /^(?:utf-?8|(?:us-)?ascii)$/i,
  utf16le: /^utf-?16(?:le)?$/i,
  utf16be: /^utf-?16(?:be)?$/i,
}
const DECLARATION = /^<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.-]{1,40})["']/

/**
 * @returns texts that are never empty
 * @throws DumpError `malformed`
 */
export async function* decodeDump(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let encoding: Encoding | undefined
  let rest: Buffer = Buffer.alloc(0)
  let offset = 0
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.concat([rest, chunk])
    if (encoding === undefined) {
      if (bytes.length < 4) {
        rest = Buffer.from(bytes)
        continue
      }
      const [detected, markBytes] = detect(bytes)
      encoding = detected
      bytes = bytes.subarray(markBytes)
      offset = markBytes
      checkDeclaration(encoding, bytes)
    }
    const whole = encoding === 'utf8' ? wholeUtf8(bytes) : bytes.length & ~1
    rest = Buffer.from(bytes.subarray(whole))
    const text = decode(encoding, bytes.subarray(0, whole), offset)
    offset += whole
    if (text !== '') yield text
  }
  if (rest.length > 0 && encoding === undefined) yield decode('utf8', rest, 0)
  else if (rest.length > 0) throw new DumpError('malformed', `cut off within a character at byte ${offset}`)
}

function checkDeclaration(encoding: Encoding, bytes: Buffer): void {
  const head = bytes.subarray(0, 512)
  const text = encoding === 'utf8' ? head.toString('latin1') : decode(encoding, head.subarray(0, head.length & ~1), 0)
  const declared = DECLARATION.exec(text)?.[1]
  if (declared !== undefined && !DECLARED[encoding].test(declared))
    throw new DumpError('malformed', `declared as ${declared}; dumps are read in UTF-8 and UTF-16`)
}

/** How many of the bytes are whole characters, if all are UTF-8: the last one may be cut off. */
function wholeUtf8(bytes: Buffer): number {
  const { length } = bytes
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] ?? 0
    if (byte < 0x80) return length
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length - back : length
  }
  return length
}

function decode(encoding: Encoding, bytes: Buffer, offset: number): string {
  if (encoding === 'utf16be') return Buffer.from(bytes).swap16().toString('utf16le')
  if (encoding === 'utf8' && !isUtf8(bytes))
    throw new DumpError('malformed', `not UTF-8 between bytes ${offset} and ${offset + bytes.length}`)
  return bytes.toString(encoding === 'utf8' ? 'utf8' : 'utf16le')
}
