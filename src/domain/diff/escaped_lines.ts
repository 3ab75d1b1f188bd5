/**
 * The lines of a content as it is stored: JSON-escaped bytes, in which a line ends with the escape `\n`.
 * Lines are read one by one, so that content of eight million lines takes no memory. Pure.
 */
const BACKSLASH = 0x5c
const LETTER_N = 0x6e
/** Lines between two polls of the deadline: 0.1 ms. */
const LINES_POLLED = 8192

export class EscapedLines {
  /** Offset of the current line. Its end is the offset of the next line. */
  begin: number
  end: number
  /** False for a last line without a line end. */
  isEnded = true
  /** Number of lines read. */
  count = 0

  /** @param poll throws when the request was stopped */
  constructor(
    readonly text: Uint8Array,
    from: number,
    readonly poll: () => void,
  ) {
    this.begin = from
    this.end = from
  }

  /** @returns false after the last line; the current line is empty then */
  next(): boolean {
    const { text } = this
    const { length } = text
    this.begin = this.end
    let at = this.end
    if (at === length) return false
    this.count += 1
    if (this.count % LINES_POLLED === 0) this.poll()
    this.isEnded = false
    while (at < length && !this.isEnded) {
      if (text[at] !== BACKSLASH) at += 1
      else {
        this.isEnded = text[at + 1] === LETTER_N
        at += 2
      }
    }
    this.end = Math.min(at, length)
    return true
  }
}
