/**
 * Operator queries on the running server: counts, sizes, metrics. Everything is a counter or a gauge; nothing
 * here scans documents.
 */
import { showsNames } from '../../access/metrics_access.js'
import { FOLLOWING_CONSUMERS } from '../../consumers/registry.js'
import type { CollectionConfig } from '../../domain/settings/collection_config.js'
import { configOf } from '../../domain/settings/collection_settings.js'
import { serviceError } from '../../errors.js'
import { operationByName } from '../../operations/index.js'
import { metrics as metricsRow, stats as statsRow } from '../../operations/server/health.js'
import { checksum64Of, checksumOf } from '../../store/document_hash.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import type { CollectionGauges, StoreGauges, VectorGauges } from '../../telemetry/exposition.js'
import { renderMetrics } from '../../telemetry/exposition.js'
import { type TelemetryReading, threadTelemetry } from '../../telemetry/registry.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, read } from '../request/handler.js'

interface CountedCollection extends CollectionGauges {
  readonly checksum: string
  readonly checksum64: string
  readonly config: CollectionConfig
}

function countCollections(view: View): CountedCollection[] {
  return view.collections().map(({ id, name }) => {
    const { documents, revisions, metaTriples, ...sums } = view.collectionCounters(id)
    const checksums = { checksum: checksumOf(sums), checksum64: checksum64Of(sums) }
    return { name, documents, revisions, metaTriples, ...checksums, config: configOf(view, id) ?? {} }
  })
}

function countSchemas(view: View): number {
  return view.collections().reduce((sum, { id }) => sum + view.countSettings(id, 'schema'), 0)
}

function stats(lane: LaneContext): Answer {
  const collections = lane.store.read(countCollections)
  const sum = (field: 'documents' | 'revisions' | 'metaTriples'): number =>
    collections.reduce((total, collection) => total + collection[field], 0)
  const body = {
    databasePath: lane.config.path,
    databaseSize: lane.store.sizes().fileBytes,
    mode: lane.config.mode,
    collections: collections.map(({ name, documents, revisions, metaTriples, checksum, checksum64, config }) => ({
      name,
      documentCount: documents,
      revisionCount: revisions,
      metaIndexCount: metaTriples,
      checksum,
      checksum64,
      type: config.type ?? 'default',
      description: config.description ?? '',
      icon: config.icon ?? '',
      color: config.color ?? '',
    })),
    totalDocuments: sum('documents'),
    totalRevisions: sum('revisions'),
    totalMetaIndices: sum('metaTriples'),
    uptime: formatUptime(process.uptime()),
    // The index is updated as part of the write: nothing is queued, fails or falls back.
    indexQueue: { processed: Number(lane.engine.stats().lastLsn), failed: 0, fallbacks: 0, queueLen: 0 },
  }
  return { body: JSON.stringify(body) }
}

/** Formats like `2h15m30s`, without leading zero parts. */
function formatUptime(seconds: number): string {
  const whole = Math.floor(seconds)
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor((whole % 3600) / 60)
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${whole % 60}s`
}

function vectorGauges(lane: LaneContext, view: View): VectorGauges {
  const counts = view.collections().flatMap(({ id }) => view.vectors.variants(id))
  return {
    documents: counts.reduce((sum, { documents }) => sum + documents, 0),
    isIndexReady: lane.areVectorsReady(),
    queued: view.vectors.queueDepth,
  }
}

/** Where no write lane has consumers, as over a data directory that is read only, stored positions count. */
function lagsOf(view: View, { consumers }: TelemetryReading): StoreGauges['consumerLags'] {
  const { lastLsn, trimmedLsn } = view.storeCounters()
  return FOLLOWING_CONSUMERS.map(([name, index]) => {
    const lsn = Math.max(consumers[index] ?? 0, Number(view.binlog.positionOf(name) ?? 0n), Number(trimmedLsn))
    return [name, Math.max(0, Number(lastLsn) - lsn)] as const
  })
}

function metrics(lane: LaneContext): Answer {
  if (!lane.config.metrics) throw serviceError('notFound')
  const reading = threadTelemetry().read()
  const [collections, schemas, webhooks, counters, vectors, consumerLags] = lane.store.read((view) => [
    countCollections(view),
    countSchemas(view),
    view.countSettings(SERVER_SETTINGS, 'webhook'),
    view.storeCounters(),
    vectorGauges(lane, view),
    lagsOf(view, reading),
  ])
  const { fileBytes, readers, oldestReaderAge } = lane.store.sizes()
  const usage = process.cpuUsage()
  const body = renderMetrics(
    reading,
    {
      mode: lane.config.mode,
      uptimeSeconds: process.uptime(),
      databaseBytes: fileBytes,
      readers,
      oldestReaderAge,
      binlogEntries: Number(counters.lastLsn - counters.trimmedLsn),
      consumerLags,
      binlogBytes: counters.binlogBytes,
      lastLsn: counters.lastLsn,
      collections,
      showsNames: showsNames(lane.config),
      vectors,
      schemas,
      webhooks,
      engine: lane.engine.stats(),
      residentBytes: process.memoryUsage.rss(),
      cpuSeconds: (usage.user + usage.system) / 1e6,
    },
    operationByName,
  )
  return { body, contentType: 'text/plain; version=0.0.4; charset=utf-8' }
}

export const systemHandlers: readonly BoundHandler[] = [read(statsRow, stats), read(metricsRow, metrics)]
