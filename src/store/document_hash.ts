/**
 * Hashes of documents, and the checksums of a collection that are made of them. A document has two: that of
 * its contents, which is stored in its head, and that of its state, which also covers its times. A collection
 * has the sum and the XOR of each, so that a write changes them in constant time and their order does not
 * matter. Layout: docs/formats/truth-env.md. Pure.
 */
import { createHash } from 'node:crypto'
import type { Head } from './head.js'

/** Sums over the documents of a collection, modulo 2^64. */
export interface Sums {
  contentSum: bigint
  contentXor: bigint
  stateSum: bigint
  stateXor: bigint
}

/** What a content hash covers. */
interface HashedText {
  readonly key: string
  readonly lang: string
  /** JSON text with sorted keys. */
  readonly meta: string
}

type HashedTimes = Pick<Head, 'addedAt' | 'updatedAt' | 'expiresAt'>

const LENGTH_BYTES = 4

/**
 * The first 64 bits of a SHA-256. Each text before the content has its length in front, so that no bytes move
 * from one field into the next unnoticed.
 * @param escaped the JSON-escaped content
 */
export function contentHash({ key, lang, meta }: HashedText, escaped: Uint8Array): bigint {
  const hash = createHash('sha256')
  hash.update(framed(key, lang, meta))
  hash.update(escaped)
  return hash.digest().readBigUInt64LE(0)
}

function framed(...texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, 0))
  let at = 0
  texts.forEach((text, index) => {
    at = bytes.writeUInt32LE(lengths[index] as number, at)
    at += bytes.write(text, at, 'utf8')
  })
  return bytes
}

// The times as the 64 bits of their f64, in which a head stores them.
const times = new Float64Array(3)
const timeBits = new BigUint64Array(times.buffer)

/** The content hash, mixed with the times of the state. */
export function stateHash(content: bigint, { addedAt, updatedAt, expiresAt }: HashedTimes): bigint {
  times[0] = addedAt
  times[1] = updatedAt
  times[2] = expiresAt
  let hash = content
  for (const bits of timeBits) hash = mix(hash ^ bits)
  return hash
}

/** The finaliser of MurmurHash3, 64 bits: a bijection whose bits depend on all bits. 0 stays 0. */
function mix(value: bigint): bigint {
  let bits = value
  bits = BigInt.asUintN(64, (bits ^ (bits >> 33n)) * 0xff51afd7ed558ccdn)
  bits = BigInt.asUintN(64, (bits ^ (bits >> 33n)) * 0xc4ceb9fe1a85ec53n)
  return bits ^ (bits >> 33n)
}

/** Adds what `other` has summed up. */
export function addSums(sums: Sums, other: Readonly<Sums>): void {
  sums.contentSum = BigInt.asUintN(64, sums.contentSum + other.contentSum)
  sums.contentXor ^= other.contentXor
  sums.stateSum = BigInt.asUintN(64, sums.stateSum + other.stateSum)
  sums.stateXor ^= other.stateXor
}

/** Subtracts what `other` has summed up. */
export function subtractSums(sums: Sums, other: Readonly<Sums>): void {
  addSums(sums, { ...other, contentSum: -other.contentSum, stateSum: -other.stateSum })
}

/** The sums over one document. */
export function sumsOf(content: bigint, times: HashedTimes): Sums {
  const state = stateHash(content, times)
  return { contentSum: content, contentXor: content, stateSum: state, stateXor: state }
}

/** As the contract's `checksum`: eight hexadecimal digits; covers keys, languages, metadata and contents. */
export function checksumOf({ contentSum, contentXor }: Readonly<Sums>): string {
  return (fold(contentSum, contentXor) >> 32n).toString(16).padStart(8, '0')
}

/** `checksum64`: sixteen hexadecimal digits; covers the times as well. */
export function checksum64Of({ stateSum, stateXor }: Readonly<Sums>): string {
  return fold(stateSum, stateXor).toString(16).padStart(16, '0')
}

/** 0 for a collection without documents. */
function fold(sum: bigint, xor: bigint): bigint {
  return mix(sum ^ mix(xor))
}
