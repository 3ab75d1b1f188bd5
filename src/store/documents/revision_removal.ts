/** Removes superseded states of a document. Runs inside the write transaction. */
import { releaseBody } from '../bodies/body_references.js'
import type { CollectionCounters } from '../counters.js'
import type { Environment } from '../environment.js'
import { bodyKey, revisionKey } from '../rows/keys.js'
import type { RevisionView } from './revisions.js'

/** The fields of an entry that say which states to remove. */
interface Trimming {
  readonly lsn: bigint
  readonly collection: number
  readonly docid: number
  /** 0: none. */
  readonly trimBelow: number
}

/** Removes states with their references to bodies. Their number was bounded when the entry was decided. */
export function removeRevisionsBelow(
  environment: Environment,
  revisions: RevisionView,
  counters: CollectionCounters,
  { collection, docid, trimBelow, lsn }: Trimming,
): void {
  if (trimBelow === 0) return
  for (const { revision, bodyLsn } of revisions.below(collection, docid, trimBelow)) {
    // A damaged row names no body. The row is removed anyway; the body is removed with the document.
    if (bodyLsn !== undefined) releaseBody(environment, bodyKey(collection, docid, bodyLsn), lsn)
    environment.revisions.remove(revisionKey(collection, docid, revision))
    counters.revisions--
  }
}
