/**
 * Removes superseded states of a document, and takes a state out of the counters. Inside the write
 * transaction.
 */
import { releaseBody } from '../bodies/body_references.js'
import type { CollectionCounters } from '../counters.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import { bodyKey, revisionKey } from '../keys.js'
import type { RevisionView } from './revisions.js'

/** What an entry says of the states to remove. */
interface Trimming {
  readonly lsn: bigint
  readonly collection: number
  readonly docid: number
  /** 0: none. */
  readonly trimBelow: number
}

/** With their references to bodies. How many there are was bounded when the entry was decided. */
export function removeRevisionsBelow(
  environment: Environment,
  revisions: RevisionView,
  counters: CollectionCounters,
  { collection, docid, trimBelow, lsn }: Trimming,
): void {
  if (trimBelow === 0) return
  for (const { revision, bodyLsn } of revisions.below(collection, docid, trimBelow)) {
    // A damaged row names no body: it goes all the same, and the body goes with the document.
    if (bodyLsn !== undefined) releaseBody(environment, bodyKey(collection, docid, bodyLsn), lsn)
    environment.revisions.remove(revisionKey(collection, docid, revision))
    counters.revisions--
  }
}

/** The state is not the present one any more. */
export function uncount(counters: CollectionCounters, head: Head): void {
  counters.metaTriples -= head.metaTriples
  counters.checksum = (counters.checksum ^ head.contentHash) >>> 0
}
