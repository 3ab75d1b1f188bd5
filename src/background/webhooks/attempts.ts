/** When a delivery is tried again, and when it is given up. Pure. */

/** Waits of the first attempts, from the first one: those of the contract. */
const FIRST_MS = [0, 1_000, 5_000, 15_000] as const
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Waits of the further ones, each from the attempt before: a receiver may be away over a weekend's day. */
const LATER_MS = [1, 5, 15, 60, 120, 240, 360, 360].map((minutes) => minutes * MINUTE_MS)
/** Of a later wait, in both directions: receivers that come back are not asked for everything at once. */
const JITTER = 0.1
export const ATTEMPTS_MAX = FIRST_MS.length + LATER_MS.length
/** The longest of the waits, with its jitter. */
export const WAIT_MS_MAX = 6 * HOUR_MS * (1 + JITTER)

/**
 * @param attempts made so far, at least one
 * @param firstAt time of the first of them, in milliseconds, if it is known; else of the last
 * @param random from 0 to 1
 * @returns milliseconds of the same clock; undefined: it is given up
 */
export function nextAttemptAt(attempts: number, firstAt: number | undefined, lastAt: number, random: number): number | undefined {
  const first = FIRST_MS[attempts]
  if (first !== undefined) return firstAt === undefined ? lastAt + first - (FIRST_MS[attempts - 1] ?? 0) : Math.max(firstAt + first, lastAt)
  const later = LATER_MS[attempts - FIRST_MS.length]
  return later === undefined ? undefined : lastAt + later * (1 + JITTER * (2 * random - 1))
}
