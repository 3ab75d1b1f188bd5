/**
 * `filterMeta` as sent in requests: a map from metadata keys to values. A document passes if it has one of
 * the values of each key. Pure; any lane.
 */
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX, META_VALUE_BYTES_MAX } from '../../limits/input.js'
import { FILTER_VALUES_MAX } from '../../limits/search.js'

/** AND between filters, OR between the values of a filter. A filter without values requires the key. */
export type Filters = readonly (readonly [key: string, values: readonly string[]])[]

/**
 * Applies the limits of stored metadata, and a limit on the total number of values, so that a plan stays
 * within the limits of the engine.
 * @throws ServiceError 400
 */
export function parseFilters(filterMeta: Readonly<Record<string, readonly string[]>> | null | undefined): Filters {
  const filters = Object.entries(filterMeta ?? {})
  let count = 0
  for (const [key, values] of filters) {
    count += Math.max(1, values.length)
    if (count > FILTER_VALUES_MAX) throw badRequest(`invalid filterMeta: more than ${FILTER_VALUES_MAX} values`)
    if (Buffer.byteLength(key) > META_KEY_BYTES_MAX) throw badRequest(`invalid filterMeta: a key of more than ${META_KEY_BYTES_MAX} bytes`)
    for (const value of values) {
      if (Buffer.byteLength(value) > META_VALUE_BYTES_MAX)
        throw badRequest(`invalid filterMeta: a value of more than ${META_VALUE_BYTES_MAX} bytes`)
    }
  }
  return filters
}
