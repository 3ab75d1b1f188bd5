/**
 * Completes heads that a version before format 4 of the env wrote: they get their content hash, with which
 * the sums of their collection cover them. The hash depends on the content alone, so it is computed outside
 * of the write transaction (worker/background/hash_upgrade.ts). Layout: docs/formats/truth-env.md.
 */
import type { ApplyTarget } from './entries/entry_kind.js'
import { encodeHead, textOfHead } from './head.js'
import { countState, uncountState } from './tally.js'
import { writeHead } from './documents/heads.js'

export interface HashedDocument {
  readonly docid: number
  /** Number of the state whose content was hashed. */
  readonly revision: number
  readonly contentHash: bigint
}

/** Does nothing if the document is gone or was written since: it has its hash then. */
export function setContentHash(target: ApplyTarget, collection: number, { docid, revision, contentHash }: HashedDocument): void {
  const head = target.heads.evenExpired(collection, docid)
  if (head?.revision !== revision || head.contentHash !== undefined) return
  const hashed = { ...head, contentHash }
  const counters = target.counters(collection)
  uncountState(counters, head)
  countState(counters, hashed)
  writeHead(target.environment, collection, docid, encodeHead(hashed, textOfHead(head)))
}
