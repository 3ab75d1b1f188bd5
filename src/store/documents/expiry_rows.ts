/**
 * Which documents are due. Not checked: whoever deletes one looks first whether it expires at just that time.
 */
import type { Mark } from './document_cache.js'
import type { Environment } from '../environment.js'
import { expiryKey, parseExpiryKey } from '../keys.js'
import type { ExpiryRow } from '../keys.js'

const NOTHING = Buffer.alloc(0)

/**
 * Soonest first, at most `count`.
 * @param now unix seconds
 * @param mark where the soonest expiry of the snapshot is kept; undefined: inside a transaction
 */
export function dueRows({ expiries }: Environment, now: number, count: number, mark: Mark | undefined): ExpiryRow[] {
  if (mark !== undefined) {
    mark.soonestExpiry ??= soonestOf(expiries.getKeys({ limit: 1 }))
    if (mark.soonestExpiry > now) return []
  }
  return [...expiries.getKeys({ end: expiryKey(now + 1, 0, 0), limit: count })].map(parseExpiryKey)
}

/** @param before of the document's head until now, unix seconds, 0: none @param after of its new one */
export function moveExpiry(environment: Environment, collection: number, docid: number, before: number, after: number): void {
  if (before === after) return
  if (before > 0) environment.expiries.remove(expiryKey(before, collection, docid))
  if (after > 0) environment.expiries.put(expiryKey(after, collection, docid), NOTHING)
}

function soonestOf(keys: Iterable<Buffer>): number {
  const [first] = [...keys]
  return first === undefined ? Number.POSITIVE_INFINITY : parseExpiryKey(first).expiresAt
}
