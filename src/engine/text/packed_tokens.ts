/**
 * Merges the packed-token records of one large text. Format: docs/formats/packed-tokens.md. Runs on the
 * thread of its analyzer.
 */
const MAGIC = 0x314b544d
const HEADER_WORDS = 5

interface PackedView {
  readonly words: Uint32Array
  readonly termCount: number
  readonly length: number
  readonly terms: Buffer
}

/**
 * The distinct terms of all parts, numbered in the order of first appearance. There is no object per term,
 * because a large text has more than a million terms.
 */
interface MergedTerms {
  readonly count: number
  /** Concatenated; only the first `byteCount` bytes are used. */
  readonly bytes: Buffer
  readonly byteCount: number
  /** Per term: the end of its bytes, and its frequency over all parts. */
  readonly ends: Uint32Array
  readonly frequencies: Uint32Array
  /** Per part: the numbers of its terms. */
  readonly numbers: readonly Uint32Array[]
}

/**
 * Merges the consecutive records of one text, whose positions are absolute and ascending from record to
 * record, into one.
 * @param parts at least one; each well formed and 4-byte aligned, as the analyzer makes them
 */
export function mergePackedTokens(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (only === undefined) throw new Error('no packed tokens to merge')
  if (parts.length === 1) return only
  const views = parts.map(view)
  const terms = mergeTerms(views)
  const length = views.reduce((sum, part) => sum + part.length, 0)
  const bytesAt = (HEADER_WORDS + 2 * terms.count + length) * 4
  const out = Buffer.alloc(bytesAt + Math.ceil(terms.byteCount / 4) * 4)
  const words = new Uint32Array(out.buffer, out.byteOffset, out.length / 4)
  const positionCount = Math.max(...views.map((part) => word(part.words, 1)))
  words.set([MAGIC, positionCount, length, terms.count, terms.byteCount])
  words.set(terms.ends.subarray(0, terms.count), HEADER_WORDS)
  words.set(terms.frequencies.subarray(0, terms.count), HEADER_WORDS + terms.count)
  terms.bytes.copy(out, bytesAt, 0, terms.byteCount)
  copyPositions(views, terms, words)
  return out
}

function mergeTerms(views: readonly PackedView[]): MergedTerms {
  const countMax = views.reduce((sum, part) => sum + part.termCount, 0)
  const bytes = Buffer.allocUnsafe(views.reduce((sum, part) => sum + part.terms.length, 0))
  const ends = new Uint32Array(countMax)
  const frequencies = new Uint32Array(countMax)
  const known = new Map<string, number>()
  let byteCount = 0
  const numbers = views.map((part) => {
    const own = new Uint32Array(part.termCount)
    let begin = 0
    for (let index = 0; index < part.termCount; index++) {
      const end = word(part.words, HEADER_WORDS + index)
      const key = part.terms.toString('latin1', begin, end)
      let number = known.get(key)
      if (number === undefined) {
        number = known.size
        known.set(key, number)
        byteCount += part.terms.copy(bytes, byteCount, begin, end)
        ends[number] = byteCount
      }
      frequencies[number] = word(frequencies, number) + word(part.words, HEADER_WORDS + part.termCount + index)
      own[index] = number
      begin = end
    }
    return own
  })
  return { count: known.size, bytes, byteCount, ends, frequencies, numbers }
}

function view(part: Uint8Array): PackedView {
  const words = new Uint32Array(part.buffer, part.byteOffset, part.length / 4)
  const termCount = word(words, 3)
  const length = word(words, 2)
  const begin = (HEADER_WORDS + 2 * termCount + length) * 4
  return { words, termCount, length, terms: Buffer.from(part.buffer, part.byteOffset + begin, word(words, 4)) }
}

/** The positions of a term are stored contiguously, those of an earlier part first. */
function copyPositions(views: readonly PackedView[], { count, frequencies, numbers }: MergedTerms, words: Uint32Array): void {
  const next = new Uint32Array(count)
  for (let number = 0, at = HEADER_WORDS + 2 * count; number < count; number++) {
    next[number] = at
    at += word(frequencies, number)
  }
  views.forEach((part, of) => {
    let from = HEADER_WORDS + 2 * part.termCount
    for (const [index, number] of (numbers[of] ?? []).entries()) {
      const end = from + word(part.words, HEADER_WORDS + part.termCount + index)
      let at = word(next, number)
      while (from < end) words[at++] = word(part.words, from++)
      next[number] = at
    }
  })
}

function word(words: Uint32Array, index: number): number {
  return words[index] ?? 0
}
