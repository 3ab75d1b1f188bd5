/**
 * May this principal run this operation on these collections? Asked for every request of every surface: on
 * the loop for operations that are answered there and before a cached answer is given, in a lane before the
 * handler runs. While access control is off everybody is the anonymous principal, who may do everything; the
 * question is on every path from the start, so that no operation and no surface is added beside it. Pure.
 */
import { serviceError } from '../errors.js'
import { ALL_COLLECTIONS, namesAt } from '../operations/collection_access.js'
import { isInternal, type AnyOperation } from '../operations/operation.js'
import { threadTelemetry } from '../telemetry/registry.js'
import type { Principal } from './principal.js'

/** Where the question was asked: each has its counter. */
export type AuthorizationPath = 'loop' | 'lane' | 'cached'

declare const isAuthorized: unique symbol

/** The outcome of the question, which a handler needs: only `authorize` makes one. */
export interface Authorized {
  readonly [isAuthorized]: true
  readonly principal: Principal
  /** The collections on which the permission was asked; empty where the caller is shown what it may read. */
  readonly collections: readonly string[]
  /**
   * Whether the caller may be shown this collection: for listings and for operations over all collections.
   */
  mayRead(collection: string): boolean
}

/**
 * The collections that a validated input touches, by the row; empty: those that the caller may read.
 * @param collectionOfJob undefined: there is no such job, and whether there is one is only told to a caller
 * that may read all collections
 */
export function collectionsOf(
  operation: AnyOperation,
  input: Readonly<Record<string, unknown>>,
  collectionOfJob: (id: string) => string | undefined,
): readonly string[] {
  if (isInternal(operation)) return [ALL_COLLECTIONS]
  const access = operation.collections
  switch (access.kind) {
    case 'server':
      return [ALL_COLLECTIONS]
    case 'readable':
      return []
    case 'job':
      return [collectionOfJob(String(input['id'])) ?? ALL_COLLECTIONS]
    case 'named': {
      const names = namesAt(access.paths, input)
      if (names.length > 0) return names
      return access.otherwise === 'readable' ? [] : [ALL_COLLECTIONS]
    }
  }
}

/** @throws ServiceError 403 `forbidden` */
export function authorize(
  operation: AnyOperation,
  principal: Principal,
  collections: readonly string[],
  path: AuthorizationPath,
): Authorized {
  threadTelemetry().add(COUNTERS[path], 1)
  if (!isAllowed(operation, principal, collections)) throw serviceError('forbidden')
  return { principal, collections, mayRead: (collection: string) => mayRead(principal, collection) } as unknown as Authorized
}

const COUNTERS = { loop: 'authorizations_loop', lane: 'authorizations_lane', cached: 'authorizations_cached' } as const

function isAllowed(operation: AnyOperation, principal: Principal, collections: readonly string[]): boolean {
  if (isInternal(operation)) return principal.kind === 'system'
  if (operation.permission === 'public' || principal.kind === 'system') return true
  return collections.every((collection) => mayAsk(principal, collection))
}

/** Access control is off: every named collection is everybody's. */
function mayAsk(principal: Principal, collection: string): boolean {
  return principal.kind === 'anonymous' && collection !== ''
}

function mayRead(principal: Principal, collection: string): boolean {
  return principal.kind === 'system' || mayAsk(principal, collection)
}
