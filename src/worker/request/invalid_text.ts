/**
 * Bodies that are not UTF-8, for operations that drop what is invalid instead of refusing the request. Each
 * invalid sequence of bytes becomes one lone surrogate, which no valid text has, so that the handler finds
 * the documents that had one. Lane threads only.
 */

/** Stands for invalid bytes while the body is text. A noncharacter: no text for interchange has it. */
const MARK = '\ufffe'
/** What a decoder writes in place of invalid bytes. Those that a client has written are kept apart. */
const REPLACEMENT = '\ufffd'
const LONE_SURROGATE = '\udfff'
const LONE_SURROGATES = /\p{Surrogate}/gu

/** @returns UTF-8, at most three times as long, with a replacement character for each invalid sequence */
export function markedUtf8(body: Uint8Array): Buffer {
  const own = Buffer.from(body)
  const written = Buffer.from(REPLACEMENT)
  for (let at = own.indexOf(written); at >= 0; at = own.indexOf(written, at + written.length)) own.write(MARK, at)
  return Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(own))
}

/** @param text of `markedUtf8` */
export function withLoneSurrogates(text: Buffer): string {
  return text.toString('utf8').replaceAll(REPLACEMENT, LONE_SURROGATE).replaceAll(MARK, REPLACEMENT)
}

/**
 * A JSON value without what its texts have of invalid characters. Depth is that of the body, which is
 * bounded.
 * @returns the same value if it has none
 */
export function droppedInvalidText(value: unknown): { readonly value: unknown; readonly isChanged: boolean } {
  if (typeof value === 'string') {
    return value.isWellFormed() ? { value, isChanged: false } : { value: value.replaceAll(LONE_SURROGATES, ''), isChanged: true }
  }
  if (typeof value !== 'object' || value === null) return { value, isChanged: false }
  // A document has few members, and a list of metadata few texts, so looking costs less than a copy.
  const entries = Object.entries(value).map(([name, each]) => [droppedInvalidText(name), droppedInvalidText(each)] as const)
  if (!entries.some(([name, each]) => name.isChanged || each.isChanged)) return { value, isChanged: false }
  const kept = entries.map(([name, each]) => [name.value as string, each.value] as const)
  return { value: Array.isArray(value) ? kept.map(([, each]) => each) : Object.fromEntries(kept), isChanged: true }
}
