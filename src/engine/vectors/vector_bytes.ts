/**
 * Encodes the requests of the native vector engine and decodes its results. Pure, any thread. Byte layouts:
 * docs/formats/vector-index.md.
 */
import assert from 'node:assert'
import { viewOf } from '../byte_layout.js'
import { encodePlan, NO_POLL_WORD } from '../search/search_plan.js'
import type {
  SimilarGroups,
  VectorAlgorithm,
  VectorChange,
  VectorFilter,
  VectorHit,
  VectorHits,
  VectorMetric,
  VectorQuantization,
  VectorSearchRequest,
  VectorStamp,
  VectorTuning,
} from './vector_types.js'

const BATCH_MAGIC = 0x3142564d // "MVB1"
const REQUEST_MAGIC = 0x3351564d // "MVQ3"
const HITS_MAGIC = 0x3148564d // "MVH1"
const SIMILAR_MAGIC = 0x3153564d // "MVS1"
const SIMILAR_BYTES = 24
const OP_CODES = { set: 1, remove: 2, drop: 3 } as const
const OP_BYTES = { set: 28, remove: 20, drop: 8 } as const
const STAMP_BYTES = 20
const REQUEST_HEADER_BYTES = 72
const HITS_HEADER_BYTES = 16
const HIT_BYTES = 24
const FLAG_DIVERSE = 1
const STATUS_STOPPED = 1
const STATUS_EXACT = 2

const METRIC_CODES: Readonly<Record<VectorMetric, number>> = { cosine: 0, dot_product: 1, euclidean: 2 }
const ALGORITHM_CODES: Readonly<Record<Exclude<VectorAlgorithm, 'quantized'>, number>> = {
  flat: 0,
  hnsw: 1,
  ivf: 2,
  pq: 3,
  opq: 4,
  sq: 5,
  sq4: 6,
  bq: 7,
}

/** The algorithm that `quantized` means, by the collection's quantization. */
const QUANTIZED = { float32: 'flat', int8: 'sq', int4: 'sq4' } as const satisfies Record<VectorQuantization, VectorAlgorithm>

export function encodeVectorBatch(changes: readonly VectorChange[]): Uint8Array {
  const size = changes.reduce((sum, change) => sum + OP_BYTES[change.kind] + (change.kind === 'set' ? change.vectors.byteLength : 0), 8)
  const bytes = Buffer.alloc(size)
  bytes.writeUInt32LE(BATCH_MAGIC, 0)
  let at = bytes.writeUInt32LE(changes.length, 4)
  for (const change of changes) at = writeChange(bytes, at, change)
  assert(at === size, `vector batch: wrote ${at} of ${size} bytes`)
  return bytes
}

function writeChange(bytes: Buffer, start: number, change: VectorChange): number {
  let at = bytes.writeUInt32LE(OP_CODES[change.kind], start)
  at = bytes.writeUInt32LE(change.collection, at)
  if (change.kind === 'drop') return at
  at = bytes.writeUInt32LE(change.docid, at)
  at = bytes.writeBigUInt64LE(change.lsn, at)
  if (change.kind === 'remove') return at
  const { vectors, dimensions } = change
  assert(vectors.length % dimensions === 0, `vector batch: ${vectors.length} numbers in vectors of ${dimensions}`)
  at = bytes.writeUInt32LE(dimensions, at)
  at = bytes.writeUInt32LE(vectors.length / dimensions, at)
  bytes.set(new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength), at)
  return at + vectors.byteLength
}

/** @param stamps ascending by collection, then docid */
export function encodeVectorStamps(stamps: readonly VectorStamp[]): Uint8Array {
  const bytes = Buffer.alloc(stamps.length * STAMP_BYTES)
  let at = 0
  for (const { collection, docid, lsn, dimensions } of stamps) {
    at = bytes.writeUInt32LE(collection, at)
    at = bytes.writeUInt32LE(docid, at)
    at = bytes.writeBigUInt64LE(lsn, at)
    at = bytes.writeUInt32LE(dimensions, at)
  }
  return bytes
}

