/**
 * Embedding on the lanes: the requests of the front end's worker (which documents wait, which of their texts
 * need vectors), the vectors that it stores, and the progress. Only the front end sends texts to providers.
 */
import type { Command } from '../../domain/commands.js'
import { cuttingOf } from '../../domain/embedding/chunks.js'
import { cutDocuments } from '../../domain/embedding/inputs.js'
import { serviceError } from '../../errors.js'
import { EMBEDDING_SLICE_DOCUMENTS_MAX, EMBEDDING_SLICES_MAX } from '../../limits/embedding.js'
import type { InputOf } from '../../operations/row/operation.js'
import {
  embeddingInputs as inputsRow,
  queuedEmbeddings as queuedRow,
  staleVectors as staleRow,
  storeVectors as storeRow,
  unembedded as unembeddedRow,
  vectorReindex as reindexRow,
  vectorStats as vectorStatsRow,
} from '../../operations/server/embedding.js'
import type { Collection } from '../../store/collections/collection_row.js'
import { textOfHead } from '../../store/head.js'
import { variantCrc } from '../../store/vectors/vector_record.js'
import type { View } from '../../store/view.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { Answer } from '../../wire/answer.js'
import type { CutDocuments, MadeVectors, NamedDocument, ReindexMessage } from '../../wire/messages/embedding_messages.js'
import { decodeMessage, encodeMessage } from '../../wire/messages/messages.js'
import { type BoundHandler, io, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'

/** Documents that one page of a reindex returns. With two pages in progress, all slices are busy. */
export const UNEMBEDDED_DOCUMENTS_MAX = EMBEDDING_SLICES_MAX * EMBEDDING_SLICE_DOCUMENTS_MAX
/** Documents that one page examines: about 10 ms of the bulk lane if all are current. */
const UNEMBEDDED_SCANNED_MAX = 2_000

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

/** Returns the collection's id to the front end, which does the rest; 0 if there is no such collection. */
function reindex(
  lane: LaneContext,
  { collection, force = false }: InputOf<typeof reindexRow>,
  { access: { principal } }: RequestContext,
): ReindexMessage {
  if (lane.embedding.current === undefined) throw serviceError('noEmbeddingProvider')
  const wanted = lane.store.read((view) => {
    const found = view.collection(collection)
    const documents = found === undefined ? 0 : view.collectionCounters(found.id).documents
    return { collection: found?.id ?? 0, documents, name: collection, force, submitter: principal.kind === 'user' ? principal.name : '' }
  })
  return wanted
}

function epochOf({ store }: LaneContext): string {
  return store.presentEpoch().toString('hex')
}

function queued(lane: LaneContext, { after, count }: InputOf<typeof queuedRow>): Answer {
  const rows = lane.store.read((view) => view.vectors.queued(BigInt(after), count))
  const documents = rows.map(({ lsn, collection, docid }): NamedDocument => ({ collection, docid, queued: Number(lsn), force: false }))
  return json({ epoch: epochOf(lane), documents })
}

/** A reindex outlives its request, so each of its pages asks for the right again. @throws ServiceError 403 */
function requireWriter({ rights, store }: LaneContext, username: string, collection: string): void {
  const mayWrite = username === '' || rights.rightsOf(username, (run) => store.read(run))?.permits('write', collection) === true
  if (!mayWrite) throw serviceError('forbidden')
}

/**
 * Returns a page: as many documents as are embedded in a while, or as can be examined in some milliseconds.
 */
function unembedded(lane: LaneContext, input: InputOf<typeof unembeddedRow>): Answer {
  const { collection, docid, force, variant, dimensions } = input
  requireWriter(lane, input.submitter, input.name)
  const documents: NamedDocument[] = []
  const ids: string[] = []
  let skipped = 0
  let looked = 0
  let next = 0
  lane.store.read((view) => {
    for (const head of view.retired().includes(collection) ? [] : view.headsFrom(collection, docid, 2 ** 32 - 1)) {
      if (looked++ >= UNEMBEDDED_SCANNED_MAX || documents.length >= UNEMBEDDED_DOCUMENTS_MAX) {
        next = head.docid
        return
      }
      const record = force ? undefined : view.vectors.record(collection, head.docid)
      const isCurrent =
        record?.bodyLsn === head.bodyLsn &&
        record.variant === variant &&
        record.dimensions === dimensions &&
        record.recipe === cuttingOf(lane.config, head).recipe
      if (isCurrent) skipped++
      else {
        documents.push({ collection, docid: head.docid, queued: 0, force })
        ids.push(textOfHead(head).id)
      }
    }
  })
  return json({ epoch: epochOf(lane), documents, ids, skipped, next })
}

function inputs(lane: LaneContext, { epoch, documents, texts, variant, dimensions }: InputOf<typeof inputsRow>): Answer {
  const isOther = epoch !== epochOf(lane)
  const cut = isOther ? [] : lane.store.read((view) => cutDocuments(lane, view, { variant, dimensions }, documents, texts))
  return { body: encodeMessage({ isOther, documents: cut } satisfies CutDocuments) }
}

function store(_lane: LaneContext, { message }: InputOf<typeof storeRow>): Command {
  const { epoch, job, documents } = decodeMessage<MadeVectors>(message)
  return { kind: 'vectors', epoch: Buffer.from(epoch, 'hex'), job, documents }
}

function stats(lane: LaneContext, _input: unknown, { access }: RequestContext): Answer {
  const { config, embedding } = lane
  const { current } = embedding
  const present = current === undefined ? undefined : variantCrc(current.variant)
  const shown = (view: View): readonly Collection[] => view.collections().filter(({ name }) => access.mayRead(name))
  const [collections, depth] = lane.store.read((view) => [
    Object.fromEntries(shown(view).map((collection) => [collection.name, countsOf(view, collection, present)])),
    view.vectors.queueDepth,
  ])
  // Stored vectors may not be searchable yet: the write lane counts them once it has passed them to the
  // vector engine.
  const waiting = Math.max(depth, lane.embeddingDepth())
  const dropped = threadTelemetry().read().counters.embeddings_dropped
  return json({
    enabled: current !== undefined,
    provider: current?.provider ?? 'none',
    model: current?.model ?? '',
    dimensions: current?.dimensions ?? 0,
    index_ready: lane.areVectorsReady(),
    chunking: { enabled: config.embeddingChunkEnabled, chunkSize: config.embeddingChunkSize },
    collections,
    queue: { size: config.embeddingQueueSize, depth: waiting, dropped, wait: shownDuration(config.embeddingQueueWaitMs) },
  })
}

function stale(lane: LaneContext, { variant: present }: InputOf<typeof staleRow>): Answer {
  const rows = lane.store.read((view) =>
    view.collections().flatMap(({ id, name }) =>
      view.vectors
        .variants(id)
        .filter(({ variant }) => variant !== present)
        .map(({ variant, documents }) => ({ collection: name, variant, documents })),
    ),
  )
  return json({ stale: rows })
}

/** @param present CRC of the variant of the active provider. Without a provider, nothing is stale. */
function countsOf(view: View, { id }: Collection, present: number | undefined): object {
  const variants = view.vectors.variants(id)
  const sum = (of: (count: (typeof variants)[number]) => number): number => variants.reduce((total, count) => total + of(count), 0)
  return {
    total_documents: view.collectionCounters(id).documents,
    embedded_documents: sum(({ documents }) => documents),
    total_chunks: sum(({ chunks }) => chunks),
    stale_embeddings: sum(({ documents, variant }) => (present === undefined || variantCrc(variant) === present ? 0 : documents)),
  }
}

/** Formats a duration as options do: `5s`, `250ms`. */
function shownDuration(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`
}

export const embeddingHandlers: readonly BoundHandler[] = [
  io(reindexRow, reindex),
  read(vectorStatsRow, stats),
  read(staleRow, stale),
  read(queuedRow, queued),
  read(unembeddedRow, unembedded),
  read(inputsRow, inputs),
  prepare(storeRow, store),
]
