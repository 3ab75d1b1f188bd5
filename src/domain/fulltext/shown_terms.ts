/**
 * How the terms of a query are shown in the answer, as native code reads it. Byte layout:
 * native/engine/truth/result_page.cc.
 */

const ENTRY_BYTES = 12 // same, begin, bytes

/**
 * @param shown the text of each term; undefined: the term is not shown
 * @returns the terms with their texts as JSON strings
 */
export function encodeShownTerms(shown: readonly (string | undefined)[]): Uint8Array {
  const texts = shown.map((text) => (text === undefined ? '' : JSON.stringify(text)))
  const all = texts.join('')
  const textsAt = 4 + ENTRY_BYTES * shown.length
  const bytes = Buffer.allocUnsafe(textsAt + all.length * 3)
  bytes.writeUInt32LE(shown.length, 0)
  const end = textsAt + bytes.write(all, textsAt, 'utf8')
  let begin = 0
  for (const [term, text] of texts.entries()) {
    const entry = 4 + ENTRY_BYTES * term
    const size = Buffer.byteLength(text)
    bytes.writeUInt32LE(texts.indexOf(text), entry)
    bytes.writeUInt32LE(begin, entry + 4)
    bytes.writeUInt32LE(size, entry + 8)
    begin += size
  }
  return bytes.subarray(0, end)
}
