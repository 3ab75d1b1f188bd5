/**
 * Checks that an input has the shape that its row declares. The checks of all operations are built when a
 * lane starts, and the rules are the same for all. A missing required field, or an empty string where the row
 * requires at least one character, answers 400 `missing fields`. Everything else answers 400 `invalid
 * <field>`. Unknown fields are ignored. Lane threads.
 */
import assert from 'node:assert/strict'
import { ServiceError, serviceError } from '../../errors.js'
import { laneOperations } from '../../operations/index.js'
import type { Schema } from '../../operations/row/json_schema.js'
import type { AnyOperation } from '../../operations/row/operation.js'
import { hintAt } from './hints.js'
import type { Input } from './input.js'
import type { Check, Mismatch } from './schema_check.js'
import { checkOf } from './schema_check.js'

const checks: ReadonlyMap<AnyOperation, Check> = new Map(laneOperations.map((row) => [row, checkOf(row.input)]))

const emptyMaps = new Map(laneOperations.map((row) => [row, emptyMapsOf(row.input)]))

/** The fields that an operation's input may have. */
function fieldsOf(operation: AnyOperation): Readonly<Record<string, Schema>> {
  return operation.input.properties ?? {}
}

/** Converts empty lists to empty maps where maps are expected. @throws ServiceError 400 */
export function validate(operation: AnyOperation, input: Input): void {
  emptyMaps.get(operation)?.(input)
  const fields = fieldsOf(operation)
  for (const field of operation.input.required ?? []) {
    const value = input[field]
    if (value === undefined || (value === '' && (fields[field]?.minLength ?? 0) > 0)) throw serviceError('missingFields')
  }
  const check = checks.get(operation)
  assert(check !== undefined, `${operation.name} is not a row of the table`)
  const mismatch = check(input)
  if (mismatch !== null) throw refusalOf(mismatch, operation, input)
}

function refusalOf({ isMissing, path, missing }: Mismatch, operation: AnyOperation, input: Input): ServiceError {
  // A required field is missing at a deeper level, e.g. in an item of a list.
  if (isMissing)
    return serviceError('missingFields', hintAt(operation.input, input, [...path, ...(missing === undefined ? [] : [missing])]))
  const field = path.join('.')
  const text = field === '' ? 'invalid request' : `invalid ${field.slice(0, 200)}`
  return new ServiceError('invalid', text, hintAt(operation.input, input, path))
}

/** Converts the empty lists inside a value, in place. */
type Settle = (value: unknown) => void

/**
 * Treats an empty list as an empty map where a map is expected: PHP writes both as `[]`. Applied here to the
 * inputs of all operations, at every depth that their schemas describe, before validation. A value that may
 * also be a list stays a list.
 * @returns undefined if no value of the schema can be a map
 */
function emptyMapsOf(schema: Schema): Settle | undefined {
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
