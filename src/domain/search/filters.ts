/**
 * `filterMeta` as requests carry it: a map from metadata keys to the values of which one must be there. Pure;
 * any lane.
 */
import { badRequest } from '../../errors.js'
import { FILTER_VALUES_MAX, META_KEY_BYTES_MAX, META_VALUE_BYTES_MAX } from '../../limits.js'

/** AND of these; OR inside. A filter without values asks that the key is there at all. */
export type Filters = readonly (readonly [key: string, values: readonly string[]])[]

/**
 * The same bounds as for stored metadata, and one for all values together, so that a plan stays within what
 * the engine takes.
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
