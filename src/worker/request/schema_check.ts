/**
 * Checks values against a schema. A schema is compiled once into a tree of small functions. A check allocates
 * nothing while the value is valid, and stops at the first mismatch: a body of a million invalid items must
 * not produce a million errors. No code is generated, so a lane is ready for its first request at once.
 * Supports the keywords that inputs use and refuses a schema with others, so that none is overlooked.
 * test/property/surfaces/schema_check.test.ts compares it with a full implementation of JSON Schema. Lane
 * threads.
 */
import type { Keywords, Schema } from '../../operations/row/json_schema.js'

export interface Mismatch {
  /** True if a required field is missing at `path`; otherwise the value there has the wrong type. */
  readonly isMissing: boolean
  /** Field names and list positions, outermost first. */
  readonly path: readonly string[]
  /** Name of the missing field. */
  readonly missing?: string
}

export type Check = (value: unknown) => Mismatch | null

type ObjectCheck = (object: Readonly<Record<string, unknown>>) => Mismatch | null

const KNOWN: ReadonlySet<string> = new Set<keyof Keywords>([
  ...(['title', 'description', 'examples', 'default'] as const),
  ...([
    'type',
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'items',
    'anyOf',
    'enum',
    'minLength',
    'minimum',
  ] as const),
])

const WRONG: Mismatch = { isMissing: false, path: [] }
const isRight: Check = () => null

/** @throws Error for a schema with unsupported keywords: a programming error */
export function checkOf(schema: Schema): Check {
  const unknown = Object.keys(schema).filter((keyword) => !KNOWN.has(keyword))
  if (unknown.length > 0) throw new Error(`schema keywords that nothing checks: ${unknown.join(', ')}`)
  return all([kindCheck(schema), alternativesCheck(schema)])
}

/** Runs the checks in order; checks that always succeed are omitted. */
function all(checks: readonly Check[]): Check {
  const [first = isRight, second, ...more] = checks.filter((check) => check !== isRight)
  if (second === undefined) return first
  const rest = all([second, ...more])
  return (value) => first(value) ?? rest(value)
}

function alternativesCheck({ anyOf, enum: values }: Schema): Check {
  if (values !== undefined) return (value) => (values.includes(value as string) ? null : WRONG)
  const checks = (anyOf ?? []).map(checkOf)
  if (checks.length === 0 || checks.includes(isRight)) return isRight
  return (value) => {
    let first: Mismatch | null = null
    for (const check of checks) {
      const mismatch = check(value)
      if (mismatch === null) return null
      first ??= mismatch
    }
    return first
  }
}

function kindCheck(schema: Schema): Check {
  switch (schema.type) {
    case 'object':
      return objectCheck(schema)
    case 'array':
      return listCheck(checkOf(schema.items ?? {}))
    case 'string': {
      const { minLength = 0 } = schema
      // Counts code units, whereas JSON Schema counts characters: the two agree for a minimum of at most one.
      if (minLength > 1) throw new Error('a text of more than one character can not be asked for')
      return (value) => (typeof value === 'string' && value.length >= minLength ? null : WRONG)
    }
    case 'number':
    case 'integer': {
      const { minimum = Number.NEGATIVE_INFINITY, type } = schema
      // A number too large for a double becomes Infinity, which counts as an integer.
      const isWhole = (value: number): boolean =>
        type === 'number' || Number.isInteger(value) || Math.abs(value) === Number.POSITIVE_INFINITY
      return (value) => (typeof value === 'number' && isWhole(value) && value >= minimum ? null : WRONG)
    }
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? null : WRONG)
    case undefined:
      return isRight
    default:
      throw new Error(`a type of schema that nothing checks: ${String(schema.type)}`)
  }
}

function listCheck(check: Check): Check {
  if (check === isRight) return (value) => (Array.isArray(value) ? null : WRONG)
  return (value) => {
    if (!Array.isArray(value)) return WRONG
    for (let at = 0; at < value.length; at++) {
      const mismatch = check(value[at])
      if (mismatch !== null) return below(String(at), mismatch)
    }
    return null
  }
}

function objectCheck({ required = [], additionalProperties, properties = {}, patternProperties = {} }: Schema): Check {
  const checks: readonly ObjectCheck[] = [
    requiredCheck(required),
    ...(additionalProperties === undefined ? [] : [fieldsCheck((name) => !Object.hasOwn(properties, name), checkOf(additionalProperties))]),
    propertiesCheck(Object.entries(properties).map(([name, schema]) => [name, checkOf(schema)] as const)),
    ...Object.entries(patternProperties).map(([pattern, schema]) => {
      const expression = new RegExp(pattern, 'u')
      return fieldsCheck((name) => expression.test(name), checkOf(schema))
    }),
  ]
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return WRONG
    for (const check of checks) {
      const mismatch = check(value as Readonly<Record<string, unknown>>)
      if (mismatch !== null) return mismatch
    }
    return null
  }
}

function requiredCheck(required: readonly string[]): ObjectCheck {
  return (object) => {
    for (const name of required) if (!Object.hasOwn(object, name)) return { isMissing: true, path: [], missing: name }
    return null
  }
}

/** Checks the fields of these names, in this order. */
function propertiesCheck(properties: readonly (readonly [name: string, check: Check])[]): ObjectCheck {
  return (object) => {
    for (const [name, check] of properties) {
      if (!Object.hasOwn(object, name)) continue
      const mismatch = check(object[name])
      if (mismatch !== null) return below(name, mismatch)
    }
    return null
  }
}

/** Checks all fields whose name matches. */
function fieldsCheck(isMeant: (name: string) => boolean, check: Check): ObjectCheck {
  return (object) => {
    for (const name of Object.keys(object)) {
      if (!isMeant(name)) continue
      const mismatch = check(object[name])
      if (mismatch !== null) return below(name, mismatch)
    }
    return null
  }
}

function below(name: string, mismatch: Mismatch): Mismatch {
  return { ...mismatch, path: [name, ...mismatch.path] }
}
