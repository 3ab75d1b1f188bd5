/**
 * The members of a body that an operation can use: those that its row's schema names. Other members are not
 * built (docs/decisions/bounds-of-requests.md). Pure.
 */
import { ANY, type KnownMembers } from '../../engine/json_scan.js'
import type { Schema } from '../../operations/json_schema.js'

export function knownMembers(schema: Schema): KnownMembers {
  const { type, properties, additionalProperties, patternProperties, items } = schema
  if (type === 'array') return items === undefined ? ANY : { kind: 'list', items: knownMembers(items) }
  // Without names, or with names by pattern, any member may be used.
  if (type === 'object' && patternProperties === undefined && (properties !== undefined || additionalProperties !== undefined)) {
    const members = Object.entries(properties ?? {}).map(([name, field]) => [name, knownMembers(field)] as const)
    return { kind: 'object', members, rest: additionalProperties === undefined ? null : knownMembers(additionalProperties) }
  }
  return ownItemOf(schema) ?? ANY
}

/**
 * An item that is validated on its own (operations/schema.ts): returns its schema. Anything else is left for
 * the operation to refuse.
 */
function ownItemOf({ title, anyOf }: Schema): KnownMembers | undefined {
  const [item, anything, ...more] = anyOf ?? []
  if (title === undefined || item?.type !== 'object' || anything === undefined || more.length > 0) return undefined
  return Object.keys(anything).length === 0 ? knownMembers(item) : undefined
}
