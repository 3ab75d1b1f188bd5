/**
 * Users, groups, API keys and permissions. Lists are read from the store; changes become commands. Whatever
 * needs a hash of a password goes by the front end (src/background/access), because a hash takes 0.2 s.
 */
import { newKey, newMcpKey } from '../../access/api_keys.js'
import type { LoginMessage, PasswordMessage } from '../../access/messages.js'
import type { Grant, Grants } from '../../access/rights.js'
import type { AccessChange } from '../../domain/access/access_changes.js'
import { requireGroup, requireUser, shownGroup } from '../../domain/access/access_decision.js'
import type { Group, User } from '../../domain/access/accounts.js'
import { identityOfKey, identityOfUser, keyOfHash, lastUseOf, membersOf, rightsOfUser, userNamed } from '../../domain/access/accounts.js'
import { identityOfMcpKey, shownMcpKeys } from '../../domain/access/mcp_keys.js'
import {
  checkCollection,
  checkDescription,
  checkExpiry,
  checkGroupName,
  checkMcpKeyName,
  checkMembers,
  checkPassword,
  checkUsername,
} from '../../domain/access/names.js'
import type { Command } from '../../domain/commands.js'
import { badRequest, serviceError } from '../../errors.js'
import * as auth from '../../operations/access/auth.js'
import * as groups from '../../operations/access/groups.js'
import * as mcp from '../../operations/access/mcp.js'
import * as users from '../../operations/access/users.js'
import type { InputOf } from '../../operations/row/operation.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import { log } from '../../telemetry/log.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, io, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'

type Bootstrap = Pick<LaneContext, 'config'>

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

function command(change: AccessChange): Command {
  return { kind: 'access', change }
}

function login({ config, store }: LaneContext, { username, password }: InputOf<typeof auth.login>): LoginMessage {
  return store.read((view) => {
    const user = userNamed(view, username)
    if (user === undefined || user.disabled) return { username, password, user: null }
    const { passwordHash, tokenEpoch } = user
    return { username, password, user: { passwordHash, tokenEpoch, isAdmin: isAdmin(config, view, username, user) } }
  })
}

function me({ config, store }: LaneContext, _input: unknown, { access }: RequestContext): Answer {
  const username = access.principal.name
  return store.read((view) => {
    const user = userNamed(view, username)
    // Deleted since its credentials were checked.
    if (user === undefined) throw serviceError('invalidToken')
    return json({ username, admin: isAdmin(config, view, username, user), createdAt: user.createdAt })
  })
}

function createKey(_lane: LaneContext, { description = '', expiresAt = 0 }: InputOf<typeof auth.createApiKey>, request: RequestContext) {
  checkDescription(description)
  checkExpiry(expiresAt)
  return command({ kind: 'addKey', username: request.access.principal.name, key: newKey(), description, expiresAt })
}

function listKeys({ store }: LaneContext, _input: unknown, { access }: RequestContext): Answer {
  return store.read((view) => {
    const hashes = userNamed(view, access.principal.name)?.keys ?? []
    const keys = hashes.flatMap((keyHash) => {
      const key = keyOfHash(view, keyHash)
      if (key === undefined) return []
      const { description, createdAt, expiresAt } = key
      return [{ keyHash, description, createdAt, expiresAt, lastUsedAt: lastUseOf(view, keyHash) }]
    })
    return json({ keys })
  })
}

function deleteKey(_lane: LaneContext, { keyHash = '' }: InputOf<typeof auth.deleteApiKey>, { access }: RequestContext): Command {
  if (keyHash === '') throw badRequest('key hash required')
  return command({ kind: 'deleteKey', username: access.principal.name, hash: keyHash.toLowerCase() })
}

function identify({ config, store }: LaneContext, { username = '', keyHash = '', mcpKeyHash = '' }: InputOf<typeof auth.identify>): Answer {
  const { authAdminUsername, authEnabled } = config
  const identity = store.read((view) => {
    if (mcpKeyHash !== '') return identityOfMcpKey(view, mcpKeyHash, authAdminUsername, authEnabled)
    return keyHash === '' ? identityOfUser(view, username, authAdminUsername) : identityOfKey(view, keyHash, authAdminUsername)
  })
  return json({ identity: identity ?? null })
}

