/** Entries of kind `setting`. Layout: docs/formats/entries/setting.md. */
import { createCollection } from '../../collections/collection_row.js'
import { holdsCredential, writeSetting } from '../../collections/stored_settings.js'
import { counterKey, isKey, lsnKey, settingKey } from '../../rows/keys.js'
import type { SettingKind } from '../../settings.js'
import { decidesAccess, SERVER_SETTINGS, SETTING_KINDS } from '../../settings.js'
import type { ApplyTarget, EntryBase, EntryKind, Fields } from '../entry_kind.js'

/** Changes a setting of a collection. docid is 0. Creates the collection when its id is new. */
export interface SettingEntry extends EntryBase {
  readonly kind: 'setting'
  readonly collectionName: string
  readonly setting: SettingKind
  /** Id of the setting if a collection has several of the kind; otherwise empty. */
  readonly id: string
  /** JSON text. Null: the setting is removed. */
  readonly value: string | null
}

function decode({ lsn, collection }: EntryBase, fields: Fields): SettingEntry {
  const [collectionName, code, id, value] = fields as [string, number, string, string | null]
  const setting = SETTING_KINDS[code]
  if (setting === undefined) throw new Error(`binlog entry ${lsn}: unknown kind of setting ${code}`)
  return { kind: 'setting', lsn, collection, docid: 0, collectionName, setting, id, value }
}

/** The stamp invalidates the readers' cached copies of the collection's settings. */
function apply({ environment }: ApplyTarget, entry: SettingEntry): void {
  const { collection, setting, id, value, lsn } = entry
  if (collection !== SERVER_SETTINGS) createCollection(environment, entry)
  writeSetting(environment, collection, setting, id, value)
  environment.collectionSettings.put(counterKey(collection), lsnKey(lsn))
}

export const setting: EntryKind<SettingEntry> = {
  name: 'setting',
  code: 4,
  // Searches read settings from the store.
  index: 'none',
  makesCollection: true,
  isCounted: false,
  keepsBody: true,
  topicOf: (entry) => `setting/${entry.setting}`,
  secrecyOf: (entry) => (holdsCredential(entry.setting, entry.value) ? 'server' : 'collection'),
  encode: (entry) => [entry.collectionName, SETTING_KINDS.indexOf(entry.setting), entry.id, entry.value],
  decode,
  addEffects: (entry, effects) => {
    if (decidesAccess(entry.setting)) effects.isAccessChanged = true
  },
  check: (entry, checks) => {
    if (entry.collection !== SERVER_SETTINGS) checks.collectionName(entry.collectionName)
    const isText = typeof entry.id === 'string'
    checks.holds(isText && isKey(settingKey(entry.collection, SETTING_KINDS.indexOf(entry.setting), entry.id)), 'id')
    checks.holds(entry.value === null || typeof entry.value === 'string', 'value')
  },
  apply,
}
