/**
 * Embedding without a provider, for model tests of the store: chunks of eight characters, whose vectors are a
 * function of their text and the variant.
 */
import assert from 'node:assert/strict'
import type { EmbeddedDocument } from '../../../src/domain/embedding/embedded_document.js'
import { unescapeContent } from '../../../src/store/body.js'
import { type Head, textOfHead } from '../../../src/store/head.js'
import { crc32 } from '../../../src/store/rows/packages.js'
import type { QueuedEmbedding } from '../../../src/store/vectors/vector_tables.js'
import type { View } from '../../../src/store/view.js'

const CHUNK_CHARACTERS = 8
const DIMENSIONS = 3

/** The inputs of a document's vectors. */
export interface Embedded {
  readonly content: string
  readonly variant: string
  readonly isWhole: boolean
}

interface Cut {
  readonly texts: readonly string[]
  readonly hashes: readonly bigint[]
}

function cut(content: string): Cut {
  const texts = Array.from({ length: Math.ceil(content.length / CHUNK_CHARACTERS) }, (_, at) =>
    content.slice(at * CHUNK_CHARACTERS, (at + 1) * CHUNK_CHARACTERS),
  )
  return { texts, hashes: texts.map((text) => BigInt(crc32(text))) }
}

function vectorOf(text: string, variant: string): number[] {
  return [crc32(text) % 1000, variant.length, text.length]
}

interface Done {
  /** Lower-case. */
  readonly collection: string
  readonly key: string
  readonly documents: readonly EmbeddedDocument[]
  readonly embedded: Embedded | undefined
  readonly isSettled: boolean
}

/** @param isWhole false: only the first half of the missing chunks, if there is more than one */
export function embed(view: View, { lsn, collection, docid }: QueuedEmbedding, variant: string, isWhole: boolean): Done {
  const name =
    view
      .collections()
      .find(({ id }) => id === collection)
      ?.name.toLowerCase() ?? ''
  const head = name === '' ? undefined : view.headEvenExpired(collection, docid)
  const base = { collection, docid, queued: lsn }
  if (head === undefined)
    return { collection: name, key: '', documents: [{ ...base, change: 'keep' }], embedded: undefined, isSettled: true }
  const key = textOfHead(head).key.toLowerCase()
  const content = unescapeContent(view.escapedContent(head))
  const old = view.vectors.record(collection, docid)
  const { texts, hashes } = cut(content)
  const usable = old?.variant === variant ? new Set(old.hashes) : new Set<bigint>()
  const lacking = [...hashes.keys()].filter((at) => hashes.indexOf(hashes[at] as bigint) === at && !usable.has(hashes[at] as bigint))
  const isSame = lacking.length === 0 && old?.bodyLsn !== 0n && old !== undefined && [...old.hashes].join() === hashes.join()
  if (isSame && old.variant === variant) {
    const documents: EmbeddedDocument[] = [{ ...base, change: 'restamp', bodyLsn: head.bodyLsn }]
    return { collection: name, key, documents, embedded: { content, variant, isWhole: true }, isSettled: true }
  }
  const isPart = !isWhole && lacking.length > 1
  const given = isPart ? lacking.slice(0, lacking.length / 2) : lacking
  const vectors = given.flatMap((at) => vectorOf(texts[at] as string, variant))
  const bytes = (words: Uint32Array | BigUint64Array | Float32Array): Uint8Array => new Uint8Array(words.buffer)
  const document: EmbeddedDocument = {
    ...{
      ...base,
      change: 'set',
      variant,
      dimensions: DIMENSIONS,
      isCode: false,
      recipe: 7,
      bodyLsn: head.bodyLsn,
      isWhole: !isPart,
      isFresh: false,
    },
    ranges: bytes(new Uint32Array(texts.flatMap((text, at) => [at * CHUNK_CHARACTERS, at * CHUNK_CHARACTERS + text.length]))),
    hashes: bytes(new BigUint64Array(hashes)),
    given: bytes(new Uint32Array(given)),
    vectors: bytes(new Float32Array(vectors)),
  }
  return { collection: name, key, documents: [document], embedded: { content, variant, isWhole: !isPart }, isSettled: !isPart }
}

/**
 * Checks that the stored vectors of a document are those of the embedded content, and that all records about
 * them agree.
 */
export function checkEmbedded(view: View, { collection, docid, bodyLsn }: Head, present: string, embedded: Embedded | undefined): void {
  const record = view.vectors.record(collection, docid)
  const stamp = view.vectors.stamp(collection, docid)
  assert.equal(record === undefined, embedded === undefined, 'vectors are there, and the model has none, or the other way round')
  assert.equal(stamp === undefined, record === undefined, 'a record has a stamp')
  if (record === undefined || stamp === undefined || embedded === undefined) return
  assert.deepEqual([stamp.dimensions, stamp.chunks], [record.dimensions, record.hashes.length])
  const { variant, hashes, ranges, vectors } = record
  const { texts } = cut(embedded.content)
  const there = [...hashes.keys()].map((chunk) => (ranges[chunk * 2] as number) / CHUNK_CHARACTERS)
  if (record.bodyLsn > 0n) assert.deepEqual(there, [...texts.keys()])
  assert.deepEqual([variant, record.bodyLsn > 0n], [embedded.variant, embedded.isWhole])
  assert.deepEqual(
    [...vectors],
    there.flatMap((chunk) => vectorOf(texts[chunk] as string, variant)),
  )
  if (record.bodyLsn === bodyLsn) assert.equal(present, embedded.content, 'vectors of another content than the body has')
}

/** Checks that the counts by variant match the documents. */
export function checkVariants(view: View, collection: number, documents: readonly { readonly embedded?: Embedded | undefined }[]): void {
  const counted = new Map(view.vectors.variants(collection).map(({ variant, documents: count }) => [variant, count]))
  const wanted = new Map<string, number>()
  for (const { embedded } of documents) if (embedded !== undefined) wanted.set(embedded.variant, (wanted.get(embedded.variant) ?? 0) + 1)
  assert.deepEqual([...counted].sort(), [...wanted].sort())
  const stamps = [...view.vectors.stamps()].filter((row) => row.collection === collection)
  const chunks = view.vectors.variants(collection).reduce((sum, count) => sum + count.chunks, 0)
  assert.equal(
    stamps.reduce((sum, { stamp }) => sum + stamp.chunks, 0),
    chunks,
  )
}
