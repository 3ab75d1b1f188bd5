/** Entries of kind `move`. Layout: docs/formats/entries/move.md. */
import { removeOnlyReference, writeBody } from '../../bodies/body_references.js'
import { HEAD_FLAGS } from '../../head.js'
import { bodyKey } from '../../rows/keys.js'
import type { ApplyTarget, EntryBase, EntryKind } from '../entry_kind.js'
import { inCollection } from '../entry_kind.js'

/** Changes the location of the body of a document's present state. The content stays the same. */
interface MoveEntry extends EntryBase {
  readonly kind: 'move'
  readonly bodyLsn: bigint
  /** Record of the object. Null: the body is stored in the env only. */
  readonly object: Buffer | null
}

/**
 * If the document has another body by now, nothing is done: the body stays where it was written.
 * @param body set if the env has to store the body from now on and did not before
 */
function apply(target: ApplyTarget, entry: MoveEntry, body: Buffer | undefined): void {
  const { environment } = target
  const { collection, docid, bodyLsn, object } = entry
  const head = target.heads.evenExpired(collection, docid)
  if (head?.bodyLsn !== bodyLsn) return
  const key = bodyKey(collection, docid, bodyLsn)
  if (object === null) target.dropObject(key)
  else target.setObject(key, object)
  if (body !== undefined) writeBody(environment, collection, key, body)
  // A revision keeps its body in the env.
  if (object !== null && (head.flags & HEAD_FLAGS.revision) === 0) removeOnlyReference(environment, key)
}

export const move: EntryKind<MoveEntry> = {
  name: 'move',
  code: 8,
  index: 'none',
  makesCollection: false,
  isCounted: false,
  keepsBody: true,
  topicOf: () => 'move',
  secrecyOf: inCollection,
  encode: ({ bodyLsn, object }) => [bodyLsn, object],
  decode: ({ lsn, collection, docid }, [bodyLsn, object]) => ({
    kind: 'move',
    lsn,
    collection,
    docid,
    bodyLsn: BigInt(bodyLsn as number | bigint),
    object: object as Buffer | null,
  }),
  check: ({ bodyLsn, object }, checks, body) => {
    checks.lsn('bodyLsn', bodyLsn)
    checks.object(object)
    checks.body(body)
  },
  apply,
}
