/**
 * Superseded states of a document by their numbers: how many there are, and which. Layout:
 * docs/formats/truth-env.md.
 */
import type { Environment } from './environment.js'
import type { Head } from './head.js'
import { documentKey, prefixEnd, revisionKey, revisionOfKey } from './keys.js'
import { CorruptRecord } from './record.js'

export interface RevisionRow {
  readonly revision: number
  /** Undefined where the row is damaged. */
  readonly bodyLsn: bigint | undefined
}

/** Those below `below`, ascending. @param open decodes a row */
export function revisionsBelow(
  { revisions }: Environment,
  collection: number,
  docid: number,
  below: number,
  open: (record: Buffer) => Head,
): RevisionRow[] {
  const range = { start: documentKey(collection, docid), end: revisionKey(collection, docid, below) }
  return [...revisions.getRange(range)].map(({ key, value }) => {
    try {
      return { revision: revisionOfKey(key), bodyLsn: open(value).bodyLsn }
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error
      return { revision: revisionOfKey(key), bodyLsn: undefined }
    }
  })
}

export function countRevisions({ revisions }: Environment, collection: number, docid: number): number {
  const prefix = documentKey(collection, docid)
  return revisions.getKeysCount({ start: prefix, end: prefixEnd(prefix) })
}

/** Number of the one that has `older` others before it; undefined when there are not so many. */
export function revisionAfter({ revisions }: Environment, collection: number, docid: number, older: number): number | undefined {
  const prefix = documentKey(collection, docid)
  const [key] = [...revisions.getKeys({ start: prefix, end: prefixEnd(prefix), offset: older, limit: 1 })]
  return key === undefined ? undefined : revisionOfKey(key)
}
