/**
 * Packed tokens on the TypeScript side: joining the records of one large text. Format: docs/formats/packed-tokens.md. Runs on the thread of its analyzer.
 */
const MAGIC = 0x314b544d
const HEADER_WORDS = 5

interface PackedView {
  readonly words: Uint32Array
  readonly termCount: number
  readonly length: number
  readonly terms: Buffer
}

interface MergedTerm {
  readonly bytes: Buffer
  tf: number
  /** Next free word for a position of the term. */
  next: number
}

/**
 * One record out of the consecutive records of one text, whose positions are absolute and ascending from record to record.
 * @param parts at least one; each well formed and 4-byte aligned, as the analyzer makes them
 */
export function mergePackedTokens(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (only === undefined) throw new Error('no packed tokens to merge')
  if (parts.length === 1) return only
  const views = parts.map(view)
  const terms = new Map<string, MergedTerm>()
  let termBytes = 0
  const locals = views.map((part) =>
    termsOf(part).map((bytes, index) => {
      const key = bytes.toString('latin1')
      let term = terms.get(key)
      if (term === undefined) {
        term = { bytes, tf: 0, next: 0 }
        terms.set(key, term)
        termBytes += bytes.length
      }
      term.tf += word(part.words, HEADER_WORDS + part.termCount + index)
      return term
    }),
  )
  const length = views.reduce((sum, part) => sum + part.length, 0)
  const bytesAt = (HEADER_WORDS + 2 * terms.size + length) * 4
  const out = Buffer.alloc(bytesAt + Math.ceil(termBytes / 4) * 4)
  const words = new Uint32Array(out.buffer, out.byteOffset, out.length / 4)
  const positionCount = Math.max(...views.map((part) => word(part.words, 1)))
  words.set([MAGIC, positionCount, length, terms.size, termBytes])
  writeTerms(out, words, [...terms.values()], bytesAt)
  views.forEach((part, index) => copyPositions(part, locals[index] ?? [], words))
  return out
}

function view(part: Uint8Array): PackedView {
  const words = new Uint32Array(part.buffer, part.byteOffset, part.length / 4)
  const termCount = word(words, 3)
  const length = word(words, 2)
  const begin = (HEADER_WORDS + 2 * termCount + length) * 4
  return { words, termCount, length, terms: Buffer.from(part.buffer, part.byteOffset + begin, word(words, 4)) }
}

function termsOf(part: PackedView): Buffer[] {
  let begin = 0
  return Array.from({ length: part.termCount }, (_, index) => {
    const end = word(part.words, HEADER_WORDS + index)
    const bytes = part.terms.subarray(begin, end)
    begin = end
    return bytes
  })
}

function writeTerms(out: Buffer, words: Uint32Array, terms: readonly MergedTerm[], bytesAt: number): void {
  let end = 0
  let next = HEADER_WORDS + 2 * terms.length
  terms.forEach((term, index) => {
    term.bytes.copy(out, bytesAt + end)
    end += term.bytes.length
    words[HEADER_WORDS + index] = end
    words[HEADER_WORDS + terms.length + index] = term.tf
    term.next = next
    next += term.tf
  })
}

function copyPositions(part: PackedView, terms: readonly MergedTerm[], words: Uint32Array): void {
  let from = HEADER_WORDS + 2 * part.termCount
  terms.forEach((term, index) => {
    const tf = word(part.words, HEADER_WORDS + part.termCount + index)
    words.set(part.words.subarray(from, from + tf), term.next)
    term.next += tf
    from += tf
  })
}

function word(words: Uint32Array, index: number): number {
  return words[index] ?? 0
}
