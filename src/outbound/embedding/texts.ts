/** Fits texts into requests: truncates them at character boundaries, and groups them within bounds. Pure. */

interface Portion {
  readonly begin: number
  /** Exclusive. */
  readonly end: number
}

/** Returns the longest prefix of at most `bytesMax` UTF-8 bytes. */
export function cutText(text: string, bytesMax: number): string {
  // A UTF-16 code unit has at most three UTF-8 bytes.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text
  // `write` omits a character that does not fit completely.
  const bytes = Buffer.alloc(bytesMax)
  return bytes.toString('utf8', 0, bytes.write(text))
}

/** Portions in order, each of at least one text. A text larger than the bound has its own portion. */
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
