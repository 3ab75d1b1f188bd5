/**
 * Unpacks one entry of a ZIP archive to a bound. Sizes that an archive claims are not trusted. Any process
 * that has an archive open.
 */
import { Buffer } from 'node:buffer'
import type { Entry, ZipFile } from 'yauzl'
import { MIB } from '../limits/units.js'

/**
 * Times that an entry may grow once it has ZIP_RATIO_BYTES_MIN: text of office documents grows up to thirty
 * times.
 */
export const ZIP_RATIO_MAX = 100
export const ZIP_RATIO_BYTES_MIN = MIB

/**
 * @param bound what the error names: `bytesMax` may be what is left of it
 * @param count is told what is unpacked, also of an entry that is refused
 * @throws Error if the entry has more bytes, grows too much or is damaged
 */
export async function unpackEntry(
  zip: ZipFile,
  entry: Entry,
  bytesMax: number,
  bound = bytesMax,
  count?: (bytes: number) => void,
): Promise<Buffer> {
  const stream = await zip.openReadStreamPromise(entry)
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of stream as AsyncIterable<Buffer>) {
    bytes += part.length
    count?.(part.length)
    if (bytes > bytesMax) {
      stream.destroy()
      throw new Error(`${String(entry.fileName)} has more than ${bound} bytes unpacked`)
    }
    if (bytes > ZIP_RATIO_BYTES_MIN && bytes > entry.compressedSize * ZIP_RATIO_MAX) {
      stream.destroy()
      throw new Error(`${String(entry.fileName)} grows more than ${ZIP_RATIO_MAX} times when unpacked`)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}
