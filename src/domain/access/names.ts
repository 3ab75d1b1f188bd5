/** Checks of the names and texts of accounts that do not depend on stored data. Pure; any lane. */
import { badRequest, serviceError } from '../../errors.js'
import { PASSWORD_BYTES_MAX, USERNAME_BYTES_MAX } from '../../limits/access.js'
import { KIB } from '../../limits/units.js'
import { ALL_COLLECTIONS } from '../../operations/row/collection_access.js'
import { weaknessOf } from '../../passwords/password_strength.js'
import { requirePlainName } from '../documents/identity.js'

/** UTF-8 bytes. A name is the id of a row: with its prefix it must fit into a key of the store. */
const GROUP_NAME_BYTES_MAX = 128
/** UTF-8 bytes of the description of a group or an API key. */
const ACCESS_DESCRIPTION_BYTES_MAX = KIB
/** Members of one group. */
const GROUP_MEMBERS_MAX = 10_000
/** UTF-8 bytes of the name of a key of MCP. */
const MCP_KEY_NAME_BYTES_MAX = 256

/** @throws ServiceError 400 */
export function checkUsername(username: string): void {
  checkName('username', username, USERNAME_BYTES_MAX)
}

/** @throws ServiceError 400 */
export function checkGroupName(name: string): void {
  checkName('name', name, GROUP_NAME_BYTES_MAX)
}

/**
 * @returns why the password is weak, where that is not refused; null if it is not weak
 * @throws ServiceError 400, without the password
 */
export function checkPassword(password: string, username: string, isProduction: boolean): string | null {
  if (password === '') throw serviceError('missingFields')
  if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX)
    throw badRequest(`invalid password: at most ${PASSWORD_BYTES_MAX} bytes are allowed`)
  const weakness = weaknessOf(password, username)
  if (isProduction && weakness !== null) throw badRequest(`invalid password: ${weakness}`)
  return weakness
}

/** @throws ServiceError 400 */
export function checkMcpKeyName(name: string): void {
  if (Buffer.byteLength(name) > MCP_KEY_NAME_BYTES_MAX)
    throw badRequest(`invalid name: at most ${MCP_KEY_NAME_BYTES_MAX} bytes are allowed`)
}

/** @throws ServiceError 400 */
export function checkDescription(description: string): void {
  if (Buffer.byteLength(description) > ACCESS_DESCRIPTION_BYTES_MAX)
    throw badRequest(`invalid description: at most ${ACCESS_DESCRIPTION_BYTES_MAX} bytes are allowed`)
}

/** @param expiresAt Unix seconds. @throws ServiceError 400 for a time that has passed */
export function checkExpiry(expiresAt: number): void {
  if (expiresAt !== 0 && expiresAt <= Date.now() / 1000) throw badRequest('invalid expiresAt: the time has passed')
}

/** @returns distinct names. @throws ServiceError 400 */
export function checkMembers(members: readonly string[]): readonly string[] {
  const distinct = [...new Set(members)]
  if (distinct.length > GROUP_MEMBERS_MAX) throw badRequest(`too many members: at most ${GROUP_MEMBERS_MAX} in a group`)
  return distinct
}

/** @throws ServiceError 400 */
export function checkCollection(name: string): void {
  if (name !== ALL_COLLECTIONS) requirePlainName('collection', name)
}

/** A name is a segment of a path, and clients remove `.` and `..` from paths. */
function checkName(field: string, name: string, bytesMax: number): void {
  if (name === '.' || name === '..' || /[\0-\x1f\x7f]/.test(name)) throw badRequest(`invalid ${field}`)
  if (Buffer.byteLength(name) > bytesMax) throw badRequest(`invalid ${field}: at most ${bytesMax} bytes are allowed`)
}
