/** Documents of a batch as models write them, in the form of the operation's input. Pure; any thread. */
import { camelCase } from './argument.js'
import { badArgument, readValue } from './argument_values.js'

/** @throws CatalogueError for an item that is no object; the operation reports wrong fields of documents */
export function batchDocuments(list: readonly unknown[]): readonly object[] {
  return list.map((item, index) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      throw badArgument(`invalid argument documents[${index}]: an object expected`)
    const entries = Object.entries(item).map(([name, value]) => [camelCase(name), fieldOf(name, value)] as const)
    return Object.fromEntries(entries)
  })
}

function fieldOf(name: string, value: unknown): unknown {
  return name === 'meta' && value !== null ? readValue('meta', 'values', value) : value
}
