/** Where the bodies of present states lie, as entries say: in the env, in a storage backend, or in both. Inside the write transaction only. */
import type { WriteTransaction } from './apply.js'
import { removeOnlyReference, retainBody, writeBody } from './body_references.js'
import type { PlaceEntry } from './entry.js'
import type { Environment } from './environment.js'
import { HEAD_FLAGS } from './head.js'
import type { Head } from './head.js'
import { bodyKey } from './keys.js'

/** @param body undefined: that of another state, or one that lies elsewhere only */
export function referBody(environment: Environment, head: Head, lsn: bigint, body: Buffer | undefined): void {
  const key = bodyKey(head.collection, head.docid, head.bodyLsn)
  if (body !== undefined) writeBody(environment, head.collection, key, body)
  // Else its own body, which has an object only.
  else if (head.bodyLsn !== lsn) retainBody(environment, key)
}

/** Where the document has moved on since, its body lies where it was written. @param body what the env has to hold from now on, where it did not */
export function applyPlace(environment: Environment, transaction: WriteTransaction, entry: PlaceEntry, body: Buffer | undefined): void {
  const { collection, docid, bodyLsn, object } = entry
  const head = transaction.view.headEvenExpired(collection, docid)
  if (head?.bodyLsn !== bodyLsn) return
  const key = bodyKey(collection, docid, bodyLsn)
  if (object === null) transaction.dropObject(key)
  else transaction.setObject(key, object)
  if (body !== undefined) writeBody(environment, collection, key, body)
  // A revision keeps its body here.
  if (object !== null && (head.flags & HEAD_FLAGS.revision) === 0) removeOnlyReference(environment, key)
}
