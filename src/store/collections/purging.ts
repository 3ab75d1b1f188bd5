/**
 * Removes the rows of deleted collections, which are no longer visible to readers, in slices. Inside a write
 * transaction.
 */
import type { Environment } from '../environment.js'
import { tablesOfCollections } from '../environment.js'
import { bodiesWithObjects } from '../objects.js'
import { prefixEnd } from '../rows/keys.js'

/** @returns whether rows are left */
export function purgeRetired(environment: Environment, rowsMax: number, dropObject: (body: Buffer) => void): boolean {
  const { retired, counters } = environment
  // A damaged row may name a collection that is in use. The rows of its own collection therefore stay.
  const [key, another] = [...retired.intactKeys()]
  if (key === undefined) return false
  let remaining = rowsMax
  for (const body of bodiesWithObjects(environment, key, remaining)) {
    dropObject(body)
    remaining--
  }
  if (remaining <= 0) return true
  for (const table of tablesOfCollections(environment)) {
    for (const row of [...table.getKeys({ start: key, end: prefixEnd(key), limit: remaining })]) {
      table.remove(row)
      remaining--
    }
    if (remaining <= 0) return true
  }
  counters.remove(Buffer.from(key))
  retired.remove(key)
  return another !== undefined
}
