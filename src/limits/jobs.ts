/** Bounds of what goes on behind an answered request. A part of src/limits.ts, through which it is imported. */
/** Finished jobs that are remembered of each kind: a list of them, with 50 messages each, has 4 MB. */
export const JOBS_KEPT_MAX = 256
/** UTF-8 bytes of a job's id; ours have at most 40. */
export const JOB_ID_BYTES_MAX = 128
