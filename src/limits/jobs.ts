/** Bounds of what goes on behind an answered request. A part of src/limits.ts, through which it is imported. */
/** Finished jobs that are remembered of each kind: a list of them, with 50 messages each, has 4 MB. */
export const JOBS_KEPT_MAX = 256
/** UTF-8 bytes of one message that a job keeps: with 50 of them a record stays below 32 KB, and each slice of 64 documents writes it again. */
export const JOB_MESSAGE_BYTES_MAX = 512
/** Documents of a bulk ingest that are prepared and committed together; the contract's. */
export const INGEST_CHUNK_DOCUMENTS_MAX = 500
/** JSON characters from which a chunk ends earlier: what the bulk lane holds at once, and how long others wait for it, 0.3 s. A larger document goes alone. */
export const INGEST_CHUNK_BYTES_WANTED = 8 * 1024 * 1024
/** Jobs that wait beside the one that runs; the contract's. */
export const INGESTS_QUEUED_MAX = 64
/** Bytes of the documents of all jobs that wait or run: eight of the largest requests. Above, a further job is refused as it is when the queue is full. */
export const INGEST_BYTES_HELD_MAX = 256 * 1024 * 1024
/** Until a chunk is asked for again whose lane had no room for it. */
export const INGEST_RETRY_MS = 500
/** A chunk waits behind whatever else the bulk lane has to do: 64 requests of up to 2 minutes would be beyond any patience, a few are not. */
export const DEADLINE_INGEST_CHUNK_MS = 600_000
/** A callback is sent once, and its answer is of no interest. */
export const CALLBACK_MS_MAX = 10_000
export const CALLBACK_ANSWER_BYTES_MAX = 16 * 1024
/** Callbacks under way. Further ones are given up: a job's record can be asked for. */
export const CALLBACKS_MAX = 64
/** UTF-8 bytes of a job's id; ours have at most 40. */
export const JOB_ID_BYTES_MAX = 128
