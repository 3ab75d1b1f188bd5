/**
 * Common parts of the rows' schemas. Conventions of the whole table: unknown fields are ignored, null counts
 * as absent, a required string is not empty. Pure data; loaded by every thread.
 */
import type { Annotations, FieldFacts, Fields, ObjectOf, OptionalField, Schema } from './json_schema.js'
import { Type } from './json_schema.js'
import type { InternalOperation, Operation, ProtocolNames } from './operation.js'

/** Of an operation that is offered over HTTP only. */
export const HTTP_ONLY: ProtocolNames = { grpc: null, graphql: null, mcp: null }

/** Preserves the types of a row's schemas, so that `InputOf<typeof row>` is exact. */
export function operation<Input extends Schema, Output extends Schema>(row: Operation<Input, Output>): Operation<Input, Output> {
  return row
}

/** The same for internal operations. */
export function internal<Input extends Schema, Output extends Schema>(
  row: Omit<InternalOperation<Input, Output>, 'isInternal'>,
): InternalOperation<Input, Output> {
  return { ...row, isInternal: true }
}

/**
 * Marks an optional field. Null means the same: it is removed before validation
 * (src/worker/request/input.ts), and the OpenAPI document says so.
 */
export const optional = Type.Optional

/** A required field with facts of other protocols. */
export const required = Type.Required

/** The same optional field with further facts. */
export function also<Value>({ optional: schema, facts }: OptionalField<Value>, further: FieldFacts): OptionalField<Value> {
  return Type.Optional(schema, { ...facts, ...further })
}

/** A required string that is not empty. */
export function text(description: string, example: string): Schema<string> {
  return Type.String({ minLength: 1, description, examples: [example] })
}

/**
 * A string with a list of known values. Other values pass the schema, because the contract defines the
 * operation's own response to them.
 */
export function word(values: readonly string[], description: string, fallback?: string): Schema<string> {
  const standard = fallback === undefined ? {} : { default: fallback }
  return Type.Unsafe<string>({ type: 'string', anyOf: [{ enum: [...values] }, {}], description, ...standard })
}

/**
 * An item of a list whose items are handled independently. Title and fields are documentation; any value
 * passes, because the operation reports errors per item.
 */
export function ownItem(title: string, schema: Schema): Schema {
  return Type.Unsafe<unknown>({ title, anyOf: [schema, {}] })
}

/**
 * A map with any keys. Keys may contain any character, including those that a pattern with `.` does not
 * match.
 */
export function mapOf<Value>(values: Schema<Value>, options: Annotations): Schema<Readonly<Record<string, Value>>> {
  return Type.Unsafe<Readonly<Record<string, Value>>>({ type: 'object', additionalProperties: values, ...options })
}

export function wholeNumber(description: string, options: Annotations = {}): Schema<number> {
  return Type.Integer({ minimum: 0, description, ...options })
}

/** An object in a response. All fields are required unless optional. */
export function shape<const Of extends Fields>(description: string, fields: Of, title?: string): Schema<ObjectOf<Of>> {
  return Type.Object(fields, title === undefined ? { description } : { title, description })
}

export const collection = text('Name of the collection. Created by the first write.', 'blog')
export const key = text('Key of the document, at most 1 024 bytes. Case-insensitive.', 'hello-world')
export const lang = text('Language code such as `en` or `en_GB`. Its case is preserved.', 'en')
export const metaMap = mapOf(Type.Array(Type.String()), {
  description: 'Metadata: each key has a list of strings.',
  examples: [{ category: ['tutorial'], tags: ['markdown', 'search'] }],
})
/** One value of a facet. */
const FacetValue = Type.Object({ value: Type.String(), count: Type.Integer() }, { title: 'FacetValue' })
export const facets = mapOf(Type.Array(FacetValue), {
  title: 'Facets',
  description: 'With `facetBy`: values by key, ordered by count, then by value.',
})
/** Both metadata filters of a request. Spread into the fields of an input. */
export const metaFilters = {
  filterMeta: optional(
    mapOf(Type.Array(Type.String()), {
      description:
        'Metadata filter: documents must have every key, with at least one of its values. An empty list of values selects no document.',
      examples: [{ category: ['tutorial', 'guide'] }],
    }),
  ),
  hasMeta: optional(
    Type.Array(Type.String(), {
      description: 'Metadata keys that documents must have, with any value. Empty: no condition.',
      examples: [['category']],
    }),
    { grpc: 100 },
  ),
} as const
export const ttl = wholeNumber('Seconds until the document expires. 0: never.', { examples: [3600] })
export const limit = wholeNumber('Maximum number of results. Values above 10 000 count as 10 000.', { default: 50 })
export const offset = wholeNumber('Number of results to skip.', { default: 0 })
export const unixSeconds = (description: string): Schema<number> =>
  Type.Integer({ description: `${description} Unix seconds.`, examples: [1735689600] })

/** Collection, key and language: what identifies a document. */
export const identity = { collection, key, lang } as const

export const documentId = Type.String({
  description: 'Lower-cased collection, key and language, joined by `|`.',
  examples: ['blog|hello-world|en'],
})

export const Document = Type.Object(
  {
    id: documentId,
    key: Type.String({ examples: ['hello-world'] }),
    lang: Type.String({ examples: ['en'] }),
    meta: metaMap,
    contentMd: Type.String({ description: 'Markdown text.', examples: ['# Hello\n\nA first document.'] }),
    addedAt: unixSeconds('Time of the first write.'),
    updatedAt: unixSeconds('Time of the last write.'),
    expiresAt: Type.Optional(unixSeconds('When the document expires; present if a TTL is set.')),
  },
  { title: 'Document' },
)
