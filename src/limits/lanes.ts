/** Bounds of the lanes: number, tasks, heap, and how one dies or moves to another generation of the store. */

/** Read lanes. More threads never paid off, and each holds an isolate (20 MB) and a WASM instance. */
export const READ_LANES_MAX = 64
/**
 * Threads that count metrics: 64 read lanes, point, write, bulk, main, and spare entries for the successors
 * of dead ones.
 */
export const THREADS_MAX = 80

// ---- Tasks in one worker

/**
 * Batches in one read worker: one runs, one waits in its port, so that the worker never idles between two.
 */
export const TASKS_PER_READ_WORKER = 2
/** Batches in the point lane: as in a read worker. */
export const TASKS_PER_POINT_WORKER = 2
/**
 * Tasks of the write lane. Beside one that is processed in slices, a second one brings single writes that
 * enter between the slices.
 */
export const TASKS_PER_WRITE_WORKER = 2
/** Heavy work runs one at a time. */
export const TASKS_PER_BULK_WORKER = 1
/** Backups and restores run one at a time. */
export const TASKS_PER_LONG_WORKER = 1

// ---- Heap

/**
 * V8 heap of one lane, old space, beside `LANE_HEAP_BODIES` times the largest body. What the parser makes of
 * JSON_VALUES_MAX values and JSON_SHAPES_MAX shapes is 180 MB. Contents, answers and templates lie outside of
 * it, with bounds of their own. Above it the lane alone dies. With bodies of 32 MiB it is 384 MB together, so
 * that one request stays under 600 MB (docs/decisions/0168-what-one-request-may-take.md).
 */
export const LANE_HEAP_MB_MAX = 256
/** A body as text of two bytes a character, and its texts once more, parsed. */
export const LANE_HEAP_BODIES = 4
/** V8 heap of one lane, young space. Answers die young, and 16 MB keeps scavenges under 1 ms. */
export const LANE_YOUNG_HEAP_MB = 16

// ---- Death of a lane

/**
 * Read workers that may die within LANE_DEATHS_WINDOW_MS before the server gives up. One bad request must not
 * end it; a broken build must.
 */
export const LANE_DEATHS_MAX = 10
export const LANE_DEATHS_WINDOW_MS = 60_000
/**
 * How long the server waits for the reason of a death after the thread of the lane has ended. The reason
 * arrives on another channel than the death, and the thread frees its heap first. Also how long a reason that
 * has arrived counts as that of a death.
 */
export const LANE_DEATH_REASON_MS = 5_000
/**
 * The same for the write lane, whose death ends the process: a new one would need more than that to open the
 * store.
 */
export const WRITE_LANE_DEATH_REASON_MS = 100
/**
 * How far a lane may be behind the deadline of a request before `/livez` reports it as stuck. Handlers check
 * the deadline several times a second, and a wait for the network ends after 30 s.
 */
export const LANE_SILENCE_MS_MAX = 60_000

// ---- Switch to another generation of the store

/**
 * How long a restore holds writes back at most while it waits for those under way: the longest deadline.
 * After that it gives up.
 */
export const SWITCH_DRAIN_MS_MAX = 120_000
/** A lane that has not adopted the next generation by then never will. */
export const SWITCH_LANE_MS_MAX = 30_000
/**
 * Opening takes milliseconds. Vectors of encrypted collections have no files, though, and are read from the
 * store meanwhile: 20 million at 30 us. Nothing is held back by it.
 */
export const SWITCH_OPEN_MS_MAX = 600_000
