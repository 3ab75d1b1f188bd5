/**
 * Treats an empty list as an empty map where a map is expected: PHP writes both as `[]`. Applied here to the
 * inputs of all operations, at every depth that their schemas describe, before validation. A value that may
 * also be a list stays a list. Lane threads.
 */
import type { Schema } from '../../operations/json_schema.js'

/** Converts the empty lists inside a value, in place. */
type Settle = (value: unknown) => void

/** @returns undefined if no value of the schema can be a map */
export function emptyMapsOf(schema: Schema): Settle | undefined {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema
  const below = anyOf.map(emptyMapsOf).filter((settle) => settle !== undefined)
  const fields = Object.entries(properties).flatMap(([name, field]) => fieldOf(name, field))
  const others = additionalProperties === undefined ? undefined : memberOf(additionalProperties)
  const each = items === undefined ? undefined : emptyMapsOf(items)
  if (below.length === 0 && fields.length === 0 && others === undefined && each === undefined) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return
    for (const settle of below) settle(value)
    if (Array.isArray(value)) {
      if (each !== undefined) for (const item of value as unknown[]) each(item)
      return
    }
    for (const settle of fields) settle(value)
    if (others !== undefined) for (const name of Object.keys(value)) others(value as Record<string, unknown>, name)
  }
}

type SettleMember = (object: Record<string, unknown>, name: string) => void

function fieldOf(name: string, schema: Schema): readonly Settle[] {
  const settle = memberOf(schema)
  if (settle === undefined) return []
  return [(object) => Object.hasOwn(object as object, name) && settle(object as Record<string, unknown>, name)]
}

function memberOf(schema: Schema): SettleMember | undefined {
  const isMap = schema.type === 'object'
  const below = emptyMapsOf(schema)
  if (!isMap && below === undefined) return undefined
  return (object, name) => {
    const value = object[name]
    // Uses defineProperty instead of assignment, because `__proto__` is an ordinary name here.
    if (isMap && Array.isArray(value) && value.length === 0)
      Object.defineProperty(object, name, { value: {}, writable: true, enumerable: true, configurable: true })
    else below?.(value)
  }
}
