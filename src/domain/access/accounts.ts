/**
 * Accounts as stored: users, groups, API keys. They are settings of the server, each a row. A user's row
 * names its groups and keys, so that its rights are found by reading one row for the user and one for each
 * group. Layout: docs/formats/access.md. Pure reads of a view; any lane.
 */
import type { Identity } from '../../access/principal.js'
import { type Grants, type PlainRights, rightsOf } from '../../access/rights.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'

/** As stored under the username. */
export interface User {
  /** bcrypt. */
  readonly passwordHash: string
  /** Tokens of an earlier epoch are not valid. */
  readonly tokenEpoch: number
  readonly disabled: boolean
  readonly grants: Grants
  /** Names of groups, in order. */
  readonly groups: readonly string[]
  /** Hashes of its API keys, in order of creation. */
  readonly keys: readonly string[]
  /** Unix seconds. */
  readonly createdAt: number
}

/** As stored under the name of the group. Its members are a row of their own, which a check does not read. */
export interface Group {
  readonly description: string
  readonly grants: Grants
  /** Unix seconds. */
  readonly createdAt: number
}

/** As stored under the SHA-256 of the key, in hexadecimal digits. */
export interface ApiKey {
  readonly username: string
  readonly description: string
  /** Unix seconds. */
  readonly createdAt: number
  /** Unix seconds; 0: never. */
  readonly expiresAt: number
}

/** Id of the only row of `token-epoch`. */
export const DELETED_USERS = 'deleted'

export function userNamed(view: View, username: string): User | undefined {
  return username === '' ? undefined : (view.setting(SERVER_SETTINGS, 'user', username) as User | undefined)
}

export function groupNamed(view: View, name: string): Group | undefined {
  return name === '' ? undefined : (view.setting(SERVER_SETTINGS, 'group', name) as Group | undefined)
}

/** Usernames, in order. */
export function membersOf(view: View, group: string): readonly string[] {
  return (view.setting(SERVER_SETTINGS, 'group-members', group) as readonly string[] | undefined) ?? []
}

export function keyOfHash(view: View, hash: string): ApiKey | undefined {
  return hash === '' ? undefined : (view.setting(SERVER_SETTINGS, 'api-key', hash) as ApiKey | undefined)
}

/** Unix seconds of the last use, to a minute; 0: it was never used. */
export function lastUseOf(view: View, hash: string): number {
  return (view.setting(SERVER_SETTINGS, 'api-key-use', hash) as number | undefined) ?? 0
}

/** The highest epoch of the tokens of deleted users; 0: none was deleted. New users begin above it. */
export function deletedEpoch(view: View): number {
  return (view.setting(SERVER_SETTINGS, 'token-epoch', DELETED_USERS) as number | undefined) ?? 0
}

/** @param bootstrapAdmin name of the administrator whom the configuration names */
export function rightsOfUser(view: View, username: string, user: User, bootstrapAdmin: string): PlainRights {
  const ofGroups = user.groups.map((name) => groupNamed(view, name)?.grants ?? {})
  return rightsOf(username === bootstrapAdmin, [user.grants, ...ofGroups])
}

/** Undefined if there is no such user, or the user is disabled. */
export function identityOfUser(view: View, username: string, bootstrapAdmin: string): Identity | undefined {
  const user = userNamed(view, username)
  if (user === undefined || user.disabled) return undefined
  return { username, tokenEpoch: user.tokenEpoch, rights: rightsOfUser(view, username, user, bootstrapAdmin), expiresAt: 0 }
}

/** Undefined if there is no such key, it has expired, or its owner is disabled. */
export function identityOfKey(view: View, hash: string, bootstrapAdmin: string): Identity | undefined {
  const key = keyOfHash(view, hash)
  if (key === undefined || (key.expiresAt !== 0 && key.expiresAt <= view.now)) return undefined
  const owner = identityOfUser(view, key.username, bootstrapAdmin)
  return owner === undefined ? undefined : { ...owner, expiresAt: key.expiresAt }
}
