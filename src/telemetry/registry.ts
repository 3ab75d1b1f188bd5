/**
 * Counters in shared memory: a table of float64, with one row per thread and one column per counter. Each
 * thread adds to its own row with plain writes; a reader sums the column over all rows. An aligned 64-bit
 * word is never torn, so no thread waits for another. A sum may be a few counts behind, which is acceptable
 * for a scrape. The columns are fixed at start from the table of operations, so every thread computes the
 * same layout. Rendered by src/telemetry/exposition.ts.
 */
import assert from 'node:assert/strict'
import { CHORE_NAMES, CHORE_STATES, type ChoreName, type ChoreState } from '../chore_list.js'
import { THREADS_MAX } from '../limits/lanes.js'
import { QUEUE_CLASSES, type QueueClass } from '../operations/row/queue_class.js'

/** Consumers of the binlog that may be registered: each has a word per thread in the table of counters. */
const CONSUMERS_MAX = 16

/** Statuses with a counter of their own. Every other status is counted as `other`. */
const COUNTED_STATUSES = [200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503] as const
/** Upper bounds in seconds (http.md section 8). One more bucket contains all larger values. */
export const DURATION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const
/** Upper bounds in seconds of the time from queue to lane. */
export const WAIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5] as const
/** Upper bounds in requests per batch. */
export const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const

/** Upper bounds in seconds of requests to an embedding provider. The time limit of a request is 30 s. */
export const EMBEDDING_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

/** Monotonic counters, summed over threads. */
const COUNTERS = [
  'aborted_requests',
  'late_requests',
  'authorizations_loop',
  'authorizations_lane',
  'authorizations_cached',
  'refused_busy',
  'lane_deaths',
  'late_frames',
  'body_bytes_received',
  'answer_bytes_sent',
  'lane_internal_errors',
  'revisions_packed',
  'documents_read_natively',
  'documents_answered_on_loop',
  'loop_page_faults',
  'http_loop_deaths',
  'requests_rate_limited',
  'connections_refused',
  'binlog_consumers_lost',
  'store_comparisons',
  'bodies_moved',
  'objects_swept',
  'accesses_uncounted',
  'embedding_requests',
  'embedding_requests_failed',
  'embedding_requests_refused',
  'documents_embedded',
  'documents_not_embedded',
  'texts_embedded',
  'chunks_not_embedded_again',
  'embeddings_dropped',
  'embedding_cache_hits',
  'embedding_cache_misses',
  'audit_events',
  'audit_events_dropped',
  'audit_events_delivered',
  'audit_deliveries_failed',
  'audit_events_undelivered',
  'webhook_deliveries',
  'webhook_failures',
] as const
export type CounterName = (typeof COUNTERS)[number]

/** Current values, summed over threads. Each lane sets the memory gauges for itself. */
const GAUGES = [
  'slots_used',
  'bodies_in_flight_bytes',
  'answers_unsent_bytes',
  'ingests_waiting',
  'ingest_bytes_held',
  'embedding_cache_size',
  'wasm_memory_bytes',
  'heap_bytes',
  'external_bytes',
  'embedding_provider_configured',
  'embedding_circuit_open',
  'disk_free_bytes',
  'disk_writable',
  'health_warnings',
  'last_backup_timestamp_seconds',
  'supervisor_restarts',
  'audit_writable',
  'audit_queue',
  'audit_bytes',
  'mcp_sessions_streamable',
  'mcp_sessions_sse',
  'webhook_deliveries_held',
  'webhook_circuits_open',
  'webhooks_suspended',
  'feed_clients',
] as const
export type GaugeName = (typeof GAUGES)[number]

