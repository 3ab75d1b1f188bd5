/**
 * Renders metrics in the Prometheus text format, version 0.0.4. Every name begins with `mddb_`, and the names
 * in the contract's fact tables (http.md, section 8) are unchanged. Metrics of the process alone have the
 * customary `process_` names. Pure: values in, text out. Runs in a read lane, on counters that other threads
 * may be incrementing. Decision: docs/decisions/operation/observation.md.
 */
import { BUILD_VERSION, INTERFACE_VERSION } from '../base/version.js'
import { CHORE_STATES } from '../chore_list.js'
import type { EngineStats } from '../engine/types.js'
import type { Operation } from '../operations/row/operation.js'
import type { ChoreReading, CounterName, GaugeName, Histogram, TelemetryReading } from './registry.js'
import { BATCH_BUCKETS, DURATION_BUCKETS, EMBEDDING_BUCKETS, UNROUTED, WAIT_BUCKETS } from './registry.js'

/**
 * Collections with lines of their own in /metrics, three each. The others are summed under `/other`. 1 000
 * keep a scrape under 300 KB.
 */
export const METRIC_COLLECTIONS_MAX = 1000

export interface CollectionGauges {
  readonly name: string
  readonly documents: number
  readonly revisions: number
  readonly metaTriples: number
}

export interface VectorGauges {
  /** Documents that have vectors. */
  readonly documents: number
  readonly isIndexReady: boolean
  /** Documents that wait for vectors. */
  readonly queued: number
}

/** Current values that are not in the registry: the handler reads them from store, engine and process. */
export interface StoreGauges {
  readonly mode: string
  readonly uptimeSeconds: number
  readonly databaseBytes: number
  readonly readers: number
  /** Transactions committed since the oldest live reader began. */
  readonly oldestReaderAge: number
  readonly binlogEntries: number
  /** Entries after the stored position of each consumer of the binlog. */
  readonly consumerLags: readonly (readonly [consumer: string, entries: number])[]
  readonly binlogBytes: number
  readonly lastLsn: bigint
  readonly collections: readonly CollectionGauges[]
  /** Whether samples may name collections. */
  readonly showsNames: boolean
  readonly vectors: VectorGauges
  readonly schemas: number
  readonly webhooks: number
  readonly engine: EngineStats
  readonly residentBytes: number
  readonly cpuSeconds: number
}

type Labels = readonly (readonly [name: string, value: string])[]
type Sample = readonly [labels: Labels, value: number | bigint]
type Kind = 'counter' | 'gauge' | 'histogram'

