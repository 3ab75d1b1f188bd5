/**
 * Pages of lists. A cursor says where the next page begins, and is opaque to clients. Lists do not change
 * while the server runs, so a cursor stays valid. Pure.
 */

interface Page {
  readonly items: readonly object[]
  /** Undefined: the page is the last one. */
  readonly nextCursor: string | undefined
}

const CURSOR = /^at:(\d{1,9})$/

/** @returns null for a cursor that the server has not made */
export function pageOf(items: readonly object[], cursor: unknown, itemsMax: number): Page | null {
  const begin = cursor === undefined ? 0 : beginOf(cursor)
  if (begin === null || (begin > 0 && begin >= items.length)) return null
  const end = begin + itemsMax
  return { items: items.slice(begin, end), nextCursor: end < items.length ? cursorAt(end) : undefined }
}

function cursorAt(position: number): string {
  return Buffer.from(`at:${position}`).toString('base64url')
}

function beginOf(cursor: unknown): number | null {
  if (typeof cursor !== 'string') return null
  const found = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  return found === null ? null : Number(found[1])
}
