/**
 * The checksums of a collection, computed from its documents as a client sees them, by the words of
 * docs/formats/truth-env.md and without the code of the server. Times that are 0 are not there.
 */
import { createHash } from 'node:crypto'
import type { CollectionCounters } from '../../../src/store/counters.js'
import { checksum64Of, checksumOf } from '../../../src/store/document_hash.js'
import type { Server } from '../server/server.js'

export interface Checksums {
  readonly checksum: string
  readonly checksum64: string
}

export interface HashedDocument {
  readonly key: string
  readonly lang: string
  /** In the order in which it is shown. */
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly contentMd: string
  readonly addedAt: number
  readonly updatedAt: number
  readonly expiresAt?: number
}

const WORDS = 2n ** 64n

export function checksumsOf(documents: readonly HashedDocument[]): Checksums {
  const contents = documents.map(hashOfContent)
  const states = documents.map((document, at) => hashOfState(contents[at] ?? 0n, document))
  const digits = (hashes: readonly bigint[]): string => folded(hashes).toString(16).padStart(16, '0')
  return { checksum: digits(contents).slice(0, 8), checksum64: digits(states) }
}

function hashOfContent({ key, lang, meta, contentMd }: HashedDocument): bigint {
  const texts = [key, lang, JSON.stringify(meta)].flatMap((text) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(Buffer.byteLength(text))
    return [length, Buffer.from(text)]
  })
  const content = Buffer.from(JSON.stringify(contentMd).slice(1, -1))
  const digest = createHash('sha256')
    .update(Buffer.concat([...texts, content]))
    .digest()
  return digest.reduceRight((value, byte, at) => (at < 8 ? value * 256n + BigInt(byte) : value), 0n)
}

function hashOfState(content: bigint, { addedAt, updatedAt, expiresAt = 0 }: HashedDocument): bigint {
  return [addedAt, updatedAt, expiresAt].reduce((hash, time) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(time)
    return mixed(hash ^ BigInt(`0x${bytes.toString('hex')}`))
  }, content)
}

function mixed(value: bigint): bigint {
  const once = ((value ^ (value / 2n ** 33n)) * 0xff51afd7ed558ccdn) % WORDS
  const twice = ((once ^ (once / 2n ** 33n)) * 0xc4ceb9fe1a85ec53n) % WORDS
  return twice ^ (twice / 2n ** 33n)
}

function folded(hashes: readonly bigint[]): bigint {
  const sum = hashes.reduce((total, hash) => total + hash, 0n) % WORDS
  const xor = hashes.reduce((total, hash) => total ^ hash, 0n)
  return mixed(sum ^ mixed(xor))
}

/** As the server shows them. */
export function shownChecksums(counters: CollectionCounters): Checksums {
  return { checksum: checksumOf(counters), checksum64: checksum64Of(counters) }
}

/** What `/v1/checksum` answers, and what it has to answer by the documents that an export shows. */
export async function bothChecksums(server: Server, collection: string): Promise<readonly [shown: Checksums, computed: Checksums]> {
  const { status, text } = await server.get(`/v1/checksum?collection=${encodeURIComponent(collection)}`)
  if (status !== 200) throw new Error(`checksum of ${collection}: ${status} ${text}`)
  const { checksum, checksum64 } = JSON.parse(text) as Checksums
  const lines = (await server.post('/v1/export', { collection, format: 'ndjson' })).text.split('\n').filter((line) => line !== '')
  return [{ checksum, checksum64 }, checksumsOf(lines.map((line) => JSON.parse(line) as HashedDocument))]
}