const COUNTER_HELP: Readonly<Record<CounterName, string>> = {
  aborted_requests: 'Requests whose client went before the answer.',
  late_requests: 'Requests whose deadline passed.',
  authorizations_loop: 'Permissions asked for operations that are answered on the front end.',
  authorizations_lane: 'Permissions asked in a lane, before a handler ran.',
  authorizations_cached: 'Permissions asked before a cached answer was given.',
  refused_busy: 'Requests refused because a queue was full.',
  lane_deaths: 'Lanes that ended unexpectedly.',
  late_frames: 'Answers of lanes that came after their request had ended.',
  body_bytes_received: 'Bytes of request bodies.',
  answer_bytes_sent: 'Bytes of answers.',
  lane_internal_errors: 'Requests that failed with an internal error.',
  bodies_moved: 'Bodies that were moved to the location that their collection configures.',
  objects_swept: 'Unreferenced objects removed from object stores.',
  store_comparisons: 'How often the whole store was compared with itself.',
  binlog_consumers_lost: 'Consumers of the binlog that were too far behind and continue with the last entry.',
  revisions_packed: 'Superseded states whose content was stored as the difference from that of a later one.',
  documents_read_natively: 'Documents that the native reader has read.',
  documents_answered_on_loop: 'Documents that event loops have read and answered themselves.',
  loop_page_faults: 'Reads of event loops that waited for the disk.',
  http_loop_deaths: 'Event loops that ended and were started again.',
  requests_rate_limited: 'Requests refused because their client had exceeded the rate limit.',
  connections_refused: 'Connections closed at once because their address had too many, or the process too many open files.',
  accesses_uncounted: 'Reads that tracking missed because too many waited to be stored.',
  embedding_requests: 'Requests to embedding providers that ended.',
  embedding_requests_failed: 'Requests to embedding providers without an answer, or with one that asks for a retry.',
  embedding_requests_refused: 'Requests to embedding providers that were refused, or whose answer could not be used.',
  documents_embedded: 'Documents that were embedded.',
  documents_not_embedded: 'Documents that the provider would not embed, or that could not be read.',
  texts_embedded: 'Texts of documents that a provider has embedded.',
  chunks_not_embedded_again: 'Unchanged chunks whose vectors were reused.',
  embeddings_dropped: 'Documents that were stored without vectors because too many waited for theirs.',
  embedding_cache_hits: 'Request texts whose vectors were cached.',
  embedding_cache_misses: 'Request texts that a provider had to embed.',
  audit_events: 'Events that the audit log has taken.',
  audit_events_dropped: 'Audit events that were lost because too many waited for the file of the audit log.',
  audit_events_delivered: 'Audit events that exporters have delivered.',
  audit_deliveries_failed: 'Deliveries of audit events that failed and are tried again.',
  audit_events_undelivered: 'Audit events that exporters have lost because too many waited.',
  webhook_deliveries: 'Deliveries that receivers of webhooks have accepted.',
  webhook_failures: 'Attempts of deliveries that receivers of webhooks did not accept.',
}
const GAUGE_HELP: Readonly<Record<GaugeName, string>> = {
  slots_used: 'Requests queued or in a lane.',
  ingests_waiting: 'Bulk ingest jobs that wait for their turn.',
  embedding_cache_size: 'Request texts whose vectors are cached.',
  ingest_bytes_held: 'Bytes of the documents of bulk ingest jobs that wait or run.',
  bodies_in_flight_bytes: 'Bytes of request bodies in memory.',
  answers_unsent_bytes: 'Bytes of large answers that clients have not taken yet.',
  wasm_memory_bytes: 'Linear memory of all WASM instances.',
  heap_bytes: 'V8 heaps of all lanes in use.',
  external_bytes: 'Memory outside the V8 heaps that lanes hold.',
  embedding_provider_configured: '1 where there is an embedding provider.',
  disk_free_bytes: 'Free space of the file system of the data directory.',
  disk_writable: '1 where the data directory can be written.',
  health_warnings: 'Warnings that /health shows now.',
  last_backup_timestamp_seconds: 'When the newest backup in the backup directory was made, in Unix time; 0: there is none.',
  supervisor_restarts: 'Times the supervisor has started the server again.',
  audit_writable: '1 while the audit log is written; 0 while it cannot be, or is off.',
  audit_bytes: 'Bytes of all files of the audit log.',
  audit_queue: 'Audit events that wait for the file of the audit log.',
  mcp_sessions_streamable: 'Sessions of MCP over streamable HTTP.',
  mcp_sessions_sse: 'Sessions of MCP over the older streams of events.',
  webhook_deliveries_held: 'Deliveries to webhooks that are in memory: under way, or waiting for their next attempt.',
  webhooks_suspended: 'Webhooks for which nothing is recorded, because too much waits for their receivers.',
  webhook_circuits_open: 'Receivers of webhooks that are left alone for a while after failures in a row.',
  feed_clients: 'Clients of the change feed.',
  embedding_circuit_open: '1 while nothing is sent to the embedding provider, or only a trial, after failures.',
}

/** @param operations the table of operations, with method and path of each counted operation */
export function renderMetrics(reading: TelemetryReading, gauges: StoreGauges, operations: ReadonlyMap<string, Operation>): string {
  const page = new Page()
  renderServer(page, gauges)
  renderRequests(page, reading, operations)
  renderQueues(page, reading)
  for (const [name, value] of Object.entries(reading.counters)) {
    page.family(`${name}_total`, 'counter', COUNTER_HELP[name as CounterName], [[[], value]])
  }
  for (const [name, value] of Object.entries(reading.gauges)) page.family(name, 'gauge', GAUGE_HELP[name as GaugeName], [[[], value]])
  page.histograms('embedding_request_duration_seconds', 'Duration of one request to an embedding provider.', EMBEDDING_BUCKETS, [
    [[], reading.embeddingSeconds],
  ])
  renderChores(page, reading)
  renderCollections(page, gauges.collections, gauges.showsNames)
  renderVectors(page, gauges.vectors)
  renderEngine(page, gauges.engine)
  return page.text()
}

