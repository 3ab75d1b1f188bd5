/**
 * Reads the body of a foreign answer within a bound that counts what comes out of the decompression, so that
 * a small bomb is as large as what it unfolds to.
 */
import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The answer is larger than asked for. */
export class BodyTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`the answer has more than ${bytesMax} bytes`)
    this.name = 'BodyTooLarge'
  }
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['', () => new PassThrough()],
  ['identity', () => new PassThrough()],
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/**
 * @param cut give the first `bytesMax` bytes of a larger body, instead of refusing it
 * @throws BodyTooLarge; Error for an encoding that nobody asked for, and for bytes that are none
 */
export async function readReceived(body: Readable, encoding: string, bytesMax: number, cut: boolean): Promise<Buffer> {
  const decoder = DECODERS.get(encoding.trim().toLowerCase())
  if (decoder === undefined) {
    discard(body)
    throw new Error('the answer has an unknown encoding')
  }
  const chunks: Buffer[] = []
  let bytes = 0
  // Errors of either side end the loop below; the callback only keeps them from being nobody's.
  const decoded = pipeline(body, decoder(), () => undefined)
  for await (const chunk of decoded as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax && !cut) throw new BodyTooLarge(bytesMax)
    chunks.push(bytes > bytesMax ? chunk.subarray(0, chunk.length - (bytes - bytesMax)) : chunk)
    if (bytes >= bytesMax && cut) break
  }
  return Buffer.concat(chunks)
}

/** Nobody reads on. That is an error to the stream, and to nobody else. */
export function discard(body: Readable): void {
  body.on('error', () => undefined).destroy()
}