export interface Histogram {
  /** One count per bucket, not cumulative. The last count is for values above every bound. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

export interface TelemetryReading {
  readonly requests: readonly {
    readonly operation: string
    readonly statuses: readonly (readonly [status: string, count: number])[]
    readonly seconds: Histogram
  }[]
  readonly queues: readonly {
    readonly queue: QueueClass
    readonly depth: number
    readonly inFlight: number
    readonly waitSeconds: Histogram
    readonly batchSize: Histogram
  }[]
  readonly counters: Readonly<Record<CounterName, number>>
  readonly gauges: Readonly<Record<GaugeName, number>>
  readonly embeddingSeconds: Histogram
  readonly chores: readonly ChoreReading[]
  /**
   * By number of the consumer of the binlog: LSN of the last entry that it has processed; 0: not known.
   */
  readonly consumers: readonly number[]
}

export interface ChoreReading {
  readonly chore: ChoreName
  readonly rounds: number
  readonly failures: number
  /** Duration of the last round. */
  readonly seconds: number
  /** Index in CHORE_STATES. */
  readonly state: number
}

/** Name under which requests that match no route are counted. */
export const UNROUTED = '/other'

const STATUS_COLUMNS = COUNTED_STATUSES.length + 1

/** Index of each name, so that none is looked for when something is counted. */
function indexesOf<const Name extends string | number>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, index) => [name, index])) as Record<Name, number>
}
const COUNTER_INDEX = indexesOf(COUNTERS)
const GAUGE_INDEX = indexesOf(GAUGES)
const QUEUE_INDEX = indexesOf(QUEUE_CLASSES)
const CHORE_INDEX = indexesOf(CHORE_NAMES)
const STATE_INDEX = indexesOf(CHORE_STATES)
const STATUS_INDEX: Readonly<Record<number, number | undefined>> = indexesOf(COUNTED_STATUSES)

const histogramColumns = (bounds: readonly number[]): number => bounds.length + 2
const OPERATION_COLUMNS = STATUS_COLUMNS + histogramColumns(DURATION_BUCKETS)
const QUEUE_COLUMNS = 2 + histogramColumns(WAIT_BUCKETS) + histogramColumns(BATCH_BUCKETS)
// Rounds, failures, seconds of the last round, state. The last two are gauges.
const CHORE_COLUMNS = 4
// The first words of the buffer mark the rows in use: one int32 per row.
const OWNER_BYTES = THREADS_MAX * Float64Array.BYTES_PER_ELEMENT

export class Telemetry {
  readonly #names: readonly string[]
  readonly #owners: Int32Array
  readonly #table: Float64Array
  readonly #columns: number
  readonly #queuesAt: number
  readonly #countersAt: number
  readonly #gaugesAt: number
  readonly #embeddingAt: number
  readonly #choresAt: number
  readonly #consumersAt: number
  #row = -1

  /** @param operations names in the order of the table of operations; the same in every thread */
  constructor(
    readonly buffer: SharedArrayBuffer,
    operations: readonly string[],
  ) {
    this.#names = [...operations, UNROUTED]
    this.#queuesAt = this.#names.length * OPERATION_COLUMNS
    this.#countersAt = this.#queuesAt + QUEUE_CLASSES.length * QUEUE_COLUMNS
    this.#gaugesAt = this.#countersAt + COUNTERS.length
    this.#embeddingAt = this.#gaugesAt + GAUGES.length
    this.#choresAt = this.#embeddingAt + histogramColumns(EMBEDDING_BUCKETS)
    this.#consumersAt = this.#choresAt + CHORE_NAMES.length * CHORE_COLUMNS
    this.#columns = this.#consumersAt + CONSUMERS_MAX
    this.#owners = new Int32Array(buffer, 0, THREADS_MAX)
    this.#table = new Float64Array(buffer, OWNER_BYTES, THREADS_MAX * this.#columns)
  }

  static create(operations: readonly string[]): Telemetry {
    const columns =
      (operations.length + 1) * OPERATION_COLUMNS +
      QUEUE_CLASSES.length * QUEUE_COLUMNS +
      COUNTERS.length +
      GAUGES.length +
      histogramColumns(EMBEDDING_BUCKETS) +
      CHORE_NAMES.length * CHORE_COLUMNS +
      CONSUMERS_MAX
    const bytes = OWNER_BYTES + THREADS_MAX * columns * Float64Array.BYTES_PER_ELEMENT
    return new Telemetry(new SharedArrayBuffer(bytes), operations)
  }