function renderServer(page: Page, gauges: StoreGauges): void {
  page.family('info', 'gauge', 'Always 1; the labels describe the server.', [[[['mode', gauges.mode]], 1]])
  const build = [['version', BUILD_VERSION], ['interface', INTERFACE_VERSION], ['node', process.version]] as const // prettier-ignore
  page.family('build_info', 'gauge', 'Always 1; the labels tell what runs.', [[build, 1]])
  page.single('uptime_seconds', 'Seconds since the start.', gauges.uptimeSeconds)
  page.single('database_size_bytes', 'Bytes of the database file.', gauges.databaseBytes)
  page.single('database_readers', 'Open read snapshots.', gauges.readers)
  page.single('database_oldest_reader_age', 'Transactions since the oldest read snapshot was opened.', gauges.oldestReaderAge)
  page.single('binlog_entries_total', 'Entries in the binlog.', gauges.binlogEntries)
  const lags = gauges.consumerLags.map(([consumer, entries]): Sample => [[['consumer', consumer]], entries])
  page.family('binlog_consumer_lag_entries', 'gauge', 'Entries that a consumer has not processed yet.', lags)
  page.single('binlog_size_bytes', 'Bytes of the binlog.', gauges.binlogBytes)
  page.single('replication_lsn', 'LSN of the last write.', gauges.lastLsn)
  page.single('schemas_total', 'Collections that have a schema.', gauges.schemas)
  page.single('webhooks_total', 'Registered webhooks.', gauges.webhooks)
  page.family('process_resident_memory_bytes', 'gauge', 'Resident memory of the process.', [[[], gauges.residentBytes]], '')
  page.family('process_cpu_seconds_total', 'counter', 'CPU time of the process.', [[[], gauges.cpuSeconds]], '')
}

function renderVectors(page: Page, { documents, isIndexReady, queued }: VectorGauges): void {
  page.single('vector_embeddings_total', 'Documents that have vectors.', documents)
  page.single('vector_index_ready', '1 where vectors can be searched.', isIndexReady ? 1 : 0)
  page.single('embedding_queue_size', 'Documents that wait for vectors.', queued)
}

function renderRequests(page: Page, reading: TelemetryReading, operations: ReadonlyMap<string, Operation>): void {
  const routeOf = (name: string): Labels => {
    const route = operations.get(name)?.http?.routes[0]
    return [
      ['method', route?.method ?? 'other'],
      ['path', route?.path ?? UNROUTED],
    ]
  }
  const counts = reading.requests.flatMap(({ operation, statuses }) =>
    statuses.map(([status, count]): Sample => [[...routeOf(operation), ['status', status]], count]),
  )
  page.family('http_requests_total', 'counter', 'Requests answered.', counts)
  const durations = reading.requests.map(({ operation, seconds }) => [routeOf(operation), seconds] as const)
  page.histograms('http_request_duration_seconds', 'From the last byte of a request to its answer.', DURATION_BUCKETS, durations)
}

function renderQueues(page: Page, { queues }: TelemetryReading): void {
  const labels = (queue: string): Labels => [['queue', queue]]
  page.family('lane_queue_depth', 'gauge', 'Requests waiting for a lane.', queues.map(({ queue, depth }): Sample => [labels(queue), depth])) // prettier-ignore
  page.family('lane_in_flight', 'gauge', 'Requests in a lane.', queues.map(({ queue, inFlight }): Sample => [labels(queue), inFlight])) // prettier-ignore
  const waits = queues.map(({ queue, waitSeconds }) => [labels(queue), waitSeconds] as const)
  page.histograms('lane_wait_seconds', 'From the queue to the lane.', WAIT_BUCKETS, waits)
  const batches = queues.map(({ queue, batchSize }) => [labels(queue), batchSize] as const)
  page.histograms('lane_batch_size', 'Requests carried by one task.', BATCH_BUCKETS, batches)
}

function renderChores(page: Page, { chores }: TelemetryReading): void {
  const samples = (value: (chore: ChoreReading) => number): Sample[] => chores.map((each) => [[['chore', each.chore]], value(each)])
  const states = CHORE_STATES.map((state, index) => `${index} ${state}`).join(', ')
  page.family('chore_rounds_total', 'counter', 'Rounds of background work.', samples(({ rounds }) => rounds)) // prettier-ignore
  page.family('chore_failures_total', 'counter', 'Rounds that failed and are retried.', samples(({ failures }) => failures)) // prettier-ignore
  page.family('chore_last_duration_seconds', 'gauge', 'How long the last round took.', samples(({ seconds }) => seconds)) // prettier-ignore
  page.family('chore_state', 'gauge', `What the chore does now: ${states}.`, samples(({ state }) => state)) // prettier-ignore
}

