/** Entries of kind `put`: a new state of a document. Layout: docs/formats/entries/put.md. */
import { revisionOfRecord, updatedAtOfRecord } from '../../head.js'
import { changeBy } from '../document_change.js'
import type { EntryBase, EntryKind, Fields } from '../entry_kind.js'
import { inCollection } from '../entry_kind.js'
import { applyPut } from './apply_put.js'
import type { PutEntry } from './put_entry.js'

function decode({ lsn, collection, docid }: EntryBase, fields: Fields): PutEntry {
  return {
    kind: 'put',
    lsn,
    collection,
    docid,
    collectionName: fields[0] as string,
    key: fields[1] as string,
    lang: fields[2] as string,
    head: fields[3] as Buffer,
    trimBelow: fields[4] as number,
    object: fields[5] as Buffer | null,
    wantsVectors: fields[6] as boolean,
    ...(fields[7] === undefined ? {} : { at: fields[7] as number }),
  }
}

export const put: EntryKind<PutEntry> = {
  name: 'put',
  code: 0,
  index: 'document',
  makesCollection: true,
  isCounted: true,
  keepsBody: true,
  // The document had at least two states before, so one of them may be stored as a delta of the other.
  isMarked: ({ head }) => revisionOfRecord(head) > 2,
  stateOf: ({ head }) => head,
  changeOf: (entry) => {
    const { collectionName, key, lang, head, at = updatedAtOfRecord(head) } = entry
    const revision = revisionOfRecord(head)
    return changeBy(entry, { type: revision === 1 ? 'insert' : 'update', collectionName, key, lang, revision, timestamp: at })
  },
  secrecyOf: inCollection,
  encode: ({ collectionName, key, lang, head, trimBelow, object, wantsVectors, at }) => {
    const fields = [collectionName, key, lang, head, trimBelow, object, wantsVectors]
    return at === undefined ? fields : [...fields, at]
  },
  decode,
  check: (entry, checks, body) => {
    checks.collectionName(entry.collectionName)
    checks.identity(entry.key, entry.lang)
    checks.head(entry.head)
    checks.whole('trimBelow', entry.trimBelow)
    checks.object(entry.object)
    if (entry.at !== undefined) checks.whole('at', entry.at)
    checks.body(body)
  },
  apply: applyPut,
  addEffects: ({ wantsVectors, collection, docid, lsn }, effects) => {
    if (wantsVectors) effects.queued.push({ collection, docid, queued: Number(lsn), force: false })
  },
}
