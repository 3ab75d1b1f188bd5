/**
 * Requests for histories, leaderboards and histograms of events, and the answers built from stored records.
 * Rules: http.md, section 4; events.md, section 7; docs/decisions/documents/histories.md. Pure.
 */
import type { TimeInterval } from '../../engine/types.js'
import { badRequest } from '../../errors.js'
import { UNIX_SECONDS_MAX } from '../../limits/store.js'
import type { EventGroup, EventType, History } from '../../store/histories/history.js'
import { EVENT_TYPES } from '../../store/histories/history.js'
import type { CollectionConfig } from '../settings/collection_config.js'
import { bucketBegin, bucketEnd, bucketKey } from './time_buckets.js'

/**
 * Days that counts by minute are kept: a year and the period compared with it. 400 x 1 440 x 3 types x 25 B
 * are 43 MB of a collection that is never idle.
 */
const EVENT_MINUTES_DAYS_KEPT = 400
/** Default period before now. */
const EVENTS_SECONDS_DEFAULT = 30 * 86_400
/** Buckets of one histogram. There are no counts for more days than are kept. */
const EVENT_BUCKETS_MAX = 1000
/** Default and maximum number of entries of a leaderboard. */
const HOT_DOCUMENTS_DEFAULT = 10
const HOT_DOCUMENTS_MAX = 1000

type Absent = null | undefined

/** Unix seconds; `end` is exclusive. */
interface TimeRange {
  readonly begin: number
  readonly end: number
}

/**
 * Which reads of a collection are tracked: `trackAccess` records each, `trackHot` counts them. `trackAccess`
 * includes the leaderboard, unless `trackHot` is false.
 */
export function trackingOf({ trackAccess = false, trackHot = trackAccess }: CollectionConfig): {
  readonly tracked: boolean
  readonly hot: boolean
} {
  return { tracked: trackAccess, hot: trackHot }
}

/** Default: the last 30 days, including the current second. */
export function readTimeRange(from: number | Absent, to: number | Absent, now: number): TimeRange {
  const end = readSecond('to', to ?? now + 1)
  // With a clock in January 1970, the default begin would be negative.
  return { begin: readSecond('from', from ?? Math.max(0, now - EVENTS_SECONDS_DEFAULT)), end }
}

function readSecond(field: string, second: number): number {
  if (!Number.isSafeInteger(second) || second < 0) throw badRequest(`invalid ${field}: unix seconds are expected`)
  // The last second of records is in the year 2106. An exclusive end is one second later.
  return Math.min(second, UNIX_SECONDS_MAX + 1)
}

export function readEventType(type: string | Absent): EventType | undefined {
  if (type === undefined || type === null || type === '') return undefined
  const known = EVENT_TYPES.find((name) => name === type)
  if (known === undefined) throw badRequest(`invalid eventType: must be ${EVENT_TYPES.join(', ').replace(/, (\w+)$/, ', or $1')}`)
  return known
}

export function readInterval(interval: string | Absent): TimeInterval {
  const known = (['day', 'week', 'month'] as const).find((name) => name === (interval ?? 'day'))
  if (known === undefined) throw badRequest('invalid interval: must be day, week, or month')
  return known
}

export function readTopN(topN: number | Absent): number {
  const wanted = topN ?? 0
  if (!Number.isInteger(wanted) || wanted < 0) throw badRequest('invalid topN')
  return wanted === 0 ? HOT_DOCUMENTS_DEFAULT : Math.min(wanted, HOT_DOCUMENTS_MAX)
}

/**
 * Groups of one document's events in a range, by time. Groups of the same second are in the order of the
 * document's life: writes before accesses.
 */
export function eventsOf({ writes, accesses }: History, type: EventType | undefined, { begin, end }: TimeRange): EventGroup[] {
  return [...writes, ...accesses]
    .filter((group) => (type === undefined || group.type === type) && group.second >= begin && group.second < end)
    .sort((one, other) => one.second - other.second)
}

interface EventBucket {
  readonly label: string
  readonly from: number
  readonly to: number
  readonly count: number
}

/**
 * The retained minutes that a histogram has to count: whole minutes, from that of `begin` to that of the last
 * second.
 */
export function minutesIn({ begin, end }: TimeRange, now: number): TimeRange {
  return { begin: Math.max(Math.floor(begin / 60), oldestMinute(now)), end: Math.ceil(end / 60) }
}

/** The first Unix minute for which counts are retained. */
export function oldestMinute(now: number): number {
  return Math.max(0, Math.floor(now / 60) - EVENT_MINUTES_DAYS_KEPT * 1440)
}

/** @param minutes ascending */
export function bucketsOf(minutes: Iterable<readonly [minute: number, count: number]>, interval: TimeInterval): EventBucket[] {
  const buckets: EventBucket[] = []
  for (const [minute, count] of minutes) {
    const last = buckets.at(-1)
    if (last !== undefined && minute * 60 < last.to) {
      buckets[buckets.length - 1] = { ...last, count: last.count + count }
      continue
    }
    if (buckets.length === EVENT_BUCKETS_MAX) break
    const from = bucketBegin(minute * 60, interval)
    buckets.push({ label: bucketKey(from, interval), from, to: bucketEnd(from, interval), count })
  }
  return buckets
}
