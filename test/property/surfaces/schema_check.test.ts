/**
 * The input check agrees with a full implementation of JSON Schema: it accepts the same values, and for
 * invalid ones it names the same position. fast-check prints seeds on failure.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { operations } from '../../../src/operations/index.js'
import { type Schema, Type } from '../../../src/operations/row/json_schema.js'
import { checkOf, type Mismatch } from '../../../src/worker/request/schema_check.js'
import { holds } from '../../harness/property.js'

const ajv = new Ajv({ allErrors: false, strict: false, ownProperties: true })

/** Values of any kind, on both sides of the schemas' limits. */
const anything = fc.constantFrom<unknown>(
  '', 'a', '🙂', 0, 1, -1, 1.5, 1e300, Number.POSITIVE_INFINITY, true, false, null, [], ['a'], [1], [['a']], {}, { a: 1 }, { a: ['b'] }, { constructor: 1 },
) // prettier-ignore

/**
 * Mostly valid values: each part may be replaced by anything, a field may be absent, and unknown fields may
 * be present.
 */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const right = (): fc.Arbitrary<unknown> => {
    switch (schema.type) {
      case 'object': {
        const named = fc.record(
          Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, valuesOf(field)])),
          { requiredKeys: [] },
        )
        const others = fc.dictionary(
          fc.constantFrom('other', 'meta.a', 'toString', 'a/b~c', ''),
          valuesOf(schema.additionalProperties ?? Type.Array(Type.String())),
        )
        return fc.tuple(others, named).map(([one, other]) => ({ ...one, ...other }))
      }
      case 'array':
        return fc.array(valuesOf(schema.items ?? {}), { maxLength: 3 })
      case 'integer':
        return fc.nat()
      case 'number':
        return fc.double({ noNaN: true })
      case 'boolean':
        return fc.boolean()
      default:
        return schema.anyOf?.[0] === undefined ? fc.string() : valuesOf(schema.anyOf[0])
    }
  }
  return fc.oneof({ weight: 12, arbitrary: right() }, { weight: 1, arbitrary: anything })
}

/** The result of ajv, in the terms of the check. */
function judgement(validate: ReturnType<typeof ajv.compile>, value: unknown): Mismatch | null {
  if (validate(value)) return null
  const { keyword, instancePath, params } = validate.errors![0]!
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') return { isMissing: true, path, missing: (params as { readonly missingProperty: string }).missingProperty }
  return { isMissing: false, path }
}

function assertAgreement(schema: Schema, name: string): void {
  const check = checkOf(schema)
  const validate = ajv.compile(schema)
  holds(
    fc.property(valuesOf(schema), (value) => assert.deepEqual(check(value), judgement(validate, value), name)),
    { numRuns: 400 },
  )
}

describe('the check of an input', () => {
  it('schema check: every row judges its input as JSON Schema does', () => {
    for (const { name, input } of operations) assertAgreement(input, name)
  })

  it('schema check: schemas that nest deeper are judged as JSON Schema does', () => {
    const lists = Type.Object({
      lists: Type.Array(Type.Array(Type.Object({ a: Type.Integer({ minimum: 3 }), b: Type.Optional(Type.Boolean()) }))),
    })
    assertAgreement(lists, 'lists')
    assertAgreement(
      Type.Unsafe({ type: 'object', properties: { a: Type.Number() }, additionalProperties: Type.Array(Type.String()) }),
      'others',
    )
    assertAgreement(Type.Unsafe({ anyOf: [Type.Object({ a: Type.String() }), Type.Array(Type.Integer())] }), 'alternatives')
  })

  it('schema check: a keyword that nothing checks is refused when the lane starts', () => {
    assert.throws(() => checkOf({ type: 'string', pattern: 'a' } as Schema), /keywords that nothing checks: pattern/)
    assert.throws(() => checkOf({ type: 'string', minLength: 2 }), /more than one character/)
    assert.throws(() => checkOf({ type: ['string', 'null'] }), /type of schema that nothing checks/)
    assert.throws(() => checkOf(Type.Object({ a: Type.Array({ format: 'date' } as Schema<string>) })), /format/)
  })
})
