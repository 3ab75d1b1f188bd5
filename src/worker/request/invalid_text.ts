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
  return isValid(value) ? { value, isChanged: false } : { value: dropped(value), isChanged: true }
}

/** Nearly all values are: looking makes no copy. */
function isValid(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isValid)
  for (const name in value) if (!name.isWellFormed() || !isValid((value as Record<string, unknown>)[name])) return false
  return true
}

function dropped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(LONE_SURROGATES, '')
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(dropped)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [dropped(name), dropped(each)]))
}
