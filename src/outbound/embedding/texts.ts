/** Texts as they fit into requests: cut between characters, and put together within bounds. Pure. */

export interface Portion {
  readonly begin: number
  /** Not part of it. */
  readonly end: number
}

/** The longest beginning of at most so many UTF-8 bytes. */
export function cutText(text: string, bytesMax: number): string {
  // A unit of UTF-16 has at most three bytes.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text
  // A character that does not fit whole is not written.
  const bytes = Buffer.alloc(bytesMax)
  return bytes.toString('utf8', 0, bytes.write(text))
}

/** In order, each of at least one text: one that is larger than the bound goes alone. */
export function portionsOf(texts: readonly string[], textsMax: number, bytesMax: number): readonly Portion[] {
  const portions: Portion[] = []
  let begin = 0
  let bytes = 0
  for (const [at, text] of texts.entries()) {
    const textBytes = Buffer.byteLength(text)
    if (at > begin && (at - begin >= textsMax || bytes + textBytes > bytesMax)) {
      portions.push({ begin, end: at })
      begin = at
      bytes = 0
    }
    bytes += textBytes
  }
  if (begin < texts.length) portions.push({ begin, end: texts.length })
  return portions
}
