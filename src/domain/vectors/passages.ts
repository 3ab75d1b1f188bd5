/**
 * The passage of a document that a result shows: one chunk, or one with its neighbours. Chunks are those that the document's vectors were made of; where its content has moved on since, or it has no vectors, it is cut
 * anew by the options of the server. Read lanes.
 */
import { unescapeContent } from '../../store/body.js'
import type { Head } from '../../store/head.js'
import type { VectorRecord } from '../../store/vectors/vector_record.js'
import type { View } from '../../store/view.js'
import { cut, cuttingOf, type CuttingTools } from '../embedding/chunks.js'
import type { Retrieval } from './request.js'

export interface Passage {
  readonly chunkIndex: number
  readonly chunkText: string
}

/** Which passage: by the number of a chunk, or the one with this byte of the content. */
export type PassagePlace = { readonly chunk: number } | { readonly byte: number }

/** Undefined for a content without text. @throws BodiesWanted */
export function passageOf(tools: CuttingTools, view: View, head: Head, place: PassagePlace, retrieval: Retrieval): Passage | undefined {
  const content = Buffer.from(unescapeContent(view.escapedContent(head)), 'utf8')
  const record = view.vectors.record(head.collection, head.docid)
  if (record?.bodyLsn === head.bodyLsn) return passageIn(content, record.ranges, place, retrieval)
  const { ranges, hashes } = cut(tools, cuttingOf(tools.config, head), content)
  return passageIn(content, ranges, placeNow(place, record, hashes), retrieval)
}

/** @param content UTF-8 @param ranges start and end of each chunk, ascending */
export function passageIn(content: Buffer, ranges: Uint32Array, place: PassagePlace, { windowSize }: Retrieval): Passage | undefined {
  const chunks = ranges.length / 2
  if (chunks === 0) return undefined
  const at = 'chunk' in place ? Math.min(place.chunk, chunks - 1) : chunkWith(ranges, place.byte)
  const first = Math.max(0, at - windowSize)
  const last = Math.min(chunks - 1, at + windowSize)
  return { chunkIndex: at, chunkText: content.toString('utf8', ranges[first * 2], ranges[last * 2 + 1]) }
}

/** Of a content that has moved on, or that has vectors of some chunks only, the same chunk has another number: its hash tells which. */
function placeNow(place: PassagePlace, record: VectorRecord | undefined, hashes: BigUint64Array): PassagePlace {
  const hash = 'chunk' in place ? record?.hashes[place.chunk] : undefined
  const chunk = hash === undefined ? -1 : hashes.indexOf(hash)
  return chunk < 0 ? place : { chunk }
}

/** The last that begins at the byte or before it, else the first. */
function chunkWith(ranges: Uint32Array, byte: number): number {
  let at = 0
  while (at + 1 < ranges.length / 2 && (ranges[(at + 1) * 2] as number) <= byte) at++
  return at
}
