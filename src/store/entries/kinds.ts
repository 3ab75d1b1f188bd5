/** The registry of all kinds of binlog entries. A new kind needs one line in `KINDS`. */
import { deletion } from './delete/delete.js'
import { deliveries } from './deliveries/deliveries.js'
import { drop } from './drop/drop.js'
import type { EntryBase, EntryKind } from './entry_kind.js'
import { expiry } from './expiry/expiry.js'
import { job } from './job/job.js'
import { move } from './move/move.js'
import { put } from './put/put.js'
import { sealing } from './sealing/sealing.js'
import { setting } from './setting/setting.js'
import { trim } from './trim/trim.js'
import { vectors } from './vectors/vectors.js'

const KINDS = [put, expiry, deletion, drop, setting, job, sealing, trim, move, vectors, deliveries] as const

type EntryOf<K> = K extends EntryKind<infer E> ? E : never
export type Entry = EntryOf<(typeof KINDS)[number]>

/** The kind of an entry whose type is known only by name. */
export type AnyKind = EntryKind<EntryBase & { readonly kind: string }>

const byCode: (AnyKind | undefined)[] = []
const byName = new Map<string, AnyKind>()
for (const kind of KINDS as readonly unknown[] as readonly AnyKind[]) {
  byCode[kind.code] = kind
  byName.set(kind.name, kind)
}

/** Undefined for a code that this version does not know. */
export function kindOfCode(code: number): AnyKind | undefined {
  return byCode[code]
}

export function kindOf(entry: { readonly kind: string }): AnyKind {
  return byName.get(entry.kind) as AnyKind
}
