/** Bounds of the process, its logs and its command line that several files read. */

/** Characters of a user agent in an event: a browser has up to 250. Longer ones are cut. */
export const AUDIT_USER_AGENT_CHARS_MAX = 256
/**
 * Events of a batch, which is hashed and flushed at once. 4 096 of 250 bytes are 1 MB. Their checksums take 8
 * characters each in the seal: 33 KB.
 */
export const AUDIT_BATCH_EVENTS_MAX = 4096
/** A log has so many files at least, so that a quarter of it is removed at once at most. */
export const AUDIT_LOG_FILES_MIN = 4
/** Events of an answer of `GET /v1/audit`: 10 000 of 250 bytes are 2.5 MB. */
export const AUDIT_LIMIT_DEFAULT = 100
export const AUDIT_LIMIT_MAX = 10_000
/** How long a shutdown waits for the file and for the exporters. Below the default of a shutdown, 15 s. */
export const AUDIT_CLOSE_MS_MAX = 5_000
export const AUDIT_EXPORT_CLOSE_MS_MAX = 2_000
/** Problems that an import remembers for its final list. The counters stay exact. */
export const IMPORT_PROBLEMS_KEPT_MAX = 200
/** YAML aliases in a configuration file or in frontmatter. An alias bomb needs more. */
export const YAML_ALIASES_MAX = 50
/**
 * After `SVC_DRAIN_MS`, how long requests on open connections are still served, at most: half a second after
 * the last one has come is usual (`REQUEST_ON_ITS_WAY_MS`), and a long answer is not waited for here.
 */
export const LAST_REQUESTS_MS_MAX = 3_000
/** Time for answers to leave their sockets after a fatal fault, before the process kills itself. */
export const LAST_WORDS_MS = 50
/**
 * How long /health and /v1/system/info reuse system values. A storm of probes costs one statfs in this time.
 */
export const PROBE_CACHE_MS = 1000
/** Seconds of a profile: as in Go's net/http/pprof, whose clients send none. */
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
/** Highest threshold of the slow-request log: an hour is above every deadline of a request. */
export const LOG_SLOW_MS_MAX = 3_600_000
