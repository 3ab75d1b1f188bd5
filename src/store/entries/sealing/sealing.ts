/** Entries of kind `sealing`. Layout: docs/formats/entries/sealing.md. */
import { createCollection } from '../../collections/collection_row.js'
import { changeSealing } from '../../collections/sealing_change.js'
import type { ApplyTarget, EntryBase, EntryKind, Fields } from '../entry_kind.js'
import { neverSealed } from '../entry_kind.js'

/**
 * Switches the sealing of a collection on or off for subsequent writes. docid is 0. Creates the collection
 * when its id is new.
 */
interface SealingEntry extends EntryBase {
  readonly kind: 'sealing'
  readonly collectionName: string
  readonly isSealed: boolean
  /** Salt of the collection's keys, used if the collection has none yet. */
  readonly salt: Buffer
}

function decode({ lsn, collection }: EntryBase, fields: Fields): SealingEntry {
  const [collectionName, isSealed, salt] = fields as [string, boolean, Buffer]
  return { kind: 'sealing', lsn, collection, docid: 0, collectionName, isSealed, salt }
}

function apply({ environment }: ApplyTarget, entry: SealingEntry): void {
  createCollection(environment, entry)
  changeSealing(environment, entry)
}

export const sealing: EntryKind<SealingEntry> = {
  name: 'sealing',
  code: 6,
  index: 'none',
  makesCollection: true,
  isCounted: false,
  keepsBody: true,
  topicOf: () => 'sealing',
  secrecyOf: neverSealed,
  encode: ({ collectionName, isSealed, salt }) => [collectionName, isSealed, salt],
  decode,
  check: ({ collectionName }, checks) => checks.collectionName(collectionName),
  apply,
  addEffects: ({ collection, isSealed }, effects) => effects.sealings.push({ collection, isSealed }),
}
