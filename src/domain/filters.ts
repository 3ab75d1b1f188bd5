/**
 * `filterMeta` as requests carry it: a map from metadata keys to the values of which one must be there. Pure; any lane.
 */
import { badRequest } from '../errors.js'
import { FILTER_VALUES_MAX } from '../limits.js'

/** AND of these; OR inside. A filter without values asks that the key is there at all. */
export type Filters = readonly (readonly [key: string, values: readonly string[]])[]

/** @throws ServiceError 400 when there are more values than the engine should be asked for */
export function parseFilters(filterMeta: Readonly<Record<string, readonly string[]>> | null | undefined): Filters {
  const filters = Object.entries(filterMeta ?? {})
  const count = filters.reduce((sum, [, values]) => sum + Math.max(1, values.length), 0)
  if (count > FILTER_VALUES_MAX) throw badRequest(`invalid filterMeta: ${count} values, at most ${FILTER_VALUES_MAX} are allowed`)
  return filters
}