  /**
   * Claims a free row for this thread. Returns its number, with which the front end releases it after the
   * thread's death.
   */
  claimRow(): number {
    for (let row = 0; row < THREADS_MAX; row++) {
      if (Atomics.compareExchange(this.#owners, row, 0, 1) === 0) {
        this.#row = row
        return row
      }
    }
    throw new Error(`more than ${THREADS_MAX} threads want a row of counters`)
  }

  /** This thread's row: a number below THREADS_MAX that no other living thread has. */
  get row(): number {
    assert(this.#row >= 0, 'a thread claims its row before it asks for it')
    return this.#row
  }

  /**
   * Releases the row of a dead thread. Its counts stay, because totals never decrease. Its gauges are
   * cleared.
   */
  releaseRow(row: number): void {
    const gauges = row * this.#columns + this.#gaugesAt
    this.#table.fill(0, gauges, gauges + GAUGES.length)
    const chores = row * this.#columns + this.#choresAt
    for (let at = chores; at < chores + CHORE_NAMES.length * CHORE_COLUMNS; at += CHORE_COLUMNS) this.#table.fill(0, at + 2, at + 4)
    const consumers = row * this.#columns + this.#consumersAt
    this.#table.fill(0, consumers, consumers + CONSUMERS_MAX)
    Atomics.store(this.#owners, row, 0)
  }

  /** @param operationIndex -1 for a request that matched no route */
  countRequest(operationIndex: number, status: number, seconds: number): void {
    const index = operationIndex < 0 ? this.#names.length - 1 : operationIndex
    const at = this.#own(index * OPERATION_COLUMNS)
    this.#table[at + (STATUS_INDEX[status] ?? COUNTED_STATUSES.length)]! += 1
    this.#observe(at + STATUS_COLUMNS, DURATION_BUCKETS, seconds)
  }

  observeWait(queue: QueueClass, seconds: number): void {
    this.#observe(this.#own(this.#queueColumn(queue) + 2), WAIT_BUCKETS, seconds)
  }

  observeBatch(queue: QueueClass, requests: number): void {
    this.#observe(this.#own(this.#queueColumn(queue) + 2 + histogramColumns(WAIT_BUCKETS)), BATCH_BUCKETS, requests)
  }

  observeEmbedding(seconds: number): void {
    this.#observe(this.#own(this.#embeddingAt), EMBEDDING_BUCKETS, seconds)
  }

  /** @param seconds duration of the round */
  countRound(chore: ChoreName, seconds: number, isFailed: boolean): void {
    const at = this.#own(this.#choreColumn(chore))
    this.#table[at]! += 1
    if (isFailed) this.#table[at + 1]! += 1
    this.#table[at + 2] = seconds
  }

  setChoreState(chore: ChoreName, state: ChoreState): void {
    this.#table[this.#own(this.#choreColumn(chore) + 3)] = STATE_INDEX[state]
  }

  /** @param consumer its number in the registry (src/consumers/registry.ts) */
  setConsumerPosition(consumer: number, lsn: bigint): void {
    assert(consumer < CONSUMERS_MAX, `more than ${CONSUMERS_MAX} consumers of the binlog`)
    this.#table[this.#own(this.#consumersAt + consumer)] = Number(lsn)
  }

  setQueue(queue: QueueClass, depth: number, inFlight: number): void {
    const at = this.#own(this.#queueColumn(queue))
    this.#table[at] = depth
    this.#table[at + 1] = inFlight
  }

  add(counter: CounterName, amount: number): void {
    this.#table[this.#own(this.#countersAt + COUNTER_INDEX[counter])]! += amount
  }

  /** @returns the value of a gauge, summed over threads */
  gauge(name: GaugeName): number {
    return this.#sum(this.#gaugesAt + GAUGE_INDEX[name])
  }

  set(gauge: GaugeName, value: number): void {
    this.#table[this.#own(this.#gaugesAt + GAUGE_INDEX[gauge])] = value
  }

  /** Sums over all threads. Operations without a request are omitted. */
  read(): TelemetryReading {
    const requests = []
    for (const [index, operation] of this.#names.entries()) {
      const at = index * OPERATION_COLUMNS
      const seconds = this.#histogram(at + STATUS_COLUMNS, DURATION_BUCKETS)
      if (seconds.count === 0) continue
      const statuses: (readonly [string, number])[] = []
      for (let s = 0; s < STATUS_COLUMNS; s++) {
        const count = this.#sum(at + s)
        if (count > 0) statuses.push([String(COUNTED_STATUSES[s] ?? 'other'), count])
      }
      requests.push({ operation, statuses, seconds })
    }
    const queues = QUEUE_CLASSES.map((queue) => {
      const at = this.#queueColumn(queue)
      return {
        queue,
        depth: this.#sum(at),
        inFlight: this.#sum(at + 1),
        waitSeconds: this.#histogram(at + 2, WAIT_BUCKETS),
        batchSize: this.#histogram(at + 2 + histogramColumns(WAIT_BUCKETS), BATCH_BUCKETS),
      }
    })
    const counters = Object.fromEntries(COUNTERS.map((name, i) => [name, this.#sum(this.#countersAt + i)])) as Record<CounterName, number>
    const gauges = Object.fromEntries(GAUGES.map((name, i) => [name, this.#sum(this.#gaugesAt + i)])) as Record<GaugeName, number>
    const chores = CHORE_NAMES.map((chore): ChoreReading => {
      const at = this.#choreColumn(chore)
      return { chore, rounds: this.#sum(at), failures: this.#sum(at + 1), seconds: this.#sum(at + 2), state: this.#sum(at + 3) }
    })
    const embeddingSeconds = this.#histogram(this.#embeddingAt, EMBEDDING_BUCKETS)
    const consumers = Array.from({ length: CONSUMERS_MAX }, (_, consumer) => this.#sum(this.#consumersAt + consumer))
    return { requests, queues, counters, gauges, embeddingSeconds, chores, consumers }
  }

  #queueColumn(queue: QueueClass): number {
    return this.#queuesAt + QUEUE_INDEX[queue] * QUEUE_COLUMNS
  }

  #choreColumn(chore: ChoreName): number {
    return this.#choresAt + CHORE_INDEX[chore] * CHORE_COLUMNS
  }

  #own(column: number): number {
    assert(this.#row >= 0, 'a thread claims its row before it counts')
    return this.#row * this.#columns + column
  }

  #observe(at: number, bounds: readonly number[], value: number): void {
    let bucket = 0
    while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1
    this.#table[at + bucket]! += 1
    this.#table[at + bounds.length + 1]! += value
  }

  #sum(column: number): number {
    let sum = 0
    for (let row = 0; row < THREADS_MAX; row++) sum += this.#table[row * this.#columns + column]!
    return sum
  }

  #histogram(column: number, bounds: readonly number[]): Histogram {
    const counts: number[] = []
    let count = 0
    for (let i = 0; i <= bounds.length; i++) {
      const bucket = this.#sum(column + i)
      counts.push(bucket)
      count += bucket
    }
    return { counts, sum: this.#sum(column + bounds.length + 1), count }
  }
}

let ofThisThread: Telemetry | undefined

/** Sets the value that `threadTelemetry()` returns in this thread. Called once, when the thread starts. */
export function installTelemetry(telemetry: Telemetry): void {
  ofThisThread = telemetry
}

/** The counters of the calling thread. */
export function threadTelemetry(): Telemetry {
  assert(ofThisThread !== undefined, 'telemetry is installed when a thread starts')
  return ofThisThread
}
