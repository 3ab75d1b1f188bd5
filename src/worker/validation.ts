/**
 * Does an input have the shape that its row declares? One compiled validator per operation and lane, made on first use: a lane pays only for the operations it runs.
 * Settled once here for all operations (architecture.md, section 6): a missing required field, or an empty text where the row asks for at least one character, answers
 * 400 `missing fields`; everything else 400 `invalid <field>`. Unknown fields are ignored.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { badRequest, serviceError } from '../errors.js'
import type { Operation } from '../operations/operation.js'
import type { FieldShape, Input } from './request_input.js'

interface Shape {
  readonly required: readonly string[]
  readonly fields: Readonly<Record<string, FieldShape & { readonly minLength?: number }>>
  readonly validate: ValidateFunction
}

// The first error ends the check: a body of a million wrong items must not make a million errors. Strict mode would refuse TypeBox's own keywords.
const ajv = new Ajv({ allErrors: false, strict: false, validateFormats: false, addUsedSchema: false, ownProperties: true })
const shapes = new Map<string, Shape>()

/** The fields that an operation's input may have, for the query string's conversions. */
export function fieldsOf(operation: Operation): Readonly<Record<string, FieldShape>> {
  return shapeOf(operation).fields
}

/** @throws ServiceError 400 */
export function validate(operation: Operation, input: Input): void {
  const shape = shapeOf(operation)
  for (const field of shape.required) {
    const value = input[field]
    if (value === undefined || (value === '' && (shape.fields[field]?.minLength ?? 0) > 0)) throw serviceError('missingFields')
  }
  if (!shape.validate(input)) throw badRequest(describe(shape.validate.errors?.[0]))
}

function shapeOf(operation: Operation): Shape {
  const known = shapes.get(operation.name)
  if (known !== undefined) return known
  const schema = operation.input as unknown as { readonly required?: readonly string[]; readonly properties?: Shape['fields'] }
  const shape: Shape = { required: schema.required ?? [], fields: schema.properties ?? {}, validate: ajv.compile(operation.input) }
  shapes.set(operation.name, shape)
  return shape
}

function describe(error: ErrorObject | undefined): string {
  // A field that is missing further down, e.g. in one of a list, or one that the schema forbids.
  if (error?.keyword === 'required') return 'missing fields'
  const path = (error?.instancePath ?? '').slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  return path === '' ? 'invalid request' : `invalid ${path.slice(0, 200)}`
}
