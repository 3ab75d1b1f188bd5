/**
 * Splits a byte stream into lines of bounded length. A longer line is reported and skipped, and never in
 * memory as a whole. Pure, except for the stream that it reads.
 */

export interface Line {
  /** From 1. */
  readonly number: number
  /** Without the line end. Undefined if the line is longer than the bound. */
  readonly bytes: Buffer | undefined
}

const NEWLINE = 0x0a

export async function* splitLines(stream: AsyncIterable<Buffer>, lineBytesMax: number): AsyncGenerator<Line> {
  let number = 0
  let parts: Buffer[] = []
  let buffered = 0
  const take = (): Buffer | undefined => {
    const bytes = buffered > lineBytesMax ? undefined : Buffer.concat(parts, buffered)
    parts = []
    buffered = 0
    return bytes
  }
  const hold = (part: Buffer): void => {
    buffered += part.length
    if (buffered > lineBytesMax) parts = []
    else parts.push(part)
  }
  for await (const chunk of stream) {
    let begin = 0
    for (let end = chunk.indexOf(NEWLINE, begin); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      hold(chunk.subarray(begin, end))
      number += 1
      yield { number, bytes: take() }
      begin = end + 1
    }
    if (begin < chunk.length) hold(chunk.subarray(begin))
  }
  if (buffered > 0) yield { number: number + 1, bytes: take() }
}
