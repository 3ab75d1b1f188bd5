/**
 * Looks into a document's stored JSON without parsing its content, which comes last. Between the quotes of a text a quote is escaped, and a metadata key is followed by a list, so that the bytes
 * below stand in front of the content and nowhere else. Pure; read lanes.
 */
const CONTENT = Buffer.from(',"contentMd":"')
const BACKSLASH = 0x5c
const LETTER_U = 0x75

export interface DocumentHead {
  readonly lang: string
  readonly meta: Readonly<Record<string, readonly string[]>>
}

export function headOf(json: Buffer): DocumentHead {
  return JSON.parse(`${json.toString('utf8', 0, json.indexOf(CONTENT))}}`) as DocumentHead
}

export function metaOf(json: Buffer): Readonly<Record<string, readonly string[]>> {
  return headOf(json).meta
}

/** Of the content's first byte, which is escaped; it ends two bytes before the end of the text. */
export function contentStartOf(json: Buffer): number {
  return json.indexOf(CONTENT) + CONTENT.length
}

/** UTF-8 bytes of the content, its escapes resolved. */
export function contentBytesOf(json: Buffer): number {
  let at = contentStartOf(json)
  const end = json.length - 2 // `"}`
  let bytes = end - at
  for (at = json.indexOf(BACKSLASH, at); at >= 0; at = json.indexOf(BACKSLASH, at)) {
    const isLong = json[at + 1] === LETTER_U
    // Only control characters and lone surrogates are written as \uXXXX: one byte, or three.
    const length = isLong ? 6 : 2
    bytes -= length - (isLong && json[at + 2] !== 0x30 ? 3 : 1)
    at += length
  }
  return bytes
}
