/**
 * Reads the body of an HTTP response up to a size limit. The limit counts decompressed bytes, which bounds
 * decompression bombs.
 */
import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The response is larger than the limit. */
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
 * @param cut return the first `bytesMax` bytes of a larger body instead of throwing
 * @throws BodyTooLarge; Error for an unknown encoding or undecodable bytes
 */
export async function readReceived(body: Readable, encoding: string, bytesMax: number, cut: boolean): Promise<Buffer> {
  const decoder = DECODERS.get(encoding.trim().toLowerCase())
  if (decoder === undefined) {
    discard(body)
    throw new Error('the answer has an unknown encoding')
  }
  const chunks: Buffer[] = []
  let bytes = 0
  // The loop below throws the errors of both streams. The empty callback only prevents unhandled errors.
  const decoded = pipeline(body, decoder(), () => undefined)
  for await (const chunk of decoded as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax && !cut) throw new BodyTooLarge(bytesMax)
    chunks.push(bytes > bytesMax ? chunk.subarray(0, chunk.length - (bytes - bytesMax)) : chunk)
    if (bytes >= bytesMax && cut) break
  }
  return Buffer.concat(chunks)
}

/** Stops reading. Destroying the stream emits an error, which is ignored. */
export function discard(body: Readable): void {
  body.on('error', () => undefined).destroy()
}
