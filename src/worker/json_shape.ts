/**
 * The shape of a large JSON text, from its bytes: how deep it nests and how many objects and lists it has. JSON.parse takes some 50 bytes of heap for each of these, so that 32 MB of brackets
 * would end the lane; they are refused before. Strings are stepped over by native search: documents cost a fraction of a millisecond per MB. Pure; a text that is no JSON is left to the parser.
 */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export interface JsonShape {
  readonly depth: number
  readonly containers: number
}

/** Of the text up to where either bound is passed, or to its end. */
export function shapeOf(text: Buffer, depthMax: number, containersMax: number): JsonShape {
  let depth = 0
  let deepest = 0
  let containers = 0
  for (let at = 0; at < text.length && deepest <= depthMax && containers <= containersMax; at++) {
    switch (text[at]) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        containers += 1
        depth += 1
        if (depth > deepest) deepest = depth
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1
        break
      default:
    }
  }
  return { depth: deepest, containers }
}

/** Position of the quote that ends the string which begins at `begin`; the text's length where there is none. */
function endOfString(text: Buffer, begin: number): number {
  for (let quote = text.indexOf(QUOTE, begin + 1); quote >= 0; quote = text.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return quote
  }
  return text.length
}
