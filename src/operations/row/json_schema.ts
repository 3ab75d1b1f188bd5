/**
 * Builders of JSON Schemas, and the TypeScript types derived from them. A schema is plain data, and the
 * OpenAPI document contains the same data. The project has its own builders because every thread loads them
 * before its first response: they load in no measurable time, while the previous library took 0.18 s per
 * thread (docs/decisions/interfaces/core.md). Only the keywords below are supported.
 * src/worker/request/schema_check.ts supports those of an input and refuses others. Pure.
 */

type TypeName = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** Exists only for the compiler: carries the type of the values that a schema accepts. */
declare const VALUE: unique symbol
/** A symbol, so that facts are no part of the JSON that clients read. */
const FACTS = Symbol('facts')

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
  /** Of an object: what its fields are in other protocols than HTTP, by name. */
  readonly [FACTS]?: Readonly<Record<string, FieldFacts>>
}

/** An optional field. Used only in the fields of `Type.Object`. */
export interface OptionalField<Value = unknown> {
  readonly optional: Schema<Value>
  readonly facts?: FieldFacts
}

/** A required field with facts. Used only in the fields of `Type.Object`. */
interface RequiredField<Value = unknown> {
  readonly required: Schema<Value>
  readonly facts: FieldFacts
}

export type Fields = Readonly<Record<string, Schema | OptionalField | RequiredField>>
type RequiredName<Of extends Fields> = { [Name in keyof Of]: Of[Name] extends OptionalField ? never : Name }[keyof Of]
type Flat<Type> = { [Name in keyof Type]: Type[Name] }

export type ObjectOf<Of extends Fields> = Flat<
  { readonly [Name in RequiredName<Of>]: ValueOf<Of[Name]> } & {
    readonly [Name in Exclude<keyof Of, RequiredName<Of>>]?: ValueOf<Of[Name]>
  }
>

/** The type of the values that a schema accepts. */
export type ValueOf<Of> =
  Of extends OptionalField<infer Value>
    ? Value
    : Of extends RequiredField<infer Value>
      ? Value
      : Of extends Schema<infer Value>
        ? Value
        : never

/** A field that the contract's message lacks, or one of a message that the contract lacks. */
interface GrpcField {
  /** From 100 in a message of the contract, from 1 in a message of our own. Never used again. */
  readonly number: number
  /** Default: the name of the field in snake_case. */
  readonly name?: string
  /** Name of the message of its value, which the contract lacks. Default: title of the schema. */
  readonly message?: string
  /** Its absence can be told from the zero value. */
  readonly hasPresence?: true
}

/**
 * What a field is in the protocols beside HTTP. `npm run generate` and the surfaces derive the rest. A field
 * that the contract of a protocol has needs no fact: it is found by its name.
 */
export interface FieldFacts {
  /** The number alone, where the rest is as by default. */
  readonly grpc?: number | GrpcField
  /** The schema of its value in gRPC, where that of HTTP leaves its fields open. */
  readonly grpcAs?: Schema
  /** The contract's type of GraphQL lacks it. */
  readonly graphql?: true
}

type TextOptions = Annotations & Pick<Keywords, 'minLength'>
type NumberOptions = Annotations & Pick<Keywords, 'minimum'>

function objectOf<const Of extends Fields>(fields: Of, options: Annotations = {}): Schema<ObjectOf<Of>> {
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => !('optional' in field)).map(([name]) => name)
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, schemaOf(field)])),
    ...options,
    [FACTS]: Object.fromEntries(entries.flatMap(([name, field]) => ('facts' in field ? [[name, field.facts]] : []))),
  }
}

function schemaOf(field: Schema | OptionalField | RequiredField): Schema {
  return 'optional' in field ? field.optional : 'facts' in field ? field.required : field
}

/** What the fields of an object are in other protocols, by name. Fields without facts have no entry. */
export function factsOf(schema: Schema): Readonly<Record<string, FieldFacts>> {
  return schema[FACTS] ?? {}
}

/** Named `Type`, so that a row reads as the type of its input and output. */
export const Type = {
  Object: objectOf,
  Array: <Value>(items: Schema<Value>, options: Annotations = {}): Schema<readonly Value[]> => ({ type: 'array', items, ...options }),
  String: (options: TextOptions = {}): Schema<string> => ({ type: 'string', ...options }),
  Boolean: (options: Annotations = {}): Schema<boolean> => ({ type: 'boolean', ...options }),
  Integer: (options: NumberOptions = {}): Schema<number> => ({ type: 'integer', ...options }),
  Number: (options: NumberOptions = {}): Schema<number> => ({ type: 'number', ...options }),
  Optional: <Value>(schema: Schema<Value>, facts: FieldFacts = {}): OptionalField<Value> => ({ optional: schema, facts }),
  Required: <Value>(schema: Schema<Value>, facts: FieldFacts): RequiredField<Value> => ({ required: schema, facts }),
  /** A schema whose type the compiler cannot derive; the caller declares it. */
  Unsafe: <Value>(keywords: Keywords): Schema<Value> => keywords,
}
