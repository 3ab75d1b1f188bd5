/**
 * The passage of a document that a result shows: one chunk, or one chunk with its neighbours. The chunks are
 * those that the document's vectors were computed from. A document without vectors, or whose content has
 * changed since, is chunked again with the options of the server. Read lanes.
 */
import { unescapeContent } from '../../store/body.js'
import type { Head } from '../../store/head.js'
import type { VectorRecord } from '../../store/vectors/vector_record.js'
import type { View } from '../../store/view.js'
import { cut, cuttingOf, type CuttingTools } from '../embedding/chunks.js'
import type { Retrieval } from './retrieval.js'

interface Passage {
  readonly chunkIndex: number
  readonly chunkText: string
}

/** Identifies the passage: the number of a chunk, or a byte of the content that the chunk contains. */
export type PassagePosition = { readonly chunk: number } | { readonly byte: number }

/** As `passageIn`. @throws BodiesWanted */
export function passageOf(
  tools: CuttingTools,
  view: View,
  head: Head,
  position: PassagePosition,
  retrieval: Retrieval,
): Passage | undefined {
  const content = Buffer.from(unescapeContent(view.escapedContent(head)), 'utf8')
  const record = view.vectors.record(head.collection, head.docid)
  if (record?.bodyLsn === head.bodyLsn) return passageIn(content, record.ranges, position, retrieval)
  const { ranges, hashes } = cut(tools, cuttingOf(tools.config, head), content)
  return passageIn(content, ranges, currentPosition(position, record, hashes), retrieval)
}

/**
 * Undefined for content without text, and in mode `auto` for content of one chunk: it is shown whole.
 * @param content UTF-8
 * @param ranges start and end of each chunk, ascending
 */
export function passageIn(
  content: Buffer,
  ranges: Uint32Array,
  position: PassagePosition,
  { mode, windowSize }: Retrieval,
): Passage | undefined {
  const chunks = ranges.length / 2
  if (chunks === 0 || (mode === 'auto' && chunks === 1)) return undefined
  const at = 'chunk' in position ? Math.min(position.chunk, chunks - 1) : chunkWith(ranges, position.byte)
  const first = Math.max(0, at - windowSize)
  const last = Math.min(chunks - 1, at + windowSize)
  return { chunkIndex: at, chunkText: content.toString('utf8', ranges[first * 2], ranges[last * 2 + 1]) }
}

/**
 * If the content has changed, or only some chunks have vectors, the same chunk may have another number. Its
 * hash identifies it.
 */
function currentPosition(position: PassagePosition, record: VectorRecord | undefined, hashes: BigUint64Array): PassagePosition {
  const hash = 'chunk' in position ? record?.hashes[position.chunk] : undefined
  const chunk = hash === undefined ? -1 : hashes.indexOf(hash)
  return chunk < 0 ? position : { chunk }
}

/** The last chunk that begins at or before the byte, else the first chunk. */
function chunkWith(ranges: Uint32Array, byte: number): number {
  let at = 0
  while (at + 1 < ranges.length / 2 && (ranges[(at + 1) * 2] as number) <= byte) at++
  return at
}
