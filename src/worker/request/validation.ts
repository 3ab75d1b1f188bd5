/**
 * Checks that an input has the shape that its row declares. The checks of all operations are built when a
 * lane starts. The rules are the same for all operations. A missing required
 * field, or an empty string where the row requires at least one character, answers 400 `missing fields`.
 * Everything else answers 400 `invalid <field>`. Unknown fields are ignored.
 */
import assert from 'node:assert/strict'
import { serviceError, ServiceError } from '../../errors.js'
import { laneOperations } from '../../operations/index.js'
import type { Schema } from '../../operations/json_schema.js'
import type { AnyOperation } from '../../operations/operation.js'
import { emptyMapsOf } from './empty_maps.js'
import { hintAt } from './hints.js'
import type { Input } from './input.js'
import { checkOf, type Check, type Mismatch } from './schema_check.js'

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
