/** Entries of kind `drop`. Layout: docs/formats/entries/drop.md. */
import { removeCollection } from '../../collections/collection_row.js'
import { counterKey, lsnKey } from '../../rows/keys.js'
import type { ApplyTarget, EntryBase, EntryKind } from '../entry_kind.js'
import { neverSealed } from '../entry_kind.js'

/** Deletes a collection. docid is 0. */
interface DropEntry extends EntryBase {
  readonly kind: 'drop'
  readonly collectionName: string
}

/** The collection is deleted immediately. Its rows are removed later, in slices (collections/purging.ts). */
function apply(target: ApplyTarget, entry: DropEntry): void {
  const { environment } = target
  removeCollection(environment, entry)
  environment.retired.put(counterKey(entry.collection), lsnKey(entry.lsn))
  // The keys are derived from the salt. Without it, no copy of the sealed data can be opened.
  environment.sealings.remove(counterKey(entry.collection))
  target.forgetCounters(entry.collection)
}

export const drop: EntryKind<DropEntry> = {
  name: 'drop',
  code: 3,
  index: 'collection',
  makesCollection: false,
  isCounted: false,
  keepsBody: true,
  topicOf: () => 'drop',
  secrecyOf: neverSealed,
  encode: ({ collectionName }) => [collectionName],
  decode: ({ lsn, collection }, [name]) => ({ kind: 'drop', lsn, collection, docid: 0, collectionName: name as string }),
  check: ({ collectionName }, checks) => checks.collectionName(collectionName),
  apply,
}
