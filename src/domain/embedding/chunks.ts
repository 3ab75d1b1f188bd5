/**
 * How a document's content is cut into chunks for embedding, by the options of the server, and the hash of
 * each chunk: chunks with equal hashes have equal texts and share their vector. Lane threads.
 */
import { createHash } from 'node:crypto'
import type { Chunker } from '../../engine/chunker.js'
import { EMBEDDING_CHUNKS_MAX } from '../../limits/embedding.js'
import { crc32c } from '../../store/packages.js'
import { textOfHead, type Head } from '../../store/head.js'
import { codeMarksOf, isCodeDocument } from '../documents/code_document.js'

export interface Cutting {
  readonly isCode: boolean
  /** Checksum of all options that decide where a content is cut. */
  readonly recipe: number
}

export interface Cut {
  /** Start and end of each chunk in bytes. */
  readonly ranges: Uint32Array
  readonly hashes: BigUint64Array
}

/** Goes up when the same content would be cut otherwise than before. */
const CHUNKER_VERSION = 1

export interface CuttingTools {
  readonly config: CuttingOptions
  readonly chunker: Chunker
}

/** What the options of the server say about chunks. */
export interface CuttingOptions {
  /** Undefined: as each document says that it is. */
  readonly embeddingChunkMode: 'prose' | 'code' | undefined
  /** False: a document is one chunk. */
  readonly embeddingChunkEnabled: boolean
  /** Characters that a chunk aims at. */
  readonly embeddingChunkSize: number
}

/** As the options of the server say, else by the document's own marks. */
export function cuttingOf(options: CuttingOptions, head: Head): Cutting {
  const { embeddingChunkMode: mode, embeddingChunkEnabled: isCut, embeddingChunkSize: size } = options
  const text = mode === undefined ? textOfHead(head) : undefined
  const isCode = text === undefined ? mode === 'code' : isCodeDocument(codeMarksOf(text.key, Object.entries(text.metaValues)))
  const recipe = crc32c(isCut ? `${CHUNKER_VERSION} ${isCode ? 'code' : 'prose'} ${size}` : 'whole') >>> 0
  return { isCode, recipe }
}

/** @param content UTF-8. No chunk is empty or all white space. */
export function cut({ config, chunker }: CuttingTools, { isCode }: Cutting, content: Uint8Array): Cut {
  const { embeddingChunkEnabled: isCut, embeddingChunkSize: size } = config
  const all = isCut ? chunker.chunk(content, isCode ? 'code' : 'prose', size, 0) : wholeOf(content)
  const ranges = all.subarray(0, 2 * EMBEDDING_CHUNKS_MAX)
  const hashes = new BigUint64Array(ranges.length / 2)
  for (let at = 0; at < hashes.length; at++) {
    const text = content.subarray(ranges[at * 2], ranges[at * 2 + 1])
    hashes[at] = createHash('sha256').update(text).digest().readBigUInt64LE(0)
  }
  return { ranges, hashes }
}

function wholeOf(content: Uint8Array): Uint32Array {
  return Buffer.from(content).toString('utf8').trim() === '' ? new Uint32Array() : new Uint32Array([0, content.length])
}
