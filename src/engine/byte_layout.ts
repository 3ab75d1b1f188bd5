/**
 * Common parts of the in-memory formats that lanes and the engine exchange: little-endian words, and byte
 * strings padded with zeros to a multiple of 4. Pure functions over a caller's buffer, any thread. Formats:
 * docs/formats/{index-batch,search-plan}.md.
 */

/** Rounds up to a multiple of 4. */
export function padded4(bytes: number): number {
  return (bytes + 3) & ~3
}

/** Bytes of `text` in UTF-8, including its padding, without a length field. */
export function paddedTextBytes(text: string): number {
  return padded4(Buffer.byteLength(text))
}

/**
 * Writes `u32 length` at `lengthAt` and the UTF-8 text at `textAt`. The buffer must be zero-filled, which
 * provides the padding. Returns the offset after the padding.
 */
export function writeText(buffer: Buffer, lengthAt: number, textAt: number, text: string): number {
  const bytes = buffer.write(text, textAt)
  buffer.writeUInt32LE(bytes, lengthAt)
  return textAt + padded4(bytes)
}

/** Returns a Buffer over the same memory, for code that receives a plain Uint8Array. */
export function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
