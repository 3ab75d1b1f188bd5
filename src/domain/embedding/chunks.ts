/**
 * Chunks a document's content for embedding, according to the server options, and hashes each chunk. Chunks
 * with equal hashes have equal texts and share their vector. Lane threads.
 */
import { createHash } from 'node:crypto'
import type { Chunker } from '../../engine/text/chunker.js'
import { type Head, textOfHead } from '../../store/head.js'
import { crc32c } from '../../store/rows/packages.js'
import { codeMarksOf, isCodeDocument } from '../documents/code_document.js'

/**
 * Chunks of one document that get vectors, equal to the engine's `kVectorChunksMax`. 65 535 of the usual size
 * are six times the largest document.
 */
const EMBEDDING_CHUNKS_MAX = 65_535

export interface Cutting {
  readonly isCode: boolean
  /** Checksum of all options that determine the chunk boundaries. */
  readonly recipe: number
}

export interface Cut {
  /** Start and end of each chunk in bytes. */
  readonly ranges: Uint32Array
  readonly hashes: BigUint64Array
}

/** Incremented when the same content is chunked differently than before. */
const CHUNKER_VERSION = 1

export interface CuttingTools {
  readonly config: CuttingOptions
  readonly chunker: Chunker
}

/** The server options for chunks. */
interface CuttingOptions {
  /** Undefined: determined per document. */
  readonly embeddingChunkMode: 'prose' | 'code' | undefined
  /** False: a document is one chunk. */
  readonly embeddingChunkEnabled: boolean
  /** Target size of a chunk in characters. */
  readonly embeddingChunkSize: number
}

/** The server option decides if it is set. Otherwise the document's own marks decide. */
export function cuttingOf(options: CuttingOptions, head: Head): Cutting {
  const { embeddingChunkMode: mode, embeddingChunkEnabled: isCut, embeddingChunkSize: size } = options
  const text = mode === undefined ? textOfHead(head) : undefined
  const isCode = text === undefined ? mode === 'code' : isCodeDocument(codeMarksOf(text.key, Object.entries(text.metaValues)))
  const recipe = crc32c(isCut ? `${CHUNKER_VERSION} ${isCode ? 'code' : 'prose'} ${size}` : 'whole') >>> 0
  return { isCode, recipe }
}

/**
 * The ranges of `Cut` alone.
 * @param content UTF-8. No chunk is empty or consists only of white space.
 */
export function rangesOf({ config, chunker }: CuttingTools, isCode: boolean, content: Uint8Array): Uint32Array {
  const { embeddingChunkEnabled: isCut, embeddingChunkSize: size } = config
  const all = isCut ? chunker.chunk(content, isCode ? 'code' : 'prose', size, 0) : wholeOf(content)
  return all.subarray(0, 2 * EMBEDDING_CHUNKS_MAX)
}

/** @param content as `rangesOf` takes it */
export function cut(tools: CuttingTools, { isCode }: Cutting, content: Uint8Array): Cut {
  const ranges = rangesOf(tools, isCode, content)
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
