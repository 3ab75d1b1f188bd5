/**
 * Decodes the hits record of the native engine. Every length is checked against the number of bytes before it
 * is used. An inconsistent record is an internal error, never a wrong result. Byte layout:
 * docs/formats/search-plan.md.
 */
import { padded4, viewOf } from '../byte_layout.js'
import type { Expansion, Hit, Hits } from '../types.js'

const HITS_MAGIC = 0x3152534d // "MSR1"
const HITS_HEADER_BYTES = 32 // magic, total, hitCount, maskWords, lsn, docCount, status
const HIT_HEADER_BYTES = 24 // docid, zero, score, lsn
const EXPANSION_HEADER_BYTES = 12 // leaf, edits, bytes
const STATUS_STOPPED = 1
const STATUS_CUT = 2
/** The boost factors of the hits follow the expansions. */
const STATUS_BOOSTED = 4

/**
 * Throws an Error that names the violated expectation if the bytes are not a hits record. The hits themselves
 * are decoded when they are read first: an answer that native code puts together needs none of them.
 */
export function decodeHits(record: Uint8Array): Hits {
  const bytes = viewOf(record)
  if (bytes.length < HITS_HEADER_BYTES) throw new Error(`hits record: ${bytes.length} bytes, header has ${HITS_HEADER_BYTES}`)
  const magic = bytes.readUInt32LE(0)
  if (magic !== HITS_MAGIC) throw new Error(`hits record: magic ${magic.toString(16)}, expected ${HITS_MAGIC.toString(16)}`)
  const hitCount = bytes.readUInt32LE(8)
  const maskWords = bytes.readUInt32LE(12)
  const stride = HIT_HEADER_BYTES + ((maskWords * 4 + 7) & ~7)
  // Both counts are below 2^32 and the product is below 2^53 + 2^40, so the comparison is exact enough to
  // refuse every wrong size.
  const hitsEnd = HITS_HEADER_BYTES + hitCount * stride
  if (maskWords > bytes.length || hitsEnd + 4 > bytes.length) {
    throw new Error(`hits record: ${bytes.length} bytes do not hold ${hitCount} hits with ${maskWords} mask words`)
  }
  const status = bytes.readUInt32LE(28)
  const factorsAt = (status & STATUS_BOOSTED) === 0 ? bytes.length : bytes.length - hitCount * 8
  if (factorsAt < hitsEnd + 4) throw new Error(`hits record: ${bytes.length} bytes do not hold ${hitCount} factors`)
  return new HitsRecord(bytes, status, { hitCount, maskWords, stride, hitsEnd, factorsAt })
}

interface HitsLayout {
  readonly hitCount: number
  readonly maskWords: number
  readonly stride: number
  readonly hitsEnd: number
  /** Where the factors of the hits begin; the end of the record if it has none. */
  readonly factorsAt: number
}

class HitsRecord implements Hits {
  readonly total: number
  readonly count: number
  readonly lsn: bigint
  readonly docCount: number
  readonly complete: boolean
  readonly expansions: readonly Expansion[]
  readonly expansionsCut: boolean
  readonly #layout: HitsLayout
  #hits: readonly Hit[] | undefined

  constructor(
    readonly record: Buffer,
    status: number,
    layout: HitsLayout,
  ) {
    this.total = record.readUInt32LE(4)
    this.count = layout.hitCount
    this.lsn = record.readBigUInt64LE(16)
    this.docCount = record.readUInt32LE(24)
    this.complete = (status & STATUS_STOPPED) === 0
    this.expansions = decodeExpansions(record.subarray(0, layout.factorsAt), layout.hitsEnd)
    this.expansionsCut = (status & STATUS_CUT) !== 0
    this.#layout = layout
  }

  get hits(): readonly Hit[] {
    return (this.#hits ??= decodeAll(this.record, this.#layout))
  }
}

function decodeAll(bytes: Buffer, { hitCount, maskWords, stride, factorsAt }: HitsLayout): readonly Hit[] {
  const hits: Hit[] = []
  for (let index = 0, at = HITS_HEADER_BYTES; index < hitCount; index++, at += stride) {
    const hit = decodeHit(bytes, at, maskWords)
    hits.push(factorsAt === bytes.length ? hit : { ...hit, factor: bytes.readDoubleLE(factorsAt + index * 8) })
  }
  return hits
}

function decodeExpansions(bytes: Buffer, start: number): Expansion[] {
  const count = bytes.readUInt32LE(start)
  const expansions: Expansion[] = []
  let at = start + 4
  for (let index = 0; index < count && at + EXPANSION_HEADER_BYTES <= bytes.length; index++) {
    const begin = at + EXPANSION_HEADER_BYTES
    const end = begin + bytes.readUInt32LE(at + 8)
    if (end > bytes.length) break
    expansions.push({ leaf: bytes.readUInt32LE(at), edits: bytes.readUInt32LE(at + 4), term: bytes.toString('utf8', begin, end) })
    at = begin + padded4(end - begin)
  }
  if (expansions.length !== count || at !== bytes.length)
    throw new Error(`hits record: ${bytes.length - start} bytes do not hold ${count} expansions`)
  return expansions
}

function decodeHit(bytes: Buffer, at: number, maskWords: number): Hit {
  const score = bytes.readDoubleLE(at + 8)
  if (!Number.isFinite(score)) throw new Error(`hits record: score ${score} of docid ${bytes.readUInt32LE(at)}`)
  const matched: number[] = []
  for (let word = 0; word < maskWords; word++) {
    let bits = bytes.readUInt32LE(at + HIT_HEADER_BYTES + word * 4)
    while (bits !== 0) {
      matched.push(word * 32 + 31 - Math.clz32(bits & -bits))
      bits &= bits - 1
    }
  }
  return { docid: bytes.readUInt32LE(at), score, lsn: bytes.readBigUInt64LE(at + 16), matched }
}
