/**
 * The common parts of the in-memory formats between lanes and engine: little-endian words, and byte strings
 * padded with zeros to a multiple of 4. Pure functions over a caller's buffer, any thread. Formats:
 * docs/formats/{index-batch,search-plan}.md.
 */

/** The next multiple of 4. */
export function padded4(bytes: number): number {
  return (bytes + 3) & ~3
}

/** Bytes of `text` in UTF-8 with its padding, without a length field. */
export function paddedTextBytes(text: string): number {
  return padded4(Buffer.byteLength(text))
}

/**
 * Writes `u32 length` at `lengthAt` and the UTF-8 text at `textAt`. Relies on a zero-filled buffer for the
 * padding. Returns the offset behind the padding.
 */
export function writeText(buffer: Buffer, lengthAt: number, textAt: number, text: string): number {
  const bytes = buffer.write(text, textAt)
  buffer.writeUInt32LE(bytes, lengthAt)
  return textAt + padded4(bytes)
}

/** A Buffer over the same memory, for readers and patchers that are handed a plain Uint8Array. */
export function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
