/**
 * `decide` for accounts: a change becomes rows to write and an answer, or is refused before anything is
 * written. Runs on the write lane inside the write transaction. Rules: service-2, "Authentication", and
 * docs/decisions/operation/access-control.md.
 */
import { hashOfKey } from '../../access/api_keys.js'
import type { Grant, Grants } from '../../access/rights.js'
import { grantKey } from '../../access/rights.js'
import { badRequest, serviceError } from '../../errors.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import type { AccessChange, AccessDecision, AccountWrite } from './access_changes.js'
import { type ApiKey, DELETED_USERS, deletedEpoch, type Group, groupNamed, keyOfHash, membersOf, type User, userNamed } from './accounts.js'
import { addMcpKey, disableMcpKey, mcpKeyGiven, mcpKeysOf } from './mcp_keys.js'

/** Users, and groups. A list of all users is one answer of some 10 MB. */
const USERS_MAX = 100_000
const GROUPS_MAX = 1_000
/** Groups of one user. */
const GROUPS_OF_USER_MAX = 100
/** Collections on which one user or group has permissions of its own. */
const PERMISSIONS_MAX = 1_000
const KEYS_OF_USER_MAX = 100

type Change<Kind extends AccessChange['kind']> = Extract<AccessChange, { readonly kind: Kind }>

const DELETED = { status: 'deleted' }

/** @throws ServiceError 400, 403, 404, 409; nothing is written then */
export function decideAccess(view: View, change: AccessChange): AccessDecision {
  switch (change.kind) {
    case 'addUser':
      if (userNamed(view, change.username) !== undefined) throw serviceError('userExists')
      return addUser(view, change)
    case 'ensureUser':
      if (userNamed(view, change.username) !== undefined) return { writes: [], answer: { created: false } }
      return { ...addUser(view, change), answer: { created: true } }
    case 'changeUser':
      return changeUser(view, change)
    case 'deleteUser':
      return deleteUser(view, change.username)
    case 'addKey':
      return addKey(view, change)
    case 'deleteKey':
      return deleteKey(view, change)
    case 'addMcpKey':
      return addMcpKey(view, change)
    case 'deleteMcpKey':
      return { writes: [remove('mcp-key', mcpKeyGiven(view, change.key)[0])], answer: DELETED }
    case 'disableMcpKey':
      return disableMcpKey(view, change.key)
    case 'noteKeyUses':
      return noteKeyUses(view, change)
    case 'addGroup':
      return addGroup(view, change)
    case 'changeGroup':
      return changeGroup(view, change)
    case 'deleteGroup':
      return deleteGroup(view, change.name)
    case 'grant':
      return setGrant(view, change)
  }
}

/** The rows that no longer name a deleted collection: a later one of its name starts without grants. */
export function withoutGrantsOn(view: View, collection: string): readonly AccountWrite[] {
  const key = grantKey(collection)
  const changed = <Row extends { readonly grants: Grants }>(setting: 'user' | 'group', write: (id: string, row: Row) => AccountWrite) =>
    view
      .settings(SERVER_SETTINGS, setting)
      .map(([id, row]) => [id, row as Row] as const)
      .filter(([, { grants }]) => Object.hasOwn(grants, key))
      .map(([id, row]) => write(id, { ...row, grants: without(row.grants, key) }))
  return [...changed<User>('user', putUser), ...changed<Group>('group', putGroup)]
}

function addUser(view: View, { username, passwordHash }: Change<'addUser' | 'ensureUser'>): AccessDecision {
  if (view.countSettings(SERVER_SETTINGS, 'user') >= USERS_MAX) throw badRequest(`too many users: at most ${USERS_MAX}`)
  // Tokens of a deleted user of this name stay invalid.
  const tokenEpoch = deletedEpoch(view) + 1
  const user: User = { passwordHash, tokenEpoch, disabled: false, grants: {}, groups: [], keys: [], createdAt: view.now }
  return { writes: [putUser(username, user)], answer: { username, createdAt: user.createdAt } }
}

/** A new password, and a disabling, end the validity of all tokens. */
function changeUser(view: View, { username, passwordHash, disabled }: Change<'changeUser'>): AccessDecision {
  const user = requireUser(view, username)
  const next: User = {
    ...user,
    passwordHash: passwordHash ?? user.passwordHash,
    disabled: disabled ?? user.disabled,
    tokenEpoch: user.tokenEpoch + (passwordHash !== undefined || disabled === true ? 1 : 0),
  }
  return { writes: [putUser(username, next)], answer: { username, disabled: next.disabled, createdAt: next.createdAt } }
}

function deleteUser(view: View, username: string): AccessDecision {
  const user = requireUser(view, username)
  const memberships = user.groups.map((name) =>
    putMembers(
      name,
      membersOf(view, name).filter((member) => member !== username),
    ),
  )
  const epoch = Math.max(deletedEpoch(view), user.tokenEpoch)
  const ended: AccountWrite = { setting: 'token-epoch', id: DELETED_USERS, value: epoch }
  const mcpKeys = mcpKeysOf(view, username).map((hash) => remove('mcp-key', hash))
  return { writes: [remove('user', username), ended, ...user.keys.flatMap(removeKey), ...mcpKeys, ...memberships], answer: DELETED }
}

