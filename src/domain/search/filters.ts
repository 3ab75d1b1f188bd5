/**
 * `filterMeta` and `hasMeta` as sent in requests. `filterMeta` is a map from metadata keys to values: a
 * document passes if it has one of the values of each key. An empty list of values therefore admits no
 * document: access rules of applications are often such lists. `hasMeta` is a list of keys that a document
 * must have, whatever their values. Rules: docs/decisions/search/filters-and-sorting.md. Pure; any lane.
 */
import type { SearchPlan } from '../../engine/types.js'
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX, META_VALUE_BYTES_MAX } from '../../limits/documents.js'

/** Values in a `filterMeta`, over all its keys. */
const FILTER_VALUES_MAX = 256

export type Filters = SearchPlan['filters']

/** The fields of a request that filter by metadata. */
export interface FilterInput {
  readonly filterMeta?: Readonly<Record<string, readonly string[]>> | null | undefined
  readonly hasMeta?: readonly string[] | null | undefined
}

/**
 * Applies the limits of stored metadata, and a limit on the total number of values, so that a plan stays
 * within the limits of the engine.
 * @throws ServiceError 400
 */
export function parseFilters({ filterMeta, hasMeta }: FilterInput): Filters {
  const valued = Object.entries(filterMeta ?? {})
  const keys = [...new Set(hasMeta ?? [])]
  const count = valued.reduce((sum, [, values]) => sum + Math.max(1, values.length), keys.length)
  if (count > FILTER_VALUES_MAX) throw badRequest(`invalid filterMeta: more than ${FILTER_VALUES_MAX} values`)
  for (const [key, values] of valued) {
    requireKey('filterMeta', key)
    if (values.some((value) => Buffer.byteLength(value) > META_VALUE_BYTES_MAX))
      throw badRequest(`invalid filterMeta: a value of more than ${META_VALUE_BYTES_MAX} bytes`)
  }
  for (const key of keys) requireKey('hasMeta', key)
  return [...valued, ...keys.map((key) => [key, null] as const)]
}

function requireKey(field: keyof FilterInput, key: string): void {
  if (Buffer.byteLength(key) > META_KEY_BYTES_MAX) throw badRequest(`invalid ${field}: a key of more than ${META_KEY_BYTES_MAX} bytes`)
}
