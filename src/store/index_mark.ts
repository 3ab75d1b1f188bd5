/**
 * The mark that documents may be missing from the index because an object store did not answer when the index
 * was built. It is set and on disk before the index is declared complete up to an LSN. It is removed when
 * nothing is missing any more. Any thread reads; the write lane writes. Layout: docs/formats/truth-env.md.
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
