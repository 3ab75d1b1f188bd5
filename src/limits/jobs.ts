/** Bounds of jobs: work that outlives its request (bulk ingest), its record and its callback. */

/** Finished jobs of each kind that are remembered. A list of them, with 50 messages each, has 4 MB. */
export const JOBS_KEPT_MAX = 256
/**
 * UTF-8 bytes of one message in the record of a job. With 50 of them a record stays below 32 KB. It is
 * written again with each slice of 64 documents.
 */
export const JOB_MESSAGE_BYTES_MAX = 512
/** UTF-8 bytes of the id of a job. Ids made by the server have at most 40. */
export const JOB_ID_BYTES_MAX = 128

// ---- Bulk ingest

/** Documents of a bulk ingest that are prepared and committed together. Fixed by the contract. */
export const INGEST_CHUNK_DOCUMENTS_MAX = 500
/**
 * JSON characters at which a chunk ends early. They bound the memory of the bulk lane and the time that
 * others wait for it, 0.3 s. A larger document is sent alone.
 */
export const INGEST_CHUNK_BYTES_WANTED = 8 * 1024 * 1024
/** Jobs that wait in addition to the running one. Fixed by the contract. */
export const INGESTS_QUEUED_MAX = 64
/**
 * Bytes of the documents of all jobs that wait or run: eight of the largest requests. Above it, a further job
 * is refused as with a full queue.
 */
export const INGEST_BYTES_HELD_MAX = 256 * 1024 * 1024
/** Pause before a chunk is sent again to a lane that had no capacity for it. */
export const INGEST_RETRY_MS = 500

// ---- Callbacks

/** A callback is sent once, and its answer is ignored. */
export const CALLBACK_MS_MAX = 10_000
export const CALLBACK_ANSWER_BYTES_MAX = 16 * 1024
/** Callbacks in progress. Further ones are dropped: clients can read the record of the job. */
export const CALLBACKS_MAX = 64
