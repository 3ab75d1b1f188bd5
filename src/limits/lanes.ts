/** Bounds of queues, lanes and background work that several files read. */
import { EMBEDDINGS_WANTED_MS_MAX } from './embedding.js'
import { KIB, MIB } from './units.js'

/** Pause before a chore whose round failed runs again. It doubles with each further failure. */
export const CHORE_RETRY_MS_FIRST = 1000
export const CHORE_RETRY_MS_MAX = 60_000
/** Interval at which a chore that may not write checks for the role again: one read of a shared word. */
export const CHORE_STANDBY_MS = 1000
/**
 * Bytes of entries that consumers of the binlog may keep beyond SVC_BINLOG_MAX_SIZE: equal to its default. A
 * consumer further behind is lost and restarts from scratch.
 */
export const CONSUMER_LAG_BYTES_MAX = 256 * MIB
/**
 * A point read takes microseconds, a search milliseconds. A request that takes longer has waited in a queue.
 */
export const DEADLINE_POINT_MS = 5_000
export const DEADLINE_SEARCH_MS = 10_000
/**
 * A search whose query may have to be embedded first: `EMBEDDINGS_WANTED_MS_MAX`, plus time for the search.
 */
export const DEADLINE_EMBEDDED_MS = EMBEDDINGS_WANTED_MS_MAX + 5_000
/** Above COMMIT_SILENCE_MS_MAX, so that a storage failure is reported before the deadline expires. */
export const DEADLINE_WRITE_MS = 12_000
/** 10 000 documents of 5 KB at 3 000/s take 3.4 s; a reindex of 100 000 takes about 40 s. */
export const DEADLINE_HEAVY_MS = 120_000
/**
 * A reindex of vectors is answered when all documents are embedded: a million at 20 a second take 14 hours.
 */
export const DEADLINE_REINDEX_MS = 86_400_000
/**
 * Requests that are queued or in a lane, over all classes: the four queues (9 280) and the maximum in the
 * lanes (65 x 2 x 16 reads + 2 x 256 commands).
 */
export const SLOTS_MAX = 12_288
/** Requests of class point that wait for a read lane. At 20 us each, 4 096 wait 80 ms. */
export const QUEUE_POINT_REQUESTS_MAX = 4096
/**
 * Requests of class search that wait for a read lane. At 2 ms each over 2 lanes, 1 024 wait 1 s, half of the
 * queue timeout.
 */
export const QUEUE_SEARCH_REQUESTS_MAX = 1024
/** Requests that wait for preparation or commit. */
export const QUEUE_WRITE_REQUESTS_MAX = 4096
/** Requests that wait for the bulk lane. Each may hold a whole body. */
export const QUEUE_HEAVY_REQUESTS_MAX = 64
/** How long a search may wait for a lane before it is refused (`SVC_SEARCH_QUEUE_TIMEOUT_MS`). */
export const SEARCH_QUEUE_MS_DEFAULT = 2000
/** Searches of a surface in a thread that wait for their turn: five documents of GraphQL with 50 each. */
export const SURFACE_PORT_SEARCHES_WAITING_MAX = 256
/**
 * Bytes of large answers on their way to the thread of a surface, which it has not taken yet: two of the
 * longest, or those of 64 searches of 1 MB. Further ones become refusals.
 */
export const SURFACE_PORT_UNREAD_BYTES_MAX = 64 * MIB
/** A body of at least this size is transferred to another thread. Copying a shorter one takes less time. */
export const PORT_TRANSFER_BYTES_MIN = 64 * KIB
/**
 * Pause before the thread of a surface that has ended is started again, so that a thread that ends at once
 * costs at most one start each second.
 */
export const SURFACE_RESTART_MS = 1000
/** Commands in one task of the write lane: one group, one flush. */
export const BATCH_COMMANDS_MAX = 256
/**
 * A task of the write lane with at least this many bytes of commands is processed in slices or takes longer
 * than a flush. No further task is handed over while a smaller one runs: commands that arrive during it are
 * sent together after its flush, instead of as one group for the first command and another for the rest.
 */
export const LONG_COMMIT_BYTES_MIN = 512 * KIB
/**
 * A write of at most this size goes to an idle write lane unprepared. That saves one hop, 0.3 of 1.5 ms at
 * the best percentiles of one connection. The analysis of a larger write would delay the lane.
 */
export const DIRECT_WRITE_BYTES_MAX = 64 * KIB
/** Jobs that wait in addition to the running one. Fixed by the contract. */
export const INGESTS_QUEUED_MAX = 64
/**
 * Bytes of the documents of all jobs that wait or run: eight of the largest requests. Above it, a further job
 * is refused as with a full queue.
 */
export const INGEST_BYTES_HELD_MAX = 256 * 1024 * 1024
/**
 * Read lanes. More threads never increased throughput, and each holds an isolate (20 MB) and a WASM instance.
 */
export const READ_LANES_MAX = 64
/**
 * Threads that count metrics: 64 read lanes, point, write, bulk, long, main, 15 further HTTP loops, and spare
 * entries to replace dead ones.
 */
export const THREADS_MAX = 96
/**
 * V8 heap of one lane, old space, in addition to `LANE_HEAP_BODIES` times the largest body. The parser's
 * output for JSON_VALUES_MAX values and JSON_SHAPES_MAX shapes takes 180 MB. Contents, answers and templates
 * are outside of this heap, with bounds of their own. Above the bound only the lane dies. With bodies of
 * 32 MiB the sum is 384 MB, so that one request stays under 600 MB
 * (docs/decisions/interfaces/bounds-of-requests.md).
 */
export const LANE_HEAP_MB_MAX = 256
/**
 * How long the server waits for the reason of a death after the thread of the lane has ended. The reason
 * arrives on another channel than the death, and the thread frees its heap first. An earlier reason is also
 * attributed to a death for this long.
 */
export const LANE_DEATH_REASON_MS = 5_000
/** A lane that has not adopted the next generation within this time never will. */
export const SWITCH_LANE_MS_MAX = 30_000

/** Waits between two attempts of a delivery to a webhook, in hundredths of those of the contract. */
export const WEBHOOK_WAIT_PERCENT = 100
