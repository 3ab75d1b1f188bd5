/**
 * Days, weeks, months and years of histograms: UTC; weeks begin on Monday and are numbered as in ISO 8601.
 * Pure.
 */
import type { TimeInterval } from '../../engine/types.js'

const DAY_SECONDS = 86_400
/** 1970-01-05, the first Monday. */
const FIRST_MONDAY = 4 * DAY_SECONDS

/** The beginning of the bucket that contains a time. All times here are Unix seconds. */
export function bucketBegin(second: number, interval: TimeInterval): number {
  if (interval === 'day') return second - remainder(second, DAY_SECONDS)
  if (interval === 'week') return second - remainder(second - FIRST_MONDAY, 7 * DAY_SECONDS)
  const date = new Date(second * 1000)
  return utcSeconds(date.getUTCFullYear(), interval === 'year' ? 0 : date.getUTCMonth())
}

function remainder(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
}

/** @param from beginning of a bucket */
export function bucketEnd(from: number, interval: TimeInterval): number {
  if (interval === 'day') return from + DAY_SECONDS
  if (interval === 'week') return from + 7 * DAY_SECONDS
  const date = new Date(from * 1000)
  return interval === 'year' ? utcSeconds(date.getUTCFullYear() + 1, 0) : utcSeconds(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

function utcSeconds(year: number, month: number): number {
  return Date.UTC(year, month) / 1000
}

/** `2024-01-31`, `2024-W05`, `2024-01`, `2024`. @param from beginning of a bucket */
export function bucketKey(from: number, interval: TimeInterval): string {
  const date = new Date(from * 1000)
  if (interval === 'day') return date.toISOString().slice(0, 10)
  if (interval === 'month') return date.toISOString().slice(0, 7)
  if (interval === 'year') return date.toISOString().slice(0, 4)
  // A week belongs to the year of its Thursday.
  const thursday = from + 3 * DAY_SECONDS
  const year = new Date(thursday * 1000).getUTCFullYear()
  const week = Math.floor((thursday - utcSeconds(year, 0)) / (7 * DAY_SECONDS)) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}
