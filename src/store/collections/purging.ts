/**
 * Removes the rows of deleted collections, which no reader sees any more, in slices. Inside a write
 * transaction.
 */
import { tablesOfCollections } from '../environment.js'
import type { Environment } from '../environment.js'
import { prefixEnd } from '../keys.js'
import { bodiesWithObjects } from '../objects.js'

/** @returns true when rows are left */
export function purgeRetired(environment: Environment, rowsMax: number, dropObject: (body: Buffer) => void): boolean {
  const { retired, counters } = environment
  // A row that can't be believed may name a collection that is in use: what it stood for stays.
  const [key, another] = [...retired.intactKeys()]
  if (key === undefined) return false
  let room = rowsMax
  for (const body of bodiesWithObjects(environment, key, room)) {
    dropObject(body)
    room--
  }
  if (room <= 0) return true
  for (const table of tablesOfCollections(environment)) {
    for (const row of [...table.getKeys({ start: key, end: prefixEnd(key), limit: room })]) {
      table.remove(row)
      room--
    }
    if (room <= 0) return true
  }
  counters.remove(Buffer.from(key))
  retired.remove(key)
  return another !== undefined
}
