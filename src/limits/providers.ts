/**
 * Bounds of the clients of embedding providers, and of their stored configurations. The reference is the
 * server with whose contract this one is compatible.
 */
import { KIB } from './units.js'

/** UTF-8 bytes of the name of a model. The longest known ones, with an owner and a tag, have some 100. */
export const EMBEDDING_MODEL_BYTES_MAX = 256
/** Dimensions of a vector. The largest known models have 4 096; a row of 8 192 floats is 32 KB. */
export const EMBEDDING_DIMENSIONS_MAX = 8192
/** ASCII characters of an API key. The longest known ones have some 200, tokens of a gateway up to 2 000. */
export const EMBEDDING_KEY_BYTES_MAX = 4096
/** Stored configurations of embedding providers. Each is one row in a list. */
export const EMBEDDING_CONFIGS_MAX = 64
/**
 * UTF-8 bytes of the id of a configuration, which is a part of an LMDB key and of a path, and of its name.
 */
export const EMBEDDING_CONFIG_ID_BYTES_MAX = 128
export const EMBEDDING_CONFIG_NAME_BYTES_MAX = 256
/** Pause before the front end asks again for the default configuration, if no lane could answer in time. */
export const EMBEDDING_RELOAD_MS = 1000
/**
 * Time for a start's request to a local Ollama. A running one answers in a few milliseconds, and no other
 * work waits for the request.
 */
export const OLLAMA_DETECTION_MS_MAX = 1000

// ---- Attempts

/**
 * Requests for the same texts. The wait between them is random, up to 0.5 and 1 s, or as long as the provider
 * requests. The value of the reference.
 */
export const EMBEDDING_ATTEMPTS_MAX = 3
export const EMBEDDING_WAIT_MS_FIRST = 500
/**
 * Time of one request to a provider. The value of the reference. A local model that has to be loaded first
 * takes 5 to 20 s.
 */
export const EMBEDDING_ATTEMPT_MS_MAX = 30_000
/**
 * A `Retry-After` of at most this is waited for within the call. A longer one ends the call, and no further
 * calls are sent until then.
 */
export const EMBEDDING_RETRY_AFTER_WAITED_MS_MAX = 5_000
/**
 * A longer `Retry-After` is shortened to this. A mistaken value of days must not block a provider for days
 * after its quota is available again.
 */
export const EMBEDDING_RETRY_AFTER_MS_MAX = 600_000
/** Consecutive failed requests after which no more are sent. */
export const EMBEDDING_FAILURES_IN_ROW_MAX = 5
/** How long no requests are sent then. Doubled with each trial that fails. */
export const EMBEDDING_PAUSE_MS_FIRST = 5_000
export const EMBEDDING_PAUSE_MS_MAX = 60_000
/** A request that its caller cancelled counts as failed if it had waited for this long. */
export const EMBEDDING_SLOW_MS = 10_000

// ---- Turns

/**
 * Parallel requests to one provider. Hosted ones answer them in parallel, a local one answers them in turn.
 */
export const EMBEDDING_REQUESTS_AT_ONCE = 4
/** Parallel requests for documents among them. A query never waits for a whole backlog. */
export const EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE = EMBEDDING_REQUESTS_AT_ONCE - 1
/**
 * Calls that wait for their turn. At 4 in parallel and 50 ms each, 1 024 take 13 s, just within the time that
 * a query waits.
 */
export const EMBEDDING_CALLS_WAITING_MAX = 1024

// ---- Answers of providers

/**
 * Numbers that one answer may contain as decimal text. The event loop parses 32 768 of them, 0.7 MB, in 5 ms.
 * Encoded in base64, twice as many take 2 ms.
 */
export const EMBEDDING_NUMBERS_MAX = 32_768
export const EMBEDDING_NUMBERS_ENCODED_MAX = 2 * EMBEDDING_NUMBERS_MAX
/** Maximum bytes of one value as decimal text: `-1.2345678901234567e-10, `. */
export const EMBEDDING_NUMBER_BYTES_MAX = 32
/** Bytes of an answer in addition to its vectors, or of one that is a refusal. */
export const EMBEDDING_ANSWER_FRAME_BYTES = 256 * KIB
