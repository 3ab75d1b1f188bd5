/**
 * Decides whether a principal may run an operation on collections. It is called for every request of every
 * surface: on the event loop for operations answered there and before a cached answer is returned, in a lane
 * before the handler runs. While access control is off, every caller is the anonymous principal, who may do
 * everything. No operation and no surface can bypass the check. Pure.
 */
import { type ErrorCode, serviceError } from '../errors.js'
import { ALL_COLLECTIONS, namesAt } from '../operations/row/collection_access.js'
import { type AnyOperation, isInternal } from '../operations/row/operation.js'
import { threadTelemetry } from '../telemetry/registry.js'
import type { Principal } from './principal.js'
import type { CollectionPermission } from './rights.js'

/** Where the check was made; each path has its counter. */
type AuthorizationPath = 'loop' | 'lane' | 'cached'

declare const isAuthorized: unique symbol

/** The result of the check, which a handler requires: only `authorize` makes one. */
export interface Authorized {
  readonly [isAuthorized]: true
  readonly principal: Principal
  /** The collections that were authorized; empty if the caller is shown the collections that it may read. */
  readonly collections: readonly string[]
  /**
   * Whether the caller may be shown this collection: for listings and for operations over all collections.
   */
  mayRead(collection: string): boolean
}

/**
 * The collections that a validated input affects, according to the row; empty: those that the caller may
 * read.
 * @param collectionOf of a job or a webhook; undefined: there is no such one; only a caller that may read all
 * collections learns whether it exists
 */
export function collectionsOf(
  operation: AnyOperation,
  input: Readonly<Record<string, unknown>>,
  collectionOf: (kind: 'job' | 'webhook', id: string) => string | undefined,
): readonly string[] {
  if (isInternal(operation)) return [ALL_COLLECTIONS]
  const access = operation.collections
  switch (access.kind) {
    case 'server':
      return [ALL_COLLECTIONS]
    case 'account':
    case 'memory':
    case 'readable':
      return []
    case 'job':
    case 'webhook':
      return [collectionOf(access.kind, String(input['id'])) ?? ALL_COLLECTIONS]
    case 'named': {
      const names = namesAt(access.paths, input)
      if (names.length > 0) return names
      return access.otherwise === 'readable' ? [] : [ALL_COLLECTIONS]
    }
  }
}

/** @throws ServiceError 401 `missing authentication`, 403 */
export function authorize(
  operation: AnyOperation,
  principal: Principal,
  collections: readonly string[],
  path: AuthorizationPath,
): Authorized {
  threadTelemetry().add(COUNTERS[path], 1)
  if (!isAllowed(operation, principal, collections)) throw serviceError(refusalOf(operation, principal))
  return { principal, collections, mayRead: (collection: string) => permits(principal, 'read', collection) } as unknown as Authorized
}

/** Whether the caller may do everything: while access control is off, everybody may. */
export function isServerAdmin({ principal: { kind, rights } }: Authorized): boolean {
  return kind === 'anonymous' || kind === 'system' || rights?.isAdmin === true
}

/** For parts of an operation that concern the server. @throws ServiceError 403 */
export function requireServerAdmin(access: Authorized): void {
  if (!isServerAdmin(access)) throw serviceError('adminRequired')
}

const COUNTERS = { loop: 'authorizations_loop', lane: 'authorizations_lane', cached: 'authorizations_cached' } as const

function isAllowed(operation: AnyOperation, principal: Principal, collections: readonly string[]): boolean {
  if (isInternal(operation)) return principal.kind === 'system'
  const { permission } = operation
  if (permission === 'public' || principal.kind === 'system') return true
  if (principal.kind === 'guest') return false
  if (permission === 'authenticated') return principal.kind === 'user'
  return collections.every((collection) => permits(principal, permission, collection))
}

function refusalOf(operation: AnyOperation, { kind }: Principal): ErrorCode {
  if (kind === 'guest') return 'missingAuthentication'
  const isOfServer = !isInternal(operation) && operation.permission === 'admin' && operation.collections.kind === 'server'
  return isOfServer ? 'adminRequired' : 'forbidden'
}

function permits({ kind, rights }: Principal, permission: CollectionPermission, collection: string): boolean {
  switch (kind) {
    case 'system':
      return true
    case 'anonymous':
      return collection !== ''
    case 'guest':
      return false
    case 'user':
      return rights?.permits(permission, collection) === true
  }
}
