/**
 * A kind of binlog entries that exists only in tests: a setting whose text `plain` is stored as `remarked`.
 */
import type { EntryBase, EntryKind } from '../../src/store/entries/entry_kind.js'
import { setting, type SettingEntry } from '../../src/store/entries/setting/setting.js'
import type { Edit } from './scratch_copy.js'

export const REMARK_CODE = 63

interface RemarkEntry extends EntryBase, Omit<SettingEntry, 'kind'> {
  readonly kind: 'remark'
}

const asSetting = (entry: RemarkEntry): SettingEntry => ({ ...entry, kind: 'setting' })

export const remark: EntryKind<RemarkEntry> = {
  name: 'remark',
  code: REMARK_CODE,
  index: setting.index,
  makesCollection: true,
  isCounted: false,
  keepsBody: true,
  topicOf: ({ setting: kind }) => `setting/${kind}`,
  secrecyOf: (entry) => setting.secrecyOf(asSetting(entry)),
  encode: (entry) => setting.encode(asSetting(entry)),
  decode: (base, fields) => ({ ...setting.decode(base, fields), kind: 'remark' }),
  check: (entry, checks, undefined) => setting.check(asSetting(entry), checks, undefined),
  apply: (target, entry, body) => {
    const value = entry.value?.replace('plain', 'remarked') ?? null
    setting.apply(target, { ...asSetting(entry), value }, body)
  },
}

/** The edits that the recipe requires: the import and the line in the list. */
export const KIND_EDITS: readonly Edit[] = [
  {
    file: 'src/store/entries/kinds.ts',
    find: "import { put } from './put/put.js'\n",
    replace: "import { put } from './put/put.js'\nimport { remark } from '../../../test/harness/remark_entry.js'\n",
  },
  { file: 'src/store/entries/kinds.ts', find: ', deliveries] as const', replace: ', deliveries, remark] as const' },
]
