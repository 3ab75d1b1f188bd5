/**
 * Every named bound of the service, one constant each, with its arithmetic or its reason. Nothing that can grow with input, load or time is without an entry here.
 * Read by all threads; pure data. Bounds that tests must reach quickly are in `OVERRIDABLE`: the running value is `config.limits.<NAME>`, set by `SVC_LIMIT_<NAME>`.
 */
const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB

// ---- Input: what one request may say -------------------------------------------------------------------------------------------------------------------------

/** UTF-8 bytes. LMDB keys end at 1 978 B here: 4 (collection) + 1 024 (key) + 1 (separator) + 35 (lang) leaves room for growth by lower-casing. */
export const KEY_BYTES_MAX = 1024
/** UTF-8 bytes. Names are shown in lists and metric labels; a hash fits twice. */
export const COLLECTION_BYTES_MAX = 128
/** UTF-8 bytes. The longest registered BCP 47 tags need 35 characters (RFC 5646, section 4.4.1). */
export const LANG_BYTES_MAX = 35
/** Keys in one document's metadata. 256 x 1 024 x 8 KiB is far above the document bound, which then decides. */
export const META_KEYS_MAX = 256
/** Values of one metadata key. */
export const META_VALUES_MAX = 1024
/** UTF-8 bytes of one metadata key. It becomes a part of dictionary keys and of answers' object keys. */
export const META_KEY_BYTES_MAX = 512
/** UTF-8 bytes of one metadata value. */
export const META_VALUE_BYTES_MAX = 8 * KIB
/** UTF-8 bytes of one document's content: half of the body bound, because JSON escapes can double it. */
export const DOCUMENT_BYTES_MAX = 16 * MIB
/** Documents in one add-batch or delete-batch; cut into commit slices of `COMMIT_SLICE_DOCUMENTS_MAX`. */
export const BATCH_DOCUMENTS_MAX = 10_000
/** Nesting of a JSON body: deeper is an attack on recursion, and no shape of ours needs more than 6. */
export const JSON_DEPTH_MAX = 64
/** Bytes of one request body on every surface (`SVC_MAX_BODY_BYTES`). */
export const BODY_BYTES_DEFAULT = 32 * MIB
/** Highest `SVC_MAX_BODY_BYTES`: V8 strings end at 512 MiB - 24, and the body is held twice while it is parsed. */
export const BODY_BYTES_CEILING = 256 * MIB
/** UTF-8 bytes of a full-text query. */
export const QUERY_BYTES_MAX = 4 * KIB
/** Values in a `filterMeta`, over all its keys. */
export const FILTER_VALUES_MAX = 256
/** A `limit` above is clamped to this, not refused. */
export const LIMIT_MAX = 10_000
/** `limit` where the request says none. */
export const LIMIT_DEFAULT = 50
/** offset + limit: the heap of a sorted page holds as many entries, 100 000 x 16 B = 1.6 MB. */
export const PAGE_DEPTH_MAX = 100_000
/** Entries of `env` in /v1/get. */
export const TEMPLATE_VARIABLES_MAX = 256
/** Seconds. 100 years: a later expiry is a mistake in the unit. */
export const TTL_SECONDS_MAX = 100 * 365 * 86_400
/** Entries of `fieldWeights`: one per indexed field, and a document has at most META_KEYS_MAX + 1. */
export const FIELD_WEIGHTS_MAX = META_KEYS_MAX + 1
/** Error texts in the answer to a batch; the counters stay exact. */
export const BATCH_ERRORS_MAX = 50

// ---- Queues and batches: what may wait ------------------------------------------------------------------------------------------------------------------------

/** Requests waiting for a read lane, class point. At 20 us each, 4 096 wait 80 ms. */
export const QUEUE_POINT_REQUESTS_MAX = 4096
/** Requests waiting for a read lane, class search. At 2 ms each over 2 lanes, 1 024 wait 1 s, half of the queue timeout. */
export const QUEUE_SEARCH_REQUESTS_MAX = 1024
/** Requests waiting to be prepared or committed. */
export const QUEUE_WRITE_REQUESTS_MAX = 4096
/** Requests waiting for the bulk lane: each may hold a whole body. */
export const QUEUE_HEAVY_REQUESTS_MAX = 64
/** Bytes of all request bodies that are held at once: eight of the largest. */
export const BODIES_IN_FLIGHT_BYTES_MAX = 256 * MIB

// ---- Store ----------------------------------------------------------------------------------------------------------------------------------------------------

/** Address space reserved for the truth env, not memory or disk; beyond the largest file that a single node should hold. */
export const TRUTH_MAP_BYTES = 256 * GIB
/** Reader slots of the truth env: a slot per thread, and threads end at 64 read lanes + write + bulk + main. */
export const TRUTH_READERS_MAX = 126
/** Bytes of a stored body after decompression: a document whose every byte is escaped as \u00XX (6 B). Larger is damage, not data. */
export const BODY_RAW_BYTES_MAX = 6 * DOCUMENT_BYTES_MAX
/** A commit that has not settled by then never will (an I/O error can leave it pending for ever): stop acknowledging. */
export const COMMIT_SILENCE_MS_MAX = 10_000
/** Binlog bytes kept where no consumer needs them (`SVC_BINLOG_MAX_SIZE`). */
export const BINLOG_BYTES_DEFAULT = 256 * MIB
/** Documents of a batch committed in one transaction; between slices single writes may enter. */
export const COMMIT_SLICE_DOCUMENTS_MAX = 64

// ---- Process --------------------------------------------------------------------------------------------------------------------------------------------------

/** Read lanes: more threads than this never paid and each holds an isolate (20 MB) and a WASM instance. */
export const READ_LANES_MAX = 64
/** Seconds between SIGTERM and the end of patience (`SVC_SHUTDOWN_TIMEOUT_SEC`). */
export const SHUTDOWN_SECONDS_DEFAULT = 15
/** How long a search may wait for a lane before it is refused (`SVC_SEARCH_QUEUE_TIMEOUT_MS`). */
export const SEARCH_QUEUE_MS_DEFAULT = 2000
/** Bytes of a configuration file. The largest sensible one is under 10 KB. */
export const CONFIG_FILE_BYTES_MAX = 256 * KIB
/** YAML aliases in a configuration file or frontmatter: an alias bomb needs more. */
export const YAML_ALIASES_MAX = 50
/** Warnings collected from the configuration; a container may inject hundreds of foreign variables. */
export const CONFIG_WARNINGS_MAX = 100

// ---- Deadlines, by cost class ---------------------------------------------------------------------------------------------------------------------------------

/** A point read is microseconds of work: what takes longer has waited in a queue. */
export const DEADLINE_POINT_MS = 5_000
export const DEADLINE_SEARCH_MS = 10_000
/** Above COMMIT_SILENCE_MS_MAX, so that a storage failure is named before the deadline hides it. */
export const DEADLINE_WRITE_MS = 12_000
/** 10 000 documents of 5 KB at 3 000/s take 3.4 s; a reindex of 100 000 about 40 s. */
export const DEADLINE_HEAVY_MS = 120_000

/** Bounds that a test may lower through the environment; production never sets them. */
export const OVERRIDABLE = {
  QUEUE_POINT_REQUESTS_MAX,
  QUEUE_SEARCH_REQUESTS_MAX,
  QUEUE_WRITE_REQUESTS_MAX,
  QUEUE_HEAVY_REQUESTS_MAX,
  BODIES_IN_FLIGHT_BYTES_MAX,
} as const

export type OverridableLimits = { readonly [Name in keyof typeof OVERRIDABLE]: number }