function createMcpKey(_lane: LaneContext, { name = '', expiresAt = 0 }: InputOf<typeof mcp.createMcpKey>, { access }: RequestContext) {
  checkMcpKeyName(name)
  checkExpiry(expiresAt)
  return command({ kind: 'addMcpKey', username: access.principal.name, key: newMcpKey(), name, expiresAt })
}

function listMcpKeys({ store }: LaneContext): Answer {
  return store.read((view) => {
    const keys = shownMcpKeys(view)
    return json({ keys, total: keys.length })
  })
}

function deleteMcpKey(_lane: LaneContext, { key }: InputOf<typeof mcp.deleteMcpKey>): Command {
  return command({ kind: 'deleteMcpKey', key })
}

function disableMcpKey(_lane: LaneContext, { key }: InputOf<typeof mcp.disableMcpKey>): Command {
  return command({ kind: 'disableMcpKey', key })
}

function findUser({ store }: LaneContext, { username }: InputOf<typeof auth.findUser>): Answer {
  return json({ exists: store.read((view) => userNamed(view, username) !== undefined) })
}

function storeAccount(_lane: LaneContext, { change, username, passwordHash, disabled }: InputOf<typeof auth.storeAccount>): Command {
  if (change === 'change')
    return command({
      kind: 'changeUser',
      username,
      ...(passwordHash === undefined ? {} : { passwordHash }),
      ...(disabled === undefined ? {} : { disabled }),
    })
  if (passwordHash === undefined) throw new Error('a new user has a password')
  return command({ kind: change === 'ensure' ? 'ensureUser' : 'addUser', username, passwordHash })
}

function noteKeyUses(_lane: LaneContext, { hashes, at }: InputOf<typeof auth.noteKeyUses>): Command {
  return command({ kind: 'noteKeyUses', uses: hashes.map((hash, index) => [hash, at[index] ?? 0] as const) })
}

function register({ config, store }: LaneContext, { username, password }: InputOf<typeof users.register>): PasswordMessage {
  checkUsername(username)
  warnIfWeak(checkPassword(password, username, config.production))
  // Found out before the hash is made, and again when the user is added.
  store.read((view) => {
    if (userNamed(view, username) !== undefined) throw serviceError('userExists')
  })
  return { username, password, old: null, change: 'add' }
}

/** Whose password it is stays out of the log, which others may read. */
function warnIfWeak(weakness: string | null): void {
  if (weakness !== null) log.warn(`a new password is weak: ${weakness}`)
}

function listUsers({ config, store }: LaneContext): Answer {
  return store.read((view) => {
    const all = view.settings(SERVER_SETTINGS, 'user').map(([username, stored]) => {
      const user = stored as User
      const { createdAt, disabled } = user
      return { username, createdAt, disabled, admin: isAdmin(config, view, username, user), groups: user.groups }
    })
    return json({ users: all })
  })
}

function changeUser(
  { config, store }: LaneContext,
  { username, disabled, password, oldPassword }: InputOf<typeof users.changeUser>,
  { access }: RequestContext,
): PasswordMessage {
  const { name, rights } = access.principal
  const mayDoAll = rights?.isAdmin === true
  if (!mayDoAll && (name !== username || disabled !== undefined)) throw serviceError('adminRequired')
  if (disabled === undefined && password === undefined) throw serviceError('nothingToUpdate')
  if (password !== undefined) warnIfWeak(checkPassword(password, username, config.production))
  const user = store.read((view) => requireUser(view, username))
  const needsOld = password !== undefined && !mayDoAll
  if (needsOld && oldPassword === undefined) throw badRequest('missing fields')
  return {
    username,
    password: password ?? null,
    old: needsOld ? { password: oldPassword ?? '', passwordHash: user.passwordHash } : null,
    change: 'change',
    ...(disabled === undefined ? {} : { disabled }),
  }
}

function deleteUser(_lane: LaneContext, { username }: InputOf<typeof users.deleteUser>): Command {
  return command({ kind: 'deleteUser', username })
}

