/**
 * The differences between two sets of metadata, key by key. The order of values is significant, because it is
 * part of the stored data. Pure.
 */

type Meta = Readonly<Record<string, readonly string[]>>

interface MetadataDiff {
  readonly added: Meta
  readonly removed: Meta
  readonly changed: Readonly<Record<string, { readonly from: readonly string[]; readonly to: readonly string[] }>>
}

export function metadataDiff(from: Meta, to: Meta): MetadataDiff {
  const only = (of: Meta, other: Meta): Meta => Object.fromEntries(Object.entries(of).filter(([key]) => !Object.hasOwn(other, key)))
  const both = Object.entries(from).flatMap(([key, values]) => {
    const others = Object.hasOwn(to, key) ? to[key] : undefined
    return others === undefined || JSON.stringify(values) === JSON.stringify(others) ? [] : [[key, { from: values, to: others }] as const]
  })
  return { added: only(to, from), removed: only(from, to), changed: Object.fromEntries(both) }
}
