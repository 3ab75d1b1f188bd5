/**
 * Finds the texts of documents that need vectors. Each document is chunked, its chunks are compared with
 * those that have vectors, and the texts of the others are returned. Runs on the bulk lane, over one view.
 */
import { MIB } from '../../limits/units.js'
import { unescapeContent } from '../../store/body.js'
import type { Head } from '../../store/head.js'
import type { VectorRecord } from '../../store/vectors/vector_record.js'
import type { View } from '../../store/view.js'
import { type Cut, cut, type Cutting, cuttingOf, type CuttingTools } from './chunks.js'
import type { EmbeddedDocument } from './embedded_document.js'
import type { EmbeddingIdentity } from './embedding_identity.js'

/**
 * Bytes of content that are cut for one slice, except for a single document: at 35 ms a megabyte some 0.6 s
 * of the bulk lane. 64 of the largest documents, with few or identical chunks, would take 36 s.
 */
const EMBEDDING_SLICE_BYTES_MAX = 16 * MIB
/**
 * Steps for a document with more chunks than one call takes. Each step writes all vectors so far: 8 steps
 * write 4.5 times the vectors of the document.
 */
const EMBEDDING_STEPS_MAX = 8

type VectorsWanted = Pick<EmbeddingIdentity, 'variant' | 'dimensions'>

/** A document to embed, as named by a lane. */
export interface NamedDocument {
  readonly collection: number
  readonly docid: number
  /** LSN of the write that waits for the vectors; 0: none. */
  readonly queued: number
  /** Embedded again even if nothing has changed. */
  readonly force: boolean
}

/**
 * `gone`: the document does not exist or no longer waits. `current`: nothing has changed. `same`: written
 * again unchanged. `new`: its texts, if it has any, need vectors.
 */
type CutOutcome = 'gone' | 'current' | 'same' | 'new'

export interface CutDocument {
  readonly outcome: CutOutcome
  /**
   * The document as it is to be stored. If it is new, it lacks the vectors of `texts`, which correspond to
   * its `given`.
   */
  readonly document: EmbeddedDocument
  readonly texts: readonly string[]
  /** Number of chunks that already have vectors. */
  readonly reused: number
}

const NOTHING = { texts: [], reused: 0 } as const

/**
 * @param textsWanted no further document is begun after this number of texts; a single document with more
 * texts returns a part of them now, and the rest the next time
 * @returns the results of the first documents, at least of one
 */
export function cutDocuments(
  tools: CuttingTools,
  view: View,
  wanted: VectorsWanted,
  documents: readonly NamedDocument[],
  textsWanted: number,
): CutDocument[] {
  const done: CutDocument[] = []
  const retired = new Set(view.retired())
  let texts = 0
  let bytes = 0
  for (const named of documents) {
    bytes += view.head(named.collection, named.docid)?.bodyRawBytes ?? 0
    if (texts >= textsWanted || (done.length > 0 && bytes > EMBEDDING_SLICE_BYTES_MAX)) break
    const found = cutDocument(tools, view, retired, wanted, named, textsWanted)
    // It would exceed the maximum size of the call, so it begins the next one.
    if (texts > 0 && texts + found.texts.length > textsWanted) break
    done.push(found)
    texts += found.texts.length
  }
  return done
}

function cutDocument(
  tools: CuttingTools,
  view: View,
  retired: ReadonlySet<number>,
  wanted: VectorsWanted,
  { collection, docid, queued, force }: NamedDocument,
  textsWanted: number,
): CutDocument {
  const base = { collection, docid, queued: BigInt(queued) }
  // The row may have been dropped since, because the queue was full.
  const isWanted = queued === 0 || view.vectors.isQueued(base.queued)
  const head = isWanted && !retired.has(collection) ? view.head(collection, docid) : undefined
  if (head === undefined) return { outcome: 'gone', document: { ...base, change: 'keep' }, ...NOTHING }
  const cutting = cuttingOf(tools.config, head)
  const old = usable(view.vectors.record(collection, docid), wanted)
  const isMade = !force && old?.recipe === cutting.recipe && old.bodyLsn !== 0n
  if (isMade && old.bodyLsn === head.bodyLsn) return { outcome: 'current', document: { ...base, change: 'keep' }, ...NOTHING }
  const content = Buffer.from(unescapeContent(view.escapedContent(head)), 'utf8')
  const pieces = cut(tools, cutting, content)
  if (isMade && isEqual(pieces, old))
    return { outcome: 'same', document: { ...base, change: 'restamp', bodyLsn: head.bodyLsn }, ...NOTHING }
  return newDocument(base, head, cutting, wanted, pieces, content, force ? undefined : old, textsWanted)
}

/** Vectors of another variant cannot be compared with the wanted ones. */
function usable(old: VectorRecord | undefined, { variant, dimensions }: VectorsWanted): VectorRecord | undefined {
  return old?.variant === variant && old.dimensions === dimensions ? old : undefined
}

function isEqual({ ranges, hashes }: Cut, old: VectorRecord): boolean {
  if (hashes.length !== old.hashes.length) return false
  return hashes.every((hash, at) => hash === old.hashes[at]) && ranges.every((byte, at) => byte === old.ranges[at])
}

function newDocument(
  base: { readonly collection: number; readonly docid: number; readonly queued: bigint },
  { bodyLsn }: Head,
  { isCode, recipe }: Cutting,
  { variant, dimensions }: VectorsWanted,
  { ranges, hashes }: Cut,
  content: Buffer,
  old: VectorRecord | undefined,
  textsWanted: number,
): CutDocument {
  const known = new Set<bigint>(old?.hashes)
  const lacking = [...hashes.keys()].filter((at) => {
    const hash = hashes[at] as bigint
    // Of equal chunks only the first is embedded.
    return !known.has(hash) && known.add(hash)
  })
  // A document with very many chunks is processed in steps, so that a crash loses only one of them. The
  // number of steps is bounded, because each step writes all vectors so far.
  const step = Math.max(textsWanted, Math.ceil(lacking.length / EMBEDDING_STEPS_MAX))
  const given = lacking.slice(0, step)
  return {
    outcome: 'new',
    document: {
      ...{ ...base, change: 'set', variant, dimensions, isCode, recipe, bodyLsn },
      ...{ isWhole: given.length === lacking.length, isFresh: old === undefined },
      ranges: new Uint8Array(ranges.buffer, ranges.byteOffset, ranges.byteLength),
      hashes: new Uint8Array(hashes.buffer),
      given: new Uint8Array(new Uint32Array(given).buffer),
      vectors: new Uint8Array(),
    },
    texts: given.map((at) => content.toString('utf8', ranges[at * 2], ranges[at * 2 + 1])),
    reused: hashes.length - lacking.length,
  }
}
