/** Bounds of the lanes: number, tasks, heap, death, and the switch to another generation of the store. */

/**
 * Read lanes. More threads never increased throughput, and each holds an isolate (20 MB) and a WASM instance.
 */
export const READ_LANES_MAX = 64
/**
 * Threads that count metrics: 64 read lanes, point, write, bulk, long, main, 15 further HTTP loops, and spare
 * entries to replace dead ones.
 */
export const THREADS_MAX = 96

// ---- Tasks in one worker

/**
 * Batches in one read worker: one runs, one waits in its port, so that the worker is never idle in between.
 */
export const TASKS_PER_READ_WORKER = 2
/** Batches in the point lane, as in a read worker. */
export const TASKS_PER_POINT_WORKER = 2
/**
 * Tasks of the write lane. While one task is processed in slices, a second one brings single writes, which
 * enter between the slices.
 */
export const TASKS_PER_WRITE_WORKER = 2
/** Heavy work runs one at a time. */
export const TASKS_PER_BULK_WORKER = 1
/** Backups and restores run one at a time. */
export const TASKS_PER_LONG_WORKER = 1

// ---- Heap

/**
 * V8 heap of one lane, old space, in addition to `LANE_HEAP_BODIES` times the largest body. The parser's
 * output for JSON_VALUES_MAX values and JSON_SHAPES_MAX shapes takes 180 MB. Contents, answers and templates
 * are outside of this heap, with bounds of their own. Above the bound only the lane dies. With bodies of
 * 32 MiB the sum is 384 MB, so that one request stays under 600 MB
 * (docs/decisions/bounds-of-requests.md).
 */
export const LANE_HEAP_MB_MAX = 256
/** A body as text of two bytes a character, and its strings again after parsing. */
export const LANE_HEAP_BODIES = 4
/** V8 heap of one lane, young space. Answers are short-lived, and 16 MB keeps scavenges under 1 ms. */
export const LANE_YOUNG_HEAP_MB = 16

// ---- Death of a lane

/**
 * Workers of lanes other than the write lane that may die within LANE_DEATHS_WINDOW_MS before the server
 * stops. One bad request must not stop it; a broken build must.
 */
export const LANE_DEATHS_MAX = 10
export const LANE_DEATHS_WINDOW_MS = 60_000
/**
 * How long the server waits for the reason of a death after the thread of the lane has ended. The reason
 * arrives on another channel than the death, and the thread frees its heap first. An earlier reason is also
 * attributed to a death for this long.
 */
export const LANE_DEATH_REASON_MS = 5_000
/**
 * The same for the write lane, whose death ends the process: a new write lane would need more time than this
 * to open the store.
 */
export const WRITE_LANE_DEATH_REASON_MS = 100
/**
 * How late a lane may be for the deadline of a request before `/livez` reports it as stuck. Handlers check
 * the deadline several times a second, and a wait for the network ends after 30 s.
 */
export const LANE_SILENCE_MS_MAX = 60_000

/**
 * A lane that could not be opened on its first use is tried again by the first request after this time.
 * Those before are answered 503.
 */
export const LANE_RETRY_MS = 1_000

// ---- Switch to another generation of the store

/**
 * How long a restore holds writes back at most while it waits for those in progress: the longest deadline.
 * The restore fails after that.
 */
export const SWITCH_DRAIN_MS_MAX = 120_000
/** A lane that has not adopted the next generation within this time never will. */
export const SWITCH_LANE_MS_MAX = 30_000
/**
 * Opening takes milliseconds. Vectors of encrypted collections have no files, however, and are read from the
 * store during that time: 20 million at 30 us. Requests are not held back by it.
 */
export const SWITCH_OPEN_MS_MAX = 600_000
