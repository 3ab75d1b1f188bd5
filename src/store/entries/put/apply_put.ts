/** Applies a `put`: head, body, revision, counters, expiry, identity and embedding queue. */
import { referBody, releaseBody } from '../../bodies/body_references.js'
import { createCollection } from '../../collections/collection_row.js'
import { moveExpiry } from '../../documents/expiry_rows.js'
import { writeHead } from '../../documents/heads.js'
import { readIdentity, writeIdentity, writeSpelling } from '../../documents/identities.js'
import { removeRevisionsBelow } from '../../documents/revision_removal.js'
import type { Environment } from '../../environment.js'
import type { Head } from '../../head.js'
import { decodeHead, HEAD_FLAGS } from '../../head.js'
import { trackWrite } from '../../histories/history_tables.js'
import { bodyKey, documentKey, lsnKey, revisionKey } from '../../rows/keys.js'
import { countState, uncountState } from '../../tally.js'
import type { ApplyTarget, PresentState } from '../entry_kind.js'
import type { PutEntry } from './put_entry.js'

export function applyPut(target: ApplyTarget, entry: PutEntry, body: Buffer | undefined, present?: PresentState): void {
  const { environment } = target
  const { collection, docid, lsn } = entry
  const head = decodeHead(entry.head, collection, () => `head of entry ${lsn}`)
  const old = present === undefined ? target.heads.evenExpired(collection, docid) : present.head
  const counters = target.counters(collection)
  if (docid >= counters.nextDocid) counters.nextDocid = docid + 1
  createCollection(environment, entry)

  referBody(environment, head, lsn, body)
  if (old === undefined) {
    counters.documents++
  } else {
    supersede(environment, old, lsn)
    if (old.bodyLsn !== head.bodyLsn) target.dropObject(bodyKey(collection, docid, old.bodyLsn))
    uncountState(counters, old)
  }
  if (entry.object !== null) target.setObject(bodyKey(collection, docid, head.bodyLsn), entry.object)
  if ((head.flags & HEAD_FLAGS.revision) !== 0) counters.revisions++
  countState(counters, head)
  removeRevisionsBelow(environment, target.revisions, counters, entry)

  writeHead(environment, collection, docid, entry.head)
  moveExpiry(environment, collection, docid, old?.expiresAt ?? 0, head.expiresAt)
  if (entry.wantsVectors) environment.embedQueue.put(lsnKey(lsn), documentKey(collection, docid))
  spell(environment, entry, present)
  if (target.tracksHistory) {
    const type = old === undefined ? 'create' : 'update'
    const { actor = target.author.actor } = entry
    trackWrite(environment, { collection, docid, type, second: head.updatedAt, actor })
  }
}

/**
 * Handles the state before a put. If it is a revision, its head is copied to the revisions; it was counted
 * when it was written. Otherwise its body is released.
 */
function supersede(environment: Environment, old: Head, lsn: bigint): void {
  if ((old.flags & HEAD_FLAGS.revision) !== 0) {
    environment.revisions.put(revisionKey(old.collection, old.docid, old.revision), old.record)
  } else {
    releaseBody(environment, bodyKey(old.collection, old.docid, old.bodyLsn), lsn)
  }
}

/**
 * Updates the identity row to the latest spelling. Every other spelling ever written has a row of its own.
 */
function spell(environment: Environment, { collection, docid, key, lang }: PutEntry, present: PresentState | undefined): void {
  const seal = environment.seals.of(collection)
  const known = present === undefined ? readIdentity(environment, seal, collection, key, lang) : present.identity
  if (known !== undefined && known.docid === docid) {
    if (known.key === key && known.lang === lang) return
    writeSpelling(environment, collection, docid, known.key, known.lang)
    writeSpelling(environment, collection, docid, key, lang)
  }
  writeIdentity(environment, collection, { docid, key, lang })
}
