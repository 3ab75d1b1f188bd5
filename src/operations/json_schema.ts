/**
 * Builders of JSON Schemas, and the TypeScript types derived from them. A schema is plain data, and the
 * OpenAPI document contains the same data. The project has its own builders because every thread loads them
 * before its first response: they load in no measurable time, while the previous library took 0.18 s per
 * thread (docs/decisions/0050-schemas-of-our-own.md). Only the keywords below are supported.
 * src/worker/request/schema_check.ts supports those of an input and refuses others. Pure.
 */

type TypeName = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** Exists only for the compiler: carries the type of the values that a schema accepts. */
declare const VALUE: unique symbol

/** For readers only; not used in validation. */
export interface Annotations {
  readonly title?: string
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly default?: unknown
}

export interface Keywords extends Annotations {
  readonly type?: TypeName | readonly TypeName[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** Schema of the fields that `properties` does not name. */
  readonly additionalProperties?: Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly minimum?: number
}

export interface Schema<Value = unknown> extends Keywords {
  readonly [VALUE]?: Value
}

/** An optional field. Used only in the fields of `Type.Object`. */
export interface OptionalField<Value = unknown> {
  readonly optional: Schema<Value>
}

export type Fields = Readonly<Record<string, Schema | OptionalField>>
type RequiredName<Of extends Fields> = { [Name in keyof Of]: Of[Name] extends OptionalField ? never : Name }[keyof Of]
type Flat<Type> = { [Name in keyof Type]: Type[Name] }

export type ObjectOf<Of extends Fields> = Flat<
  { readonly [Name in RequiredName<Of>]: ValueOf<Of[Name]> } & {
    readonly [Name in Exclude<keyof Of, RequiredName<Of>>]?: ValueOf<Of[Name]>
  }
>

/** The type of the values that a schema accepts. */
export type ValueOf<Of> = Of extends OptionalField<infer Value> ? Value : Of extends Schema<infer Value> ? Value : never

type TextOptions = Annotations & Pick<Keywords, 'minLength'>
type NumberOptions = Annotations & Pick<Keywords, 'minimum'>

function objectOf<const Of extends Fields>(fields: Of, options: Annotations = {}): Schema<ObjectOf<Of>> {
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => !('optional' in field)).map(([name]) => name)
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, 'optional' in field ? field.optional : field])),
    ...options,
  }
}

/** Named `Type`, so that a row reads as the type of its input and output. */
export const Type = {
  Object: objectOf,
  Array: <Value>(items: Schema<Value>, options: Annotations = {}): Schema<readonly Value[]> => ({ type: 'array', items, ...options }),
  String: (options: TextOptions = {}): Schema<string> => ({ type: 'string', ...options }),
  Boolean: (options: Annotations = {}): Schema<boolean> => ({ type: 'boolean', ...options }),
  Integer: (options: NumberOptions = {}): Schema<number> => ({ type: 'integer', ...options }),
  Number: (options: NumberOptions = {}): Schema<number> => ({ type: 'number', ...options }),
  Optional: <Value>(schema: Schema<Value>): OptionalField<Value> => ({ optional: schema }),
  /** A schema whose type the compiler cannot derive; the caller declares it. */
  Unsafe: <Value>(keywords: Keywords): Schema<Value> => keywords,
}
