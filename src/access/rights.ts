/**
 * What a user may do: server administrator or not, and permissions on collections, its own and those of its
 * groups together. An operation is permitted if any of them permits it: on the collection, or on `*`, which
 * does not include the collections of conversational memory. Pure; any thread. Look-up order: service-2,
 * "Authentication".
 */
import { isOfMemory } from '../operations/memory/memory_collections.js'
import { ALL_COLLECTIONS } from '../operations/row/collection_access.js'
import { lowerCase } from '../operations/row/lower_case.js'

export type CollectionPermission = 'read' | 'write' | 'admin'

/** The permissions of a user or a group on one collection. */
export interface Grant {
  readonly read: boolean
  readonly write: boolean
  readonly admin: boolean
}

/** A grant as stored, with the collection as the administrator spelled it. */
interface NamedGrant extends Grant {
  readonly collection: string
}

/** Grants by the lower-cased name of the collection, or `*`. */
export type Grants = Readonly<Record<string, NamedGrant>>

/** `Rights` in the form in which they cross threads: bits by collection. */
export interface PlainRights {
  readonly isAdmin: boolean
  readonly grants: readonly (readonly [collection: string, bits: number])[]
}

const BITS = { read: 1, write: 2, admin: 4 } as const
const ALL_BITS = BITS.read | BITS.write | BITS.admin

export class Rights {
  readonly #grants: ReadonlyMap<string, number>

  constructor(readonly plain: PlainRights) {
    this.#grants = new Map(plain.grants)
  }

  /** Whether the user may do everything. */
  get isAdmin(): boolean {
    return this.plain.isAdmin
  }

  /** @param collection in any spelling, or `*` */
  permits(permission: CollectionPermission, collection: string): boolean {
    if (this.plain.isAdmin) return true
    const bit = BITS[permission]
    const everywhere = isOfMemory(collection) ? 0 : (this.#grants.get(ALL_COLLECTIONS) ?? 0)
    return (everywhere & bit) !== 0 || ((this.#grants.get(lowerCase(collection)) ?? 0) & bit) !== 0
  }
}

/**
 * @param isBootstrapAdmin whether the user is the administrator whom the configuration names
 * @param granted the user's own grants, and those of its groups
 */
export function rightsOf(isBootstrapAdmin: boolean, granted: readonly Grants[]): PlainRights {
  const bits = new Map<string, number>()
  for (const grants of granted)
    for (const [collection, grant] of Object.entries(grants)) bits.set(collection, (bits.get(collection) ?? 0) | bitsOf(grant))
  return { isAdmin: isBootstrapAdmin || ((bits.get(ALL_COLLECTIONS) ?? 0) & BITS.admin) !== 0, grants: [...bits] }
}

/** The administrator of a collection may read and write it. */
function bitsOf({ read, write, admin }: Grant): number {
  return admin ? ALL_BITS : (read ? BITS.read : 0) | (write ? BITS.write : 0)
}

/** The name under which a grant on the collection is stored. */
export function grantKey(collection: string): string {
  return collection === ALL_COLLECTIONS ? collection : lowerCase(collection)
}
