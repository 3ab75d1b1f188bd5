/**
 * The requester's identity: the principal, which travels with each request from its surface to its handler,
 * across threads, and what the store knows about the owner of a credential. Plain data.
 */
import type { PlainRights, Rights } from './rights.js'

/** UTF-16 units of the name of a principal: a host name or an address of mail has 254 characters at most. */
export const PRINCIPAL_NAME_CHARS_MAX = 256

/**
 * `anonymous`: a client while access control is off. `system`: the server itself, for its background work; no
 * surface makes one. `guest`: a client without credentials while access control is on, who may use public
 * operations only. `user`: a client whose credentials were checked.
 */
type PrincipalKind = 'anonymous' | 'system' | 'guest' | 'user'

export interface Principal {
  readonly kind: PrincipalKind
  /** Recorded as the actor of its writes; empty if it has no name. */
  readonly name: string
  /** A user has shown an API key instead of a token; a guest a credential that is not valid. */
  readonly shown?: 'key' | 'refused'
  /** Of a user. They do not cross threads: each thread looks them up by the name. */
  readonly rights?: Rights
}

/**
 * Whether a surface may ask on behalf of the principal.
 * @param value as it came from the surface's thread, so it may be anything
 */
export function isClientPrincipal(value: unknown): value is Principal {
  if (typeof value !== 'object' || value === null) return false
  const { kind, name } = value as Partial<Record<keyof Principal, unknown>>
  if (!PRINCIPAL_KINDS.some((known) => known === kind) || kind === 'system') return false
  return typeof name === 'string' && name.length <= PRINCIPAL_NAME_CHARS_MAX && (kind !== 'user' || name !== '')
}

/** In the order of their codes on the wire. */
export const PRINCIPAL_KINDS: readonly PrincipalKind[] = ['anonymous', 'system', 'guest', 'user']

export const ANONYMOUS: Principal = { kind: 'anonymous', name: '' }
export const SYSTEM: Principal = { kind: 'system', name: '' }
export const GUEST: Principal = { kind: 'guest', name: '' }
export const REFUSED_GUEST: Principal = { ...GUEST, shown: 'refused' }

/** The credential whose owner is looked up, by one of its names. */
export interface AskedIdentity {
  readonly username?: string
  /** SHA-256 of an API key, in hexadecimal digits. */
  readonly keyHash?: string
  /** SHA-256 of a key of MCP, likewise. */
  readonly mcpKeyHash?: string
}

/** The owner of a credential, as the store knows it. */
export interface Identity {
  readonly username: string
  /** Tokens of another epoch are not valid. */
  readonly tokenEpoch: number
  readonly rights: PlainRights
  /** Unix seconds until which the API key is valid; 0: without end. */
  readonly expiresAt: number
}
