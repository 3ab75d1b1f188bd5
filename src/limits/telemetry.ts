/** Bounds of logs and metrics. */

/** Characters of one string in a log line. A stack of 10 frames has 1 000. */
export const LOG_TEXT_CHARS_MAX = 4096
/** How long a log line waits for a slow reader of the log. A longer wait would delay requests. */
export const LOG_WAIT_MS_MAX = 50
/** Highest threshold of the slow-request log: an hour is above every deadline of a request. */
export const LOG_SLOW_MS_MAX = 3_600_000
/**
 * Collections with lines of their own in /metrics, three each. The others are summed under `/other`. 1 000
 * keep a scrape under 300 KB.
 */
export const METRIC_COLLECTIONS_MAX = 1000
/**
 * Characters of the token of the metrics. 16 of 64 different ones are 96 bits; a header of 4 096 would fill
 * the head of a request.
 */
export const METRICS_TOKEN_CHARS_MIN = 16
export const METRICS_TOKEN_CHARS_MAX = 1024
