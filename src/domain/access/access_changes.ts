/** Changes of accounts as they are passed to the write lane. Pure types. */
import type { Grant } from '../../access/rights.js'

export type AccessChange =
  | { readonly kind: 'addUser'; readonly username: string; readonly passwordHash: string }
  /** At the start: the user is created if it does not exist, and is not changed otherwise. */
  | { readonly kind: 'ensureUser'; readonly username: string; readonly passwordHash: string }
  /** Absent fields do not change. */
  | { readonly kind: 'changeUser'; readonly username: string; readonly passwordHash?: string; readonly disabled?: boolean }
  | { readonly kind: 'deleteUser'; readonly username: string }
  /** `key`: shown in the answer, and not stored. */
  | {
      readonly kind: 'addKey'
      readonly username: string
      readonly key: string
      readonly description: string
      readonly expiresAt: number
    }
  | { readonly kind: 'deleteKey'; readonly username: string; readonly hash: string }
  /** `username` empty: access control is off. `key`: as for `addKey`. */
  | { readonly kind: 'addMcpKey'; readonly username: string; readonly key: string; readonly name: string; readonly expiresAt: number }
  /** `key`: the key itself, its hash, or its fingerprint. */
  | { readonly kind: 'deleteMcpKey'; readonly key: string }
  | { readonly kind: 'disableMcpKey'; readonly key: string }
  /** Last uses by hash, in Unix seconds. */
  | { readonly kind: 'noteKeyUses'; readonly uses: readonly (readonly [hash: string, at: number])[] }
  | { readonly kind: 'addGroup'; readonly name: string; readonly description: string; readonly members: readonly string[] }
  /** Absent fields do not change. */
  | { readonly kind: 'changeGroup'; readonly name: string; readonly description?: string; readonly members?: readonly string[] }
  | { readonly kind: 'deleteGroup'; readonly name: string }
  /** A grant without any permission is removed. */
  | {
      readonly kind: 'grant'
      readonly to: 'user' | 'group'
      readonly name: string
      readonly collection: string
      readonly grant: Grant
    }

export interface AccessCommand {
  readonly kind: 'access'
  readonly change: AccessChange
}
