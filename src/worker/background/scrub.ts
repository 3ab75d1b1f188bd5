/**
 * Behind the requests, the store is compared with itself (store/comparison), once a day: slices in views of
 * the write lane's thread, with pauses ten times as long. What is found raises a warning of health, until a
 * comparison finds nothing.
 */
import {
  SCRUB_BEGIN_MS_MAX,
  SCRUB_BYTES,
  SCRUB_DOCUMENT_BYTES_MAX,
  SCRUB_DOCUMENT_ROWS_MAX,
  SCRUB_PAUSE_MS_MIN,
  SCRUB_PAUSE_TIMES,
  SCRUB_ROWS,
} from '../../limits.js'
import { FINDING_KINDS } from '../../store/comparison/findings.js'
import type { Findings } from '../../store/comparison/findings.js'
import { StoreComparison } from '../../store/comparison/store_comparison.js'
import { log } from '../../telemetry/log.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { LaneContext } from '../request/handler.js'

/** @param onFindings is told how many there are @returns a function that stops it */
export function scrubWork({ store, config }: LaneContext, onFindings: (count: number) => void): () => void {
  const intervalMs = config.limits.SCRUB_INTERVAL_MS
  // With `async` a group is seen after it was applied, and a tally can't tell which of the two a slice shows.
  const isTallyKept = config.durability === 'sync'
  let timer: NodeJS.Timeout | undefined
  let comparison: StoreComparison | undefined
  let begunAt = 0
  /** Of the comparison before. */
  let known = 0
  const step = (): void => {
    try {
      compare()
    } catch (error) {
      log.error('the store could not be compared with itself', { fault: error })
      comparison = undefined
      schedule(Math.max(SCRUB_PAUSE_MS_MIN, intervalMs))
    }
  }
  const compare = (): void => {
    const begun = performance.now()
    if (comparison === undefined) {
      begunAt = begun
      comparison = new StoreComparison({
        rowsMax: SCRUB_ROWS,
        bytesMax: SCRUB_BYTES,
        documentRowsMax: SCRUB_DOCUMENT_ROWS_MAX,
        documentBytesMax: SCRUB_DOCUMENT_BYTES_MAX,
        isTallyKept,
      })
    }
    const isMore = store.compare(comparison)
    const { findings } = comparison
    // What was found before stays said until it is known to be gone.
    onFindings(isMore ? Math.max(known, findings.total) : findings.total)
    if (isMore) {
      schedule(Math.max(SCRUB_PAUSE_MS_MIN, (performance.now() - begun) * SCRUB_PAUSE_TIMES))
      return
    }
    tell(findings, known)
    threadTelemetry().add('store_comparisons', 1)
    known = findings.total
    comparison = undefined
    schedule(Math.max(SCRUB_PAUSE_MS_MIN, begunAt + intervalMs - performance.now()))
  }
  const schedule = (pauseMs: number): void => {
    timer = setTimeout(step, pauseMs)
  }
  schedule(Math.min(SCRUB_BEGIN_MS_MAX, intervalMs))
  return () => clearTimeout(timer)
}

/** One line each kind. */
function tell(findings: Findings, known: number): void {
  if (findings.total === 0 && known > 0) log.info('the store was compared with itself: nothing is damaged any more')
  for (const kind of FINDING_KINDS) {
    const count = findings.countOf(kind)
    if (count === 0) continue
    const first = findings.listed.find((finding) => finding.kind === kind)
    log.error('the store is damaged', {
      reason: `${count} ${kind}${first === undefined ? '' : `, the first: ${first.place}: ${first.detail}`}`,
    })
  }
}
