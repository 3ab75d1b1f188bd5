/**
 * The principal: the requester's identity. It travels with each request from its surface to its handler,
 * across threads.
 */

import { PRINCIPAL_NAME_CHARS_MAX } from '../limits/wire.js'

/**
 * `anonymous`: a client while access control is off. `system`: the server itself, for its background work; no
 * surface makes one.
 */
export type PrincipalKind = 'anonymous' | 'system'

export interface Principal {
  readonly kind: PrincipalKind
  /** Recorded as the actor of its writes; empty if it has no name. */
  readonly name: string
}

/**
 * Whether a surface may ask on behalf of the principal.
 * @param value as it came from the surface's thread, so it may be anything
 */
export function isClientPrincipal(value: unknown): value is Principal {
  if (typeof value !== 'object' || value === null) return false
  const { kind, name } = value as Partial<Record<keyof Principal, unknown>>
  if (!PRINCIPAL_KINDS.some((known) => known === kind) || kind === 'system') return false
  return typeof name === 'string' && name.length <= PRINCIPAL_NAME_CHARS_MAX
}

/** In the order of their codes on the wire. */
export const PRINCIPAL_KINDS: readonly PrincipalKind[] = ['anonymous', 'system']

export const ANONYMOUS: Principal = { kind: 'anonymous', name: '' }
export const SYSTEM: Principal = { kind: 'system', name: '' }
