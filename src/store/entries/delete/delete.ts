/** Entries of kind `delete`. Layout: docs/formats/entries/delete.md. */
import { moveExpiry } from '../../documents/expiry_rows.js'
import { removeIdentity, removeSpellings } from '../../documents/identities.js'
import { HEAD_FLAGS } from '../../head.js'
import { forgetHistory } from '../../histories/history_tables.js'
import { bodiesWithObjects } from '../../objects.js'
import { documentKey, garbageKey, prefixEnd } from '../../rows/keys.js'
import { uncountState } from '../../tally.js'
import { forgetVectors } from '../../vectors/vector_tables.js'
import { changeBy } from '../document_change.js'
import type { ApplyTarget, EntryBase, EntryKind } from '../entry_kind.js'
import { inCollection } from '../entry_kind.js'

/** Deletes a document with its revisions and spellings. */
interface DeleteEntry extends EntryBase {
  readonly kind: 'delete'
  readonly key: string
  readonly lang: string
  /** Empty if the row of the collection was damaged. */
  readonly collectionName: string
  /** Unix seconds. Undefined in entries written before it was stored. */
  readonly at?: number
}

const NOTHING = Buffer.alloc(0)

function apply(target: ApplyTarget, entry: DeleteEntry): void {
  const { environment } = target
  const { collection, docid, lsn } = entry
  const head = target.heads.evenExpired(collection, docid)
  if (head === undefined) return
  const counters = target.counters(collection)
  const prefix = documentKey(collection, docid)
  const range = { start: prefix, end: prefixEnd(prefix) }
  counters.documents--
  if ((head.flags & HEAD_FLAGS.revision) !== 0) counters.revisions--
  uncountState(counters, head)
  environment.heads.remove(prefix)
  for (const key of [...environment.revisions.getKeys(range)]) {
    counters.revisions--
    environment.revisions.remove(key)
  }
  for (const key of [...environment.bodies.getKeys(range)]) environment.garbage.put(garbageKey(lsn, key), NOTHING)
  for (const key of [...environment.bodyCounts.getKeys(range)]) environment.bodyCounts.remove(key)
  for (const key of bodiesWithObjects(environment, prefix)) target.dropObject(key)
  removeSpellings(environment, collection, docid)
  removeIdentity(environment, collection, { docid, key: entry.key, lang: entry.lang })
  moveExpiry(environment, collection, docid, head.expiresAt, 0)
  forgetHistory(environment, collection, docid)
  forgetVectors(environment, collection, docid)
}

export const deletion: EntryKind<DeleteEntry> = {
  name: 'delete',
  code: 2,
  index: 'document',
  makesCollection: false,
  isCounted: true,
  keepsBody: true,
  changeOf: (entry) => {
    const { collectionName, key, lang, at } = entry
    return changeBy(entry, { type: 'delete', collectionName, key, lang, revision: 0, timestamp: at })
  },
  secrecyOf: inCollection,
  encode: ({ key, lang, collectionName, at }) => [key, lang, collectionName, ...(at === undefined ? [] : [at])],
  decode: ({ lsn, collection, docid }, [key, lang, collectionName, at]) => ({
    kind: 'delete',
    lsn,
    collection,
    docid,
    key: key as string,
    lang: lang as string,
    collectionName: collectionName as string,
    ...(at === undefined ? {} : { at: at as number }),
  }),
  check: ({ key, lang, collectionName, at }, checks) => {
    checks.identity(key, lang)
    if (at !== undefined) checks.whole('at', at)
    if (collectionName !== '') checks.collectionName(collectionName)
  },
  apply,
}
