/**
 * Whether documents may be missing from the index because an object store did not answer when it was built.
 * Set, and on disk, before the index is said to be complete up to an LSN; removed when nothing is missing any
 * more. Any thread reads; the write lane writes. Layout: docs/formats/truth-env.md.
 */
import type { Environment } from './environment.js'

const INCOMPLETE_KEY = Buffer.from('unindexed')

export function isIndexIncomplete({ settings }: Environment): boolean {
  return settings.doesExist(INCOMPLETE_KEY)
}

/** Inside a write transaction. */
export function markIndex({ settings }: Environment, isIncomplete: boolean): void {
  if (isIncomplete) settings.put(INCOMPLETE_KEY, Buffer.from([1]))
  else settings.remove(INCOMPLETE_KEY)
}
