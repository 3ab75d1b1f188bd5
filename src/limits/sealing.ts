/** Bounds of encryption at rest. A part of src/limits.ts, through which it is imported. */
/** Collections whose seals (keys, salt) a lane keeps at hand: 1 024 x 1 KB. */
export const SEALS_KEPT_MAX = 1024
/** Languages of one collection whose hashes a lane keeps: 256 x 100 B. */
export const SEAL_LANGS_KEPT_MAX = 256
/** Master keys beside the primary one. */
export const PREVIOUS_KEYS_MAX = 16
/** Rows that one step of a rotation looks at: 256 x 15 us, and a page of bodies of 3 KB is 0.8 MB to flush. */
export const ROTATION_ROWS_MAX = 256
/** Between two steps of a rotation the write lane is left alone for so many times what the step took: a fifth of one core. */
export const ROTATION_REST_FACTOR = 4
/** And at least for so long. */
export const ROTATION_REST_MS_MIN = 2
/** How often the write lane looks for a rotation that was asked for. */
export const ROTATION_POLL_MS = 500
/** Space of a lane to open sealed contents into, one at a time: what packs contents has as much. A larger one gets space of its own. */
export const OPENED_BODY_BYTES = 128 * 1024
