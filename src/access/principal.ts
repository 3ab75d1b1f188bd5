/**
 * The principal: the requester's identity. It travels with each request from its surface to its handler,
 * across threads.
 */

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

/** In the order of their codes on the wire. */
export const PRINCIPAL_KINDS: readonly PrincipalKind[] = ['anonymous', 'system']

export const ANONYMOUS: Principal = { kind: 'anonymous', name: '' }
export const SYSTEM: Principal = { kind: 'system', name: '' }