function addKey(view: View, { username, key, description, expiresAt }: Change<'addKey'>): AccessDecision {
  const user = requireUser(view, username)
  if (user.keys.length >= KEYS_OF_USER_MAX) throw badRequest(`too many api keys: at most ${KEYS_OF_USER_MAX} of a user`)
  const hash = hashOfKey(key)
  const stored: ApiKey = { username, description, createdAt: view.now, expiresAt }
  return {
    writes: [{ setting: 'api-key', id: hash, value: stored }, putUser(username, { ...user, keys: [...user.keys, hash] })],
    answer: { key, description, createdAt: stored.createdAt, expiresAt },
  }
}

function deleteKey(view: View, { username, hash }: Change<'deleteKey'>): AccessDecision {
  const key = keyOfHash(view, hash)
  if (key === undefined) throw serviceError('keyNotFound')
  if (key.username !== username) throw serviceError('notYourKey')
  const user = requireUser(view, username)
  return { writes: [...removeKey(hash), putUser(username, { ...user, keys: user.keys.filter((own) => own !== hash) })], answer: DELETED }
}

/** Keys that were deleted meanwhile are left out. */
function noteKeyUses(view: View, { uses }: Change<'noteKeyUses'>): AccessDecision {
  const known = uses.filter(([hash]) => keyOfHash(view, hash) !== undefined)
  return { writes: known.map(([id, value]) => ({ setting: 'api-key-use', id, value })), answer: {} }
}

function addGroup(view: View, { name, description, members }: Change<'addGroup'>): AccessDecision {
  if (groupNamed(view, name) !== undefined) throw serviceError('groupExists')
  if (view.countSettings(SERVER_SETTINGS, 'group') >= GROUPS_MAX) throw badRequest(`too many groups: at most ${GROUPS_MAX}`)
  const group: Group = { description, grants: {}, createdAt: view.now }
  return { writes: [putGroup(name, group), ...joined(view, name, [], members)], answer: shownGroup(name, group, members) }
}

function changeGroup(view: View, { name, description, members }: Change<'changeGroup'>): AccessDecision {
  const group = requireGroup(view, name)
  const before = membersOf(view, name)
  const next: Group = { ...group, description: description ?? group.description }
  const changes = members === undefined ? [] : joined(view, name, before, members)
  return { writes: [putGroup(name, next), ...changes], answer: shownGroup(name, next, members ?? before) }
}

function deleteGroup(view: View, name: string): AccessDecision {
  requireGroup(view, name)
  const left = joined(view, name, membersOf(view, name), []).filter(({ setting }) => setting === 'user')
  return { writes: [remove('group', name), remove('group-members', name), ...left], answer: DELETED }
}

/** @throws ServiceError 404 if a new member is no user, 400 if it is in too many groups */
function joined(view: View, group: string, before: readonly string[], after: readonly string[]): readonly AccountWrite[] {
  const [were, are] = [new Set(before), new Set(after)]
  const writes: AccountWrite[] = [putMembers(group, [...are].sort())]
  for (const username of are) {
    if (were.has(username)) continue
    const user = requireUser(view, username)
    if (user.groups.length >= GROUPS_OF_USER_MAX) throw badRequest(`too many groups of user ${username}: at most ${GROUPS_OF_USER_MAX}`)
    writes.push(putUser(username, { ...user, groups: [...user.groups, group].sort() }))
  }
  for (const username of were) {
    const user = are.has(username) ? undefined : userNamed(view, username)
    if (user !== undefined) writes.push(putUser(username, { ...user, groups: user.groups.filter((name) => name !== group) }))
  }
  return writes
}

function setGrant(view: View, { to, name, collection, grant }: Change<'grant'>): AccessDecision {
  const answer = { status: to === 'user' ? 'ok' : 'permission set' }
  if (to === 'user') {
    const user = requireUser(view, name)
    return { writes: [putUser(name, { ...user, grants: granted(user.grants, collection, grant) })], answer }
  }
  const group = requireGroup(view, name)
  return { writes: [putGroup(name, { ...group, grants: granted(group.grants, collection, grant) })], answer }
}

function granted(grants: Grants, collection: string, { read, write, admin }: Grant): Grants {
  const key = grantKey(collection)
  const others = without(grants, key)
  if (!read && !write && !admin) return others
  if (Object.keys(others).length >= PERMISSIONS_MAX) throw badRequest(`too many permissions: at most ${PERMISSIONS_MAX}`)
  return { ...others, [key]: { collection, read, write, admin } }
}

function without(grants: Grants, key: string): Grants {
  return Object.fromEntries(Object.entries(grants).filter(([name]) => name !== key))
}

export function shownGroup(name: string, { description, createdAt }: Group, members: readonly string[]): object {
  return { name, description, members, createdAt }
}

/** @throws ServiceError 404 */
export function requireUser(view: View, username: string): User {
  const user = userNamed(view, username)
  if (user === undefined) throw serviceError('userNotFound')
  return user
}

/** @throws ServiceError 404 */
export function requireGroup(view: View, name: string): Group {
  const group = groupNamed(view, name)
  if (group === undefined) throw serviceError('groupNotFound')
  return group
}

function putUser(id: string, value: User): AccountWrite {
  return { setting: 'user', id, value }
}

function putGroup(id: string, value: Group): AccountWrite {
  return { setting: 'group', id, value }
}

function putMembers(id: string, value: readonly string[]): AccountWrite {
  return { setting: 'group-members', id, value }
}

function remove(setting: AccountWrite['setting'], id: string): AccountWrite {
  return { setting, id, value: null }
}

function removeKey(hash: string): readonly AccountWrite[] {
  return [remove('api-key', hash), remove('api-key-use', hash)]
}
