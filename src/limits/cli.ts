/** Bounds of the command line: input, requests and memory of `mds` outside of the server. */
import { DEADLINE_HEAVY_MS } from './deadlines.js'
import { BODY_BYTES_DEFAULT } from './input.js'
import { KIB, MIB } from './units.js'

/** Bytes that `mds add` reads: the largest body that a server accepts by default. */
export const ADDED_FILE_BYTES_MAX = 32 * MIB
/** Longer than the deadlines of the cost classes, so that the server answers first. */
export const CLIENT_REQUEST_MS_MAX = DEADLINE_HEAVY_MS + 10_000
/**
 * V8 heap of the process in which `mds doctor` reads a store. It keeps the states of one document at a time.
 */
export const DOCTOR_HEAP_MB_MAX = 1024
/**
 * Rows, and bytes of their values, between two messages of the process in which `mds doctor` reads a store.
 * If the process dies, its position in the store is known to this precision.
 */
export const DOCTOR_SLICE_ROWS = 20_000
export const DOCTOR_SLICE_BYTES = 64 * MIB

// ---- Credentials

/** Bytes of the credentials file: a token has some 600, so this is enough for 400 servers. */
export const CREDENTIALS_FILE_BYTES_MAX = 256 * KIB
/** Bytes of standard input that contains passwords: two lines of at most 72 bytes, and space. */
export const PASSWORD_INPUT_BYTES_MAX = 4 * KIB
/** Characters of the password that `mds init` makes: the number of the issue, 139 bits. */
export const GENERATED_PASSWORD_CHARS = 24
/** Bytes of the secret that `mds init` makes: more than the 32 of the digest that it keys. */
export const GENERATED_SECRET_BYTES = 48
/** Days that `mds key create --expires` takes: ten years. */
export const KEY_EXPIRY_DAYS_MAX = 3_650

// ---- Import

/**
 * Bytes of one add-batch body that `mds import` sends; a larger document is sent alone. A quarter of the body
 * bound; 500 documents of 5 KB are 2.5 MB.
 */
export const IMPORT_BATCH_BYTES_MAX = 8 * MIB
/** Documents in one add-batch body of `mds import`, unless an option says otherwise. */
export const IMPORT_BATCH_DOCUMENTS_DEFAULT = 500
/** Requests of one import in flight. Above this the server only queues, because it commits on one lane. */
export const IMPORT_CONCURRENCY_MAX = 16
/** Bytes of one NDJSON line: what fits in a request body with its frame. */
export const IMPORT_LINE_BYTES_MAX = BODY_BYTES_DEFAULT - 1024
/** Bytes of a file to be imported: a document, and the block that an export adds in front of it. */
export const IMPORT_FILE_BYTES_MAX = 17 * MIB
/**
 * Sends of one batch before an import gives up. Waits of 0.25 s, doubled up to 8 s, add up to about 40 s,
 * longer than a restart.
 */
export const IMPORT_ATTEMPTS_MAX = 10
/** Longest wait before a request is sent again, whatever `Retry-After` requests. */
export const IMPORT_RETRY_WAIT_MS_MAX = 8_000
/** Problems that an import remembers for its final list. The counters stay exact. */
export const IMPORT_PROBLEMS_KEPT_MAX = 200
/** Bytes of one YAML frontmatter block. The largest seen in real trees are under 20 KB. */
export const FRONTMATTER_BYTES_MAX = 256 * KIB
/**
 * Nesting of frontmatter. Each level becomes a part of a metadata key, and keys have at most
 * META_KEY_BYTES_MAX.
 */
export const FRONTMATTER_DEPTH_MAX = 32

// ---- Export of histories to git

/** Documents whose histories are requested at once. Each answer may have 256 MB, most have some KB. */
export const GIT_EXPORT_DOCUMENTS_AT_ONCE = 8
/** Bytes of the stream that are written at once. */
export const GIT_EXPORT_WRITTEN_BYTES = 256 * KIB
/** Bytes of git's error output that are kept: the first lines contain the reason of a failure. */
export const GIT_EXPORT_SAID_BYTES_MAX = 16 * KIB
/** States of one export. Each takes some 100 B until they are sorted, and each document as much. */
export const GIT_EXPORT_STATES_MAX = 10_000_000
/** Bytes of one path segment. File systems accept 255, and a checkout adds a few for a temporary name. */
export const GIT_PATH_SEGMENT_BYTES_MAX = 240
