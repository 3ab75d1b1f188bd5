/** Bounds of the profiles of threads. */

/** As in Go's net/http/pprof, whose clients send none. */
export const PROFILE_SECONDS_DEFAULT = 30
/** With a sample per millisecond and 8 bytes each, 60 s are 0.5 MB, and 2 MB as JSON. */
export const PROFILE_SECONDS_MAX = 60
/** How long after its end a profile is waited for: a lane answers between two batches. */
export const PROFILE_LATE_MS_MAX = 15_000
/** A sample of CPU time is taken this often. Costs a busy thread under 5 %. */
export const PROFILE_SAMPLE_US = 1000
/**
 * Bytes allocated per sample of the heap. A lane that allocates 200 MB/s takes 1 600 samples a second of 3 us
 * each: 0.5 %.
 */
export const PROFILE_HEAP_SAMPLE_BYTES = 128 * 1024
/** Frames of a stack in a heap profile. V8's default. */
export const PROFILE_STACK_FRAMES_MAX = 128
/** Deadline of a request: the longest profile, the wait for it, and 5 s in the queue of a lane. */
export const PROFILE_REQUEST_MS_MAX = PROFILE_SECONDS_MAX * 1000 + PROFILE_LATE_MS_MAX + 5_000
