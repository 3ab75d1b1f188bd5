/**
 * May this principal run this operation on these collections? Asked for every request, before its handler. While access control is off everybody is the one anonymous
 * principal, who may do everything; the question stands on the path from the start, so that no operation is ever added beside it.
 */
import { serviceError } from '../../errors.js'
import type { Operation } from '../../operations/operation.js'

/** Who asks. `anonymous`: access control is off. */
export type Principal = { readonly kind: 'anonymous' }

export const ANONYMOUS: Principal = { kind: 'anonymous' }

/** Permission is asked on this name where an operation touches no collection in particular. */
export const ALL_COLLECTIONS = '*'

/**
 * The collections that a validated input names, by the row's extractor.
 * @param collectionOfJob undefined: there is no such job; whether there is one is told to who may read them all
 */
export function collectionsOf(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  collectionOfJob: (id: string) => string | undefined,
): readonly string[] {
  if (operation.collection === 'server') return [ALL_COLLECTIONS]
  if (operation.collection === 'job') return [collectionOfJob(String(input['id'])) ?? ALL_COLLECTIONS]
  const { field, list } = operation.collection
  const objects = list === undefined ? [input] : (input[list] as readonly Readonly<Record<string, unknown>>[])
  const names = new Set(objects.flatMap((object) => namesIn(object[field])))
  return names.size === 0 ? [ALL_COLLECTIONS] : [...names]
}

/** Without a name the operation touches them all. */
function namesIn(named: unknown): readonly string[] {
  if (typeof named === 'string') return [named]
  const names = Array.isArray(named) ? named.filter((name) => typeof name === 'string') : []
  return names.length > 0 ? names : [ALL_COLLECTIONS]
}

/** @throws ServiceError 403 `forbidden` */
export function authorize(operation: Operation, principal: Principal, collections: readonly string[]): void {
  if (operation.permission === 'public') return
  // An operation that asks about nothing is a fault of its row: refuse.
  if (principal.kind === 'anonymous' && collections.length > 0) return
  throw serviceError('forbidden')
}
