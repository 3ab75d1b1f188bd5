/**
 * Rows of documents by expiry. The rows are not verified here: before deleting a document, the caller checks
 * that it expires at exactly the time of the row.
 */
import type { Environment } from '../environment.js'
import type { ExpiryRow } from '../rows/keys.js'
import { expiryKey, parseExpiryKey } from '../rows/keys.js'
import type { Mark } from './document_cache.js'

const NOTHING = Buffer.alloc(0)

/**
 * The rows that are due, soonest first, at most `count`.
 * @param now unix seconds
 * @param mark caches the soonest expiry of the snapshot; undefined: inside a transaction
 */
export function dueRows({ expiries }: Environment, now: number, count: number, mark: Mark | undefined): ExpiryRow[] {
  if (mark !== undefined && soonestExpiry({ expiries }, mark) > now) return []
  return [...expiries.getKeys({ end: expiryKey(now + 1, 0, 0), limit: count })].map(parseExpiryKey)
}

/**
 * Unix seconds of the soonest expiry; Infinity: no document expires.
 * @param mark as of `dueRows`
 */
export function soonestExpiry({ expiries }: Pick<Environment, 'expiries'>, mark: Mark | undefined): number {
  if (mark === undefined) return soonestOf(expiries.getKeys({ limit: 1 }))
  return (mark.soonestExpiry ??= soonestOf(expiries.getKeys({ limit: 1 })))
}

/**
 * @param before expiry of the document's previous head, unix seconds; 0: none
 * @param after expiry of the new head
 */
export function moveExpiry(environment: Environment, collection: number, docid: number, before: number, after: number): void {
  if (before === after) return
  if (before > 0) environment.expiries.remove(expiryKey(before, collection, docid))
  if (after > 0) environment.expiries.put(expiryKey(after, collection, docid), NOTHING)
}

function soonestOf(keys: Iterable<Buffer>): number {
  const [first] = [...keys]
  return first === undefined ? Number.POSITIVE_INFINITY : parseExpiryKey(first).expiresAt
}
