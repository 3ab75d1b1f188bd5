/**
 * Keys of MCP as stored, and changes of them. A key has the rights of the user who made it. Layout:
 * docs/formats/access.md. Lookups read a view on any lane; changes run on the write lane.
 */
import { hashOfKey } from '../../access/api_keys.js'
import type { Identity } from '../../access/principal.js'
import { badRequest, serviceError } from '../../errors.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import type { AccessChange, AccessDecision } from './access_changes.js'
import { identityOfUser } from './accounts.js'

/** Keys of MCP that are stored. Each is a row of some hundred bytes, and a listing reads them all. */
const MCP_KEYS_MAX = 1_000
/** Characters of a key that a listing shows: `mcp_` and eight digits of 48. */
const MCP_KEY_PREFIX_CHARS = 12
/** Digits of the hash of a key that a listing shows, and by which it can be named: 64 bits. */
const MCP_FINGERPRINT_CHARS = 16

/** As stored under the SHA-256 of the key, in hexadecimal digits. */
interface McpKey {
  /** Empty: access control was off. */
  readonly username: string
  readonly name: string
  /** Its first characters, by which its owner recognises it. */
  readonly keyPrefix: string
  /** Unix seconds. */
  readonly createdAt: number
  /** Unix seconds; 0: never. */
  readonly expiresAt: number
  readonly disabled: boolean
}

/** As listed: a key is shown once, when it is made. */
interface ShownMcpKey extends Omit<McpKey, 'username'> {
  /** The first digits of its hash. */
  readonly fingerprint: string
}

/** By hash, in its order. */
function mcpKeys(view: View): readonly (readonly [hash: string, key: McpKey])[] {
  return view.settings(SERVER_SETTINGS, 'mcp-key').map(([hash, key]) => [hash, key as McpKey] as const)
}

/** In order of creation. */
export function shownMcpKeys(view: View): readonly ShownMcpKey[] {
  return mcpKeys(view)
    .map(([hash, { name, keyPrefix, createdAt, expiresAt, disabled }]) => ({
      keyPrefix,
      fingerprint: hash.slice(0, MCP_FINGERPRINT_CHARS),
      name,
      createdAt,
      expiresAt,
      disabled,
    }))
    .sort((one, other) => one.createdAt - other.createdAt || (one.fingerprint < other.fingerprint ? -1 : 1))
}

/** Hashes. */
export function mcpKeysOf(view: View, username: string): readonly string[] {
  return mcpKeys(view).flatMap(([hash, key]) => (key.username === username ? [hash] : []))
}

/**
 * Undefined if there is no such key, it has expired or is disabled, or its owner may not come in.
 * @param hasAccess whether access control is on; a key that was made without it has no owner then
 */
export function identityOfMcpKey(view: View, hash: string, bootstrapAdmin: string, hasAccess: boolean): Identity | undefined {
  const key = hash === '' ? undefined : (view.setting(SERVER_SETTINGS, 'mcp-key', hash) as McpKey | undefined)
  if (key === undefined || key.disabled || (key.expiresAt !== 0 && key.expiresAt <= view.now)) return undefined
  if (!hasAccess) return { username: key.username, tokenEpoch: 0, rights: { isAdmin: false, grants: [] }, expiresAt: key.expiresAt }
  const owner = identityOfUser(view, key.username, bootstrapAdmin)
  return owner === undefined ? undefined : { ...owner, expiresAt: key.expiresAt }
}

export function addMcpKey(
  view: View,
  { username, key, name, expiresAt }: Extract<AccessChange, { readonly kind: 'addMcpKey' }>,
): AccessDecision {
  if (view.countSettings(SERVER_SETTINGS, 'mcp-key') >= MCP_KEYS_MAX) throw badRequest(`too many keys: at most ${MCP_KEYS_MAX}`)
  const keyPrefix = key.slice(0, MCP_KEY_PREFIX_CHARS)
  const stored: McpKey = { username, name, keyPrefix, createdAt: view.now, expiresAt, disabled: false }
  return {
    writes: [{ setting: 'mcp-key', id: hashOfKey(key), value: stored }],
    answer: { key, name, createdAt: stored.createdAt, expiresAt },
  }
}

export function disableMcpKey(view: View, given: string): AccessDecision {
  const [id, key] = mcpKeyGiven(view, given)
  return { writes: [{ setting: 'mcp-key', id, value: { ...key, disabled: true } }], answer: { status: 'disabled' } }
}

/**
 * @param given the key itself, its hash, or its fingerprint as it is listed
 * @throws ServiceError 404
 */
export function mcpKeyGiven(view: View, given: string): readonly [hash: string, key: McpKey] {
  const hash = hashOfKey(given)
  const named = given.toLowerCase()
  const found = mcpKeys(view).filter(([known]) => known === hash || (named.length >= MCP_FINGERPRINT_CHARS && known.startsWith(named)))
  const [only] = found
  if (only === undefined || found.length > 1) throw serviceError('keyNotFound')
  return only
}