/** @param pollWord byte offset of the request's stop word in the shared control buffer, or `NO_POLL_WORD` */
export function encodeVectorRequest(request: VectorSearchRequest, tuning: VectorTuning, pollWord: number): Uint8Array {
  const { query, mmrLambda } = request
  const filter = encodeFilter(request.collection, request.filter)
  const bytes = Buffer.alloc(REQUEST_HEADER_BYTES + query.byteLength + filter.length)
  bytes.writeUInt32LE(REQUEST_MAGIC, 0)
  bytes.writeUInt32LE(request.collection, 4)
  bytes.writeUInt32LE(algorithmCode(request), 8)
  bytes.writeUInt32LE(METRIC_CODES[request.metric], 12)
  bytes.writeUInt32LE(request.k, 16)
  bytes.writeUInt32LE(Math.ceil(request.k * request.oversample), 20)
  bytes.writeUInt32LE(mmrLambda === undefined ? 0 : FLAG_DIVERSE, 24)
  bytes.writeUInt32LE(pollWord, 28)
  bytes.writeDoubleLE(request.threshold, 32)
  bytes.writeDoubleLE(mmrLambda ?? 1, 40)
  bytes.writeUInt32LE(query.length, 48)
  bytes.writeUInt32LE(filter.length, 52)
  bytes.writeUInt32LE(tuning.bqRerankFactor, 56)
  bytes.writeUInt32LE(tuning.workers, 60)
  bytes.writeUInt32LE(tuning.parallelMinSize, 64)
  bytes.set(new Uint8Array(query.buffer, query.byteOffset, query.byteLength), REQUEST_HEADER_BYTES)
  bytes.set(filter, REQUEST_HEADER_BYTES + query.byteLength)
  return bytes
}

function algorithmCode({ algorithm, quantization }: VectorSearchRequest): number {
  return ALGORITHM_CODES[algorithm === 'quantized' ? QUANTIZED[quantization] : algorithm]
}

/** Encodes the filter as a search plan that matches the same documents. */
function encodeFilter(collection: number, filter: VectorFilter | undefined): Uint8Array {
  if (filter === undefined || (filter.filters.length === 0 && (filter.ranges ?? []).length === 0)) return new Uint8Array()
  return encodePlan(
    {
      collection,
      algorithm: 'bm25',
      k1: 1.2,
      b: 0.75,
      k: 0,
      skip: 0,
      sort: 'docid',
      descending: false,
      exactTotal: false,
      fields: [],
      filters: filter.filters,
      ...(filter.ranges === undefined ? {} : { ranges: filter.ranges }),
      terms: [],
      root: { kind: 'all' },
    },
    NO_POLL_WORD,
  )
}

/** Throws an Error that names the violated expectation if the bytes are not a hits record. */
export function decodeVectorHits(record: Uint8Array): VectorHits {
  const bytes = viewOf(record)
  if (bytes.length < HITS_HEADER_BYTES || bytes.readUInt32LE(0) !== HITS_MAGIC) throw new Error('vector hits: no header')
  const count = bytes.readUInt32LE(4)
  if (bytes.length !== HITS_HEADER_BYTES + count * HIT_BYTES)
    throw new Error(`vector hits: ${bytes.length} bytes do not hold ${count} hits`)
  const hits: VectorHit[] = []
  for (let at = HITS_HEADER_BYTES; at < bytes.length; at += HIT_BYTES) {
    hits.push({
      docid: bytes.readUInt32LE(at),
      chunk: bytes.readUInt32LE(at + 4),
      lsn: bytes.readBigUInt64LE(at + 8),
      score: bytes.readDoubleLE(at + 16),
    })
  }
  const status = bytes.readUInt32LE(8)
  return {
    hits,
    exact: (status & STATUS_EXACT) !== 0,
    complete: (status & STATUS_STOPPED) === 0,
    documents: bytes.readUInt32LE(12),
  }
}

/** Throws an Error that names the violated expectation if the bytes are not a record of similar documents. */
export function decodeSimilar(record: Uint8Array): SimilarGroups {
  const bytes = viewOf(record)
  if (bytes.length < HITS_HEADER_BYTES || bytes.readUInt32LE(0) !== SIMILAR_MAGIC) throw new Error('similar documents: no header')
  const count = bytes.readUInt32LE(4)
  if (bytes.length !== HITS_HEADER_BYTES + count * SIMILAR_BYTES)
    throw new Error(`similar documents: ${bytes.length} bytes do not hold ${count} rows`)
  const groups = new Map<number, { score: number; members: { docid: number; score: number }[] }>()
  for (let at = HITS_HEADER_BYTES; at < bytes.length; at += SIMILAR_BYTES) {
    const first = bytes.readUInt32LE(at + 4)
    const member = { docid: bytes.readUInt32LE(at), score: bytes.readDoubleLE(at + 8) }
    const group = groups.get(first)
    if (group === undefined) groups.set(first, { score: bytes.readDoubleLE(at + 16), members: [member] })
    else group.members.push(member)
  }
  return {
    groups: [...groups.values()],
    documents: bytes.readUInt32LE(12),
    complete: (bytes.readUInt32LE(8) & STATUS_STOPPED) === 0,
  }
}
