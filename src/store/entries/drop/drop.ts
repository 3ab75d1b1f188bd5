/** Entries of kind `drop`. Layout: docs/formats/entries/drop.md. */
import { removeCollection } from '../../collections/collection_row.js'
import { counterKey, lsnKey } from '../../rows/keys.js'
import { changeBy } from '../document_change.js'
import type { ApplyTarget, EntryBase, EntryKind } from '../entry_kind.js'
import { neverSealed } from '../entry_kind.js'

/** Deletes a collection. docid is 0. */
interface DropEntry extends EntryBase {
  readonly kind: 'drop'
  readonly collectionName: string
  /** Undefined in entries written before it was stored. */
  readonly deleted?: Deleted
}

interface Deleted {
  /** Documents of the collection, those included that had expired and were still stored. */
  readonly documents: number
  /** Unix seconds. */
  readonly at: number
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
  // One change, however many documents there were.
  changeOf: (entry) => {
    const { collectionName, deleted } = entry
    const count = deleted === undefined ? {} : { deletedCount: deleted.documents }
    return changeBy(entry, { type: 'delete', collectionName, key: '', lang: '', revision: 0, timestamp: deleted?.at, ...count })
  },
  secrecyOf: neverSealed,
  encode: ({ collectionName, deleted }) => [collectionName, ...(deleted === undefined ? [] : [deleted.documents, deleted.at])],
  decode: ({ lsn, collection }, [name, documents, at]) => ({
    kind: 'drop',
    lsn,
    collection,
    docid: 0,
    collectionName: name as string,
    ...(documents === undefined ? {} : { deleted: { documents: documents as number, at: at as number } }),
  }),
  check: ({ collectionName, deleted }, checks) => {
    checks.collectionName(collectionName)
    if (deleted === undefined) return
    checks.whole('documents', deleted.documents)
    checks.whole('at', deleted.at)
  },
  apply,
}