/**
 * The first collections by name have samples of their own. The others are summed, so that a scrape stays
 * small with 10 000 collections. Where names may not be shown, all are summed.
 */
function renderCollections(page: Page, collections: readonly CollectionGauges[], showsNames: boolean): void {
  const shown = showsNames ? collections.slice(0, METRIC_COLLECTIONS_MAX) : []
  const rest = collections.slice(shown.length)
  const samples = (count: (collection: CollectionGauges) => number): Sample[] => {
    const lines = shown.map((collection): Sample => [[['collection', collection.name]], count(collection)])
    if (rest.length > 0) lines.push([[['collection', UNROUTED]], rest.reduce((sum, collection) => sum + count(collection), 0)])
    return lines
  }
  page.family('documents_total', 'gauge', 'Documents.', samples((collection) => collection.documents)) // prettier-ignore
  page.family('revisions_total', 'gauge', 'Kept revisions.', samples((collection) => collection.revisions)) // prettier-ignore
  page.family('meta_indices_total', 'gauge', 'Triples of document, metadata key and value.', samples((collection) => collection.metaTriples)) // prettier-ignore
}

function renderEngine(page: Page, engine: EngineStats): void {
  page.family('engine_info', 'gauge', 'Always 1; the label names the instruction set of the kernels.', [[[['isa', engine.isa]], 1]])
  page.single('engine_segments', 'Segments of the published snapshot.', engine.segments)
  page.single('engine_documents', 'Live documents in the index.', engine.documents)
  page.single('engine_dead_documents', 'Documents that were replaced or deleted and wait for a merge.', engine.deadDocuments)
  page.single('engine_terms', 'Terms, summed over segments.', engine.terms)
  page.single('engine_memory_bytes', 'Native memory of the index.', engine.memoryBytes)
  page.family('engine_merges_total', 'counter', 'Merges since the start.', [[[], engine.merges]])
  page.single('engine_lsn', 'LSN of the last write in the index.', engine.lastLsn)
  page.single(
    'engine_checkpoint_lsn',
    'LSN up to which the index on disk is complete; what lies above is replayed by a start.',
    engine.checkpoint,
  )
  page.single('engine_unflushed_bytes', 'Bytes of index batches that only memory holds.', engine.unflushedBytes)
  page.single('engine_stored_segments', 'Segments in the index file.', engine.storedSegments)
  page.single('engine_stored_bytes', 'Bytes of the stored segments.', engine.storedBytes)
  page.single('engine_index_file_bytes', 'Bytes of the index file.', engine.indexFileBytes)
  page.single('engine_index_live_bytes', 'Bytes of the index file without its free pages.', engine.indexLiveBytes)
  page.family('engine_flushes_total', 'counter', 'Flushes of the index since the start.', [[[], engine.flushes]])
  page.family('engine_storage_failures_total', 'counter', 'Flushes and merges that the disk refused; they are tried again.', [
    [[], engine.storageFailures],
  ])
}

/** Builds the text, family by family. */
class Page {
  readonly #lines: string[] = []

  family(name: string, kind: Kind, help: string, samples: readonly Sample[], prefix = 'mddb_'): void {
    if (samples.length === 0) return
    this.#head(prefix + name, kind, help)
    for (const [labels, value] of samples) this.#lines.push(`${prefix}${name}${formatLabels(labels)} ${value}`)
  }

  single(name: string, help: string, value: number | bigint): void {
    this.family(name, 'gauge', help, [[[], value]])
  }

  histograms(name: string, help: string, bounds: readonly number[], all: readonly (readonly [Labels, Histogram])[]): void {
    if (all.length === 0) return
    const full = `mddb_${name}`
    this.#head(full, 'histogram', help)
    for (const [labels, { counts, sum, count }] of all) {
      let below = 0
      for (const [index, bound] of bounds.entries()) {
        below += counts[index] ?? 0
        this.#lines.push(`${full}_bucket${formatLabels([...labels, ['le', String(bound)]])} ${below}`)
      }
      this.#lines.push(`${full}_bucket${formatLabels([...labels, ['le', '+Inf']])} ${count}`)
      this.#lines.push(`${full}_sum${formatLabels(labels)} ${sum}`, `${full}_count${formatLabels(labels)} ${count}`)
    }
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  #head(name: string, kind: Kind, help: string): void {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`)
  }
}

function formatLabels(labels: Labels): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
