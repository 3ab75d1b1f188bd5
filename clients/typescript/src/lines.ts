/**
 * Values of an NDJSON stream, one line after the other. Bytes are read when the next value is asked for, so a
 * slow reader slows the server down, and no more than one piece of the network and one line are in memory.
 */
import { MdsError } from './errors.js'
import type { OpenAnswer } from './transport.js'

export async function* linesOf<Value>({ response, limit }: OpenAnswer): AsyncGenerator<Value, void, undefined> {
  let isComplete = false
  try {
    if (response.body === null) return
    const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
    const decoder = new TextDecoder()
    // Pieces of a line that has not ended: joined once, because lines may be of many pieces.
    let begun: string[] = []
    for (;;) {
      limit.start()
      const { done, value } = await reader.read()
      limit.pause()
      const lines = (done ? decoder.decode() : decoder.decode(value, { stream: true })).split('\n')
      const last = lines.pop() ?? ''
      for (const [at, line] of lines.entries()) {
        const whole = at === 0 && begun.length > 0 ? begun.join('') + line : line
        if (at === 0) begun = []
        if (whole !== '') yield valueOf<Value>(whole)
      }
      if (last !== '') begun.push(last)
      if (done) break
    }
    if (begun.length > 0) yield valueOf<Value>(begun.join(''))
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
