/**
 * Texts of a stream, one after the other: values of NDJSON, blocks of server-sent events. Bytes are read when
 * the next value is asked for, so a slow reader slows the server down, and no more than one piece of the
 * network and one text are in memory.
 */
import { MdsError } from './errors.js'
import type { OpenAnswer } from './transport.js'

export async function* linesOf<Value>(answer: OpenAnswer): AsyncGenerator<Value, void, undefined> {
  for await (const line of textsOf(answer, '\n')) if (line !== '') yield valueOf<Value>(line)
}

/** The texts between separators. The last one may be empty, or one that broke off. */
export async function* textsOf({ response, limit }: OpenAnswer, separator: string): AsyncGenerator<string, void, undefined> {
  let isComplete = false
  try {
    if (response.body === null) return
    const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
    const decoder = new TextDecoder()
    // Pieces of a text that has not ended: joined once, because texts may be of many pieces.
    let begun: string[] = []
    let tail = ''
    for (;;) {
      limit.start()
      const { done, value } = await reader.read()
      limit.pause()
      // A separator may lie on the border of two pieces.
      const piece = tail + (done ? decoder.decode() : decoder.decode(value, { stream: true }))
      const texts = piece.split(separator)
      const last = texts.pop() ?? ''
      for (const [at, text] of texts.entries()) {
        const whole = at === 0 && begun.length > 0 ? begun.join('') + text : text
        if (at === 0) begun = []
        yield whole
      }
      const kept = done ? 0 : separator.length - 1
      tail = kept === 0 ? '' : last.slice(-kept)
      const rest = last.slice(0, last.length - tail.length)
      if (rest !== '') begun.push(rest)
      if (done) break
    }
    yield begun.join('')
    isComplete = true
  } catch (cause) {
    throw limit.errorFor(cause)
  } finally {
    limit.end(isComplete)
  }
}

function valueOf<Value>(line: string): Value {
  try {
    return JSON.parse(line) as Value
  } catch (cause) {
    throw new MdsError('a line of the answer is not JSON: it broke off', { status: 200, cause })
  }
}
