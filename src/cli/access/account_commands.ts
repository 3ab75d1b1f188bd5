/** Requests of `mds user`, `key`, `group`, `grant` and `revoke`, and their answers as text. */
import { request } from '../client.js'
import { asRecord, asText, formatTable } from '../output.js'
import { CommandError } from '../terminal.js'
import type { AskPassword } from './password_prompt.js'

/** Days that `mds key create --expires` takes: ten years. */
const KEY_EXPIRY_DAYS_MAX = 3_650

export interface GrantOptions {
  readonly url: string
  readonly group: boolean
  readonly read: boolean
  readonly write: boolean
  readonly admin: boolean
}

export async function addUser(url: string, username: string, ask: AskPassword): Promise<unknown> {
  const password = await ask(`new password of ${username}`, 'MDS_NEW_PASSWORD')
  return await request(url, 'POST', '/v1/auth/register', { username, password })
}

/** @param username undefined: one's own password, which needs the present one */
export async function changePassword(url: string, username: string | undefined, ask: AskPassword): Promise<unknown> {
  const name = username ?? asText(asRecord(await request(url, 'GET', '/v1/auth/me')).username)
  const old = username === undefined ? { oldPassword: await ask(`present password of ${name}`, 'MDS_PASSWORD') } : {}
  const password = await ask(`new password of ${name}`, 'MDS_NEW_PASSWORD')
  return await request(url, 'PUT', pathOf('users', name), { password, ...old })
}

export async function setDisabled(url: string, username: string, disabled: boolean): Promise<unknown> {
  return await request(url, 'PUT', pathOf('users', username), { disabled })
}

/** @param expires e.g. `90d` or `12h`; undefined: without end */
export async function createKey(url: string, description: string, expires: string | undefined): Promise<unknown> {
  const expiresAt = expires === undefined ? 0 : Math.floor(Date.now() / 1000) + secondsOf(expires)
  return await request(url, 'POST', '/v1/auth/api-key', { description, expiresAt })
}

/** Replaces the rights on the collection; without any they are removed. */
export async function setGrant(name: string, collection: string, options: GrantOptions): Promise<unknown> {
  const { url, group, read, write, admin } = options
  const path = group ? '/v1/auth/group-permissions' : '/v1/auth/permissions'
  return await request(url, 'POST', path, { [group ? 'group' : 'username']: name, collection, read, write, admin })
}

export function pathOf(kind: 'users' | 'groups' | 'api-keys', name: string): string {
  return `/v1/auth/${kind}/${encodeURIComponent(name)}`
}

export function formatUsers(answer: unknown): string {
  return formatRows(asRecord(answer).users, 'no users\n', ['user', 'state', 'groups'], (user) => [
    asText(user.username),
    [user.admin === true ? 'admin' : '', user.disabled === true ? 'disabled' : ''].filter(Boolean).join(', '),
    namesOf(user.groups),
  ])
}

export function formatKeys(answer: unknown): string {
  return formatRows(asRecord(answer).keys, 'no keys\n', ['hash', 'expires', 'last used', 'description'], (key) => [
    asText(key.keyHash),
    dateOf(key.expiresAt),
    dateOf(key.lastUsedAt),
    asText(key.description),
  ])
}

export function formatGroups(answer: unknown): string {
  return formatRows(asRecord(answer).groups, 'no groups\n', ['group', 'members'], (group) => [asText(group.name), namesOf(group.members)])
}

function formatRows(
  rows: unknown,
  none: string,
  header: readonly string[],
  cells: (row: Readonly<Record<string, unknown>>) => readonly string[],
): string {
  return Array.isArray(rows) && rows.length > 0
    ? formatTable(
        header,
        rows.map((row) => cells(asRecord(row))),
      )
    : none
}

function namesOf(names: unknown): string {
  return Array.isArray(names) ? names.map(asText).join(', ') : ''
}

function dateOf(seconds: unknown): string {
  return typeof seconds === 'number' && seconds > 0 ? new Date(seconds * 1000).toISOString() : 'never'
}

function secondsOf(text: string): number {
  const [, count = '', unit] = /^(\d{1,6})([hd])$/.exec(text) ?? []
  const seconds = Number(count) * (unit === 'd' ? 86_400 : 3_600)
  if (seconds === 0 || seconds > KEY_EXPIRY_DAYS_MAX * 86_400)
    throw new CommandError(`--expires ${text}: hours or days are needed, such as 12h or 90d, at most ${KEY_EXPIRY_DAYS_MAX}d`)
  return seconds
}
