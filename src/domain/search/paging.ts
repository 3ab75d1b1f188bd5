/**
 * Reads `limit` and `offset`, by the same rules for every listing and search. Decision:
 * docs/decisions/interfaces/http-conventions.md.
 */
import { serviceError } from '../../errors.js'
import { LIMIT_MAX } from '../../limits/search.js'

/** Default `limit`. */
const LIMIT_DEFAULT = 50

type Absent = null | undefined

/** Absent or 0: the default, which a collection may set. Negative or fractional: 400. Too large: clamped. */
export function readLimit(limit: number | Absent, fallback = LIMIT_DEFAULT): number {
  const wanted = limit ?? 0
  if (!Number.isInteger(wanted) || wanted < 0) throw serviceError('invalidLimit')
  return wanted === 0 ? fallback : Math.min(wanted, LIMIT_MAX)
}

export function readOffset(offset: number | Absent): number {
  const wanted = offset ?? 0
  if (!Number.isInteger(wanted) || wanted < 0) throw serviceError('invalidOffset')
  return wanted
}
