/**
 * Compares the store with itself (store/comparison) in the background, once a day. The slices run in views of
 * the write lane's thread, with pauses ten times as long. Findings raise a health warning until a comparison
 * finds nothing. Write lane only.
 */
import { Chore } from '../../chore.js'
import { MIB } from '../../limits/units.js'
import type { Findings } from '../../store/comparison/findings.js'
import { FINDING_KINDS } from '../../store/comparison/findings.js'
import { StoreComparison } from '../../store/comparison/store_comparison.js'
import { log } from '../../telemetry/log.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { LaneContext } from '../request/handler.js'
import type { LaneWork } from './lane_work.js'

/** Longest time from the start of the write lane to its first scrub. A start has other data to read. */
const SCRUB_BEGIN_MS_MAX = 60_000
/** Rows, and bytes of their values, that one slice reads: some 3 ms of the write lane, or one large body. */
const SCRUB_ROWS = 500
const SCRUB_BYTES = MIB
/**
 * Pause between slices, as a multiple of the slice, so that a scrub takes a tenth of a thread; and the
 * shortest pause. At 500 rows or 1 MiB in 30 ms a day is enough for 1 400 million rows or 2.8 TB.
 */
const SCRUB_PAUSE_TIMES = 10
const SCRUB_PAUSE_MS_MIN = 20
/** Revisions or bodies of one document, and bytes of its bodies, that one slice compares: some 40 ms. */
const SCRUB_DOCUMENT_ROWS_MAX = 5000
const SCRUB_DOCUMENT_BYTES_MAX = 32 * MIB

/** @param onFindings receives the number of findings after every slice */
export function storeComparison({ lane: { store, config }, tools }: LaneWork, onFindings: (count: number) => void): Chore {
  const intervalMs = config.limits.SCRUB_INTERVAL_MS
  const restMs = Math.max(SCRUB_PAUSE_MS_MIN, intervalMs)
  let comparison: StoreComparison | undefined
  let begunAt = 0
  /** Number of findings of the previous comparison. */
  let known = 0
  const compare = (): number => {
    const begun = performance.now()
    if (comparison === undefined) {
      begunAt = begun
      comparison = newComparison(config)
    }
    const isMore = store.compare(comparison)
    const { findings } = comparison
    // Earlier findings stay reported until they are known to be gone.
    onFindings(isMore ? Math.max(known, findings.total) : findings.total)
    if (isMore) return Math.max(SCRUB_PAUSE_MS_MIN, (performance.now() - begun) * SCRUB_PAUSE_TIMES)
    logFindings(findings, known)
    threadTelemetry().add('store_comparisons', 1)
    known = findings.total
    comparison = undefined
    return Math.max(SCRUB_PAUSE_MS_MIN, begunAt + intervalMs - performance.now())
  }
  return new Chore(tools, {
    name: 'store-comparison',
    first: Math.min(SCRUB_BEGIN_MS_MAX, intervalMs),
    failure: 'the store could not be compared with itself',
    retry: { firstMs: restMs, longestMs: restMs },
    round: () => {
      try {
        return compare()
      } catch (error) {
        comparison = undefined
        throw error
      }
    },
  })
}

function newComparison({ durability }: LaneContext['config']): StoreComparison {
  return new StoreComparison({
    rowsMax: SCRUB_ROWS,
    bytesMax: SCRUB_BYTES,
    documentRowsMax: SCRUB_DOCUMENT_ROWS_MAX,
    documentBytesMax: SCRUB_DOCUMENT_BYTES_MAX,
    comparesContents: false,
    // With `async` durability, a group becomes visible after it was applied. A tally cannot determine whether
    // a slice shows the state before or after it.
    isTallyKept: durability === 'sync',
  })
}

/** Logs one line per kind. */
function logFindings(findings: Findings, known: number): void {
  if (findings.total === 0 && known > 0) log.info('store comparison: no damage found')
  for (const kind of FINDING_KINDS) {
    const count = findings.countOf(kind)
    if (count === 0) continue
    const first = findings.listed.find((finding) => finding.kind === kind)
    log.error('the store is damaged', {
      reason: `${count} ${kind}${first === undefined ? '' : `, the first: ${first.subject}: ${first.detail}`}`,
    })
  }
}