function listPermissions({ store }: LaneContext, { username }: InputOf<typeof users.listPermissions>): Answer {
  return store.read((view) => json(shownGrants(userNamed(view, username)?.grants ?? {}).map((grant) => ({ username, ...grant }))))
}

function setPermission(_lane: LaneContext, { username, collection, ...grant }: InputOf<typeof users.setPermission>): Command {
  checkCollection(collection)
  return command({ kind: 'grant', to: 'user', name: username, collection, grant: grantOf(grant) })
}

function listGroups({ store }: LaneContext): Answer {
  return store.read((view) =>
    json({
      groups: view.settings(SERVER_SETTINGS, 'group').map(([name, group]) => shownGroup(name, group as Group, membersOf(view, name))),
    }),
  )
}

function getGroup({ store }: LaneContext, { name }: InputOf<typeof groups.getGroup>): Answer {
  return store.read((view) => json(shownGroup(name, requireGroup(view, name), membersOf(view, name))))
}

function createGroup(_lane: LaneContext, { name, description = '', members = [] }: InputOf<typeof groups.createGroup>): Command {
  checkGroupName(name)
  checkDescription(description)
  return command({ kind: 'addGroup', name, description, members: checkMembers(members) })
}

function updateGroup(_lane: LaneContext, { name, description, members }: InputOf<typeof groups.updateGroup>): Command {
  if (description !== undefined) checkDescription(description)
  return command({
    kind: 'changeGroup',
    name,
    ...(description === undefined ? {} : { description }),
    ...(members === undefined ? {} : { members: checkMembers(members) }),
  })
}

function deleteGroup(_lane: LaneContext, { name }: InputOf<typeof groups.deleteGroup>): Command {
  return command({ kind: 'deleteGroup', name })
}

function listGroupPermissions({ store }: LaneContext, { group }: InputOf<typeof groups.listGroupPermissions>): Answer {
  const { grants } = store.read((view) => requireGroup(view, group))
  return json({ permissions: shownGrants(grants).map((grant) => ({ group, groupName: group, ...grant })) })
}

function setGroupPermission(_lane: LaneContext, input: InputOf<typeof groups.setGroupPermission>): Command {
  const { group = '', groupName = '', collection, ...grant } = input
  const name = group === '' ? groupName : group
  if (name === '') throw serviceError('missingFields')
  checkCollection(collection)
  return command({ kind: 'grant', to: 'group', name, collection, grant: grantOf(grant) })
}

function grantOf({ read: mayRead = false, write = false, admin = false }: Partial<Grant>): Grant {
  return { read: mayRead, write, admin }
}

function shownGrants(grants: Grants): readonly object[] {
  return Object.entries(grants)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { collection, read: mayRead, write, admin }]) => ({ collection, read: mayRead, write, admin }))
}

function isAdmin(config: Bootstrap['config'], view: View, username: string, user: User): boolean {
  return rightsOfUser(view, username, user, config.authAdminUsername).isAdmin
}

export const accessHandlers: readonly BoundHandler[] = [
  io(auth.login, login),
  read(auth.me, me),
  prepare(auth.createApiKey, createKey),
  read(auth.listApiKeys, listKeys),
  prepare(auth.deleteApiKey, deleteKey),
  read(auth.identify, identify),
  read(auth.findUser, findUser),
  prepare(auth.storeAccount, storeAccount),
  prepare(auth.noteKeyUses, noteKeyUses),
  io(users.register, register),
  read(users.listUsers, listUsers),
  io(users.changeUser, changeUser),
  prepare(users.deleteUser, deleteUser),
  read(users.listPermissions, listPermissions),
  prepare(users.setPermission, setPermission),
  read(groups.listGroups, listGroups),
  prepare(groups.createGroup, createGroup),
  read(groups.getGroup, getGroup),
  prepare(groups.updateGroup, updateGroup),
  prepare(groups.deleteGroup, deleteGroup),
  read(groups.listGroupPermissions, listGroupPermissions),
  prepare(groups.setGroupPermission, setGroupPermission),
  prepare(mcp.createMcpKey, createMcpKey),
  read(mcp.listMcpKeys, listMcpKeys),
  prepare(mcp.deleteMcpKey, deleteMcpKey),
  prepare(mcp.disableMcpKey, disableMcpKey),
]
