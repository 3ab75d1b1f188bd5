/**
 * The OpenAPI 3.1 document, derived from the table of operations. Pure; built once, on the front-end thread. OpenAPI 3.1 schemas are JSON Schema 2020-12, which is what the rows hold,
 * so schemas are copied with two changes: a Document becomes a reference, and a field that may be absent may also be null.
 */
import { CATALOGUE } from '../../errors.js'
import type { CatalogueEntry } from '../../errors.js'
import type { Schema } from '../../operations/json_schema.js'
import type { HttpRoute, Operation } from '../../operations/operation.js'
import { Document } from '../../operations/schema.js'
import { INTERFACE_VERSION } from '../../version.js'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }
type ErrorCode = keyof typeof CATALOGUE

const DOCUMENT_TITLE = Document.title ?? 'Document'
const ABOUT = `A versioned database of markdown documents with full-text search.

Requests and answers are JSON. Unknown fields are ignored; null means the same as leaving a field out. Where a request has a body, a field that the body lacks may stand in the query string. Errors have the form \`{"error": "..."}\`.`

export function buildOpenApi(operations: readonly Operation[]): JsonObject {
  const paths: Record<string, Record<string, Json>> = {}
  for (const row of operations) {
    for (const [index, route] of row.http.entries()) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(row, route, index) }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Markdown Document Service',
      version: INTERFACE_VERSION,
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map((row) => row.group))].map((name) => ({ name })),
    paths,
    components: {
      schemas: {
        [DOCUMENT_TITLE]: copySchema(Document, false, true),
        Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
      },
    },
  }
}

function describe(row: Operation, route: HttpRoute, index: number): JsonObject {
  const properties = propertiesOf(row.input)
  const onPath = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '')
  const hasBody = route.method !== 'GET' && Object.keys(properties).some((name) => !onPath.includes(name))
  const required = requiredOf(row.input)
  const parameters = Object.entries(properties)
    .filter(([name]) => onPath.includes(name) || !hasBody)
    .map(([name, schema]) => parameter(name, schema, onPath.includes(name) ? 'path' : 'query', required.includes(name)))
  return {
    operationId: index === 0 ? row.name : `${row.name}${index + 1}`,
    summary: row.description,
    tags: [row.group],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(hasBody ? { requestBody: requestBody(row.input) } : {}),
    responses: responses(row, hasBody),
  }
}

function parameter(name: string, schema: Schema, place: 'path' | 'query', required: boolean): JsonObject {
  const { description, ...rest } = copySchema(schema, false, false) as { readonly description?: string } & Record<string, Json>
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: rest }
}

function requestBody(input: Schema): JsonObject {
  return { required: true, content: { 'application/json': { schema: copySchema(input, true, false), example: exampleInput(input) } } }
}

function responses(row: Operation, hasBody: boolean): JsonObject {
  const headers = (row.answerHeaders ?? []).map(
    ([name, description, type = 'integer']) => [name, { description, schema: { type } }] as const,
  )
  const success: JsonObject = {
    description: 'Success',
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(row.successStatus === 204 ? {} : { content: successContent(row) }),
  }
  const byStatus = new Map<number, CatalogueEntry[]>()
  for (const code of errorsOf(row, hasBody)) {
    const entry: CatalogueEntry = CATALOGUE[code]
    byStatus.set(entry.http, [...(byStatus.get(entry.http) ?? []), entry])
  }
  const errors = [...byStatus]
    .sort(([one], [other]) => one - other)
    .map(([status, entries]) => [String(status), errorResponse(entries)] as const)
  return { [String(row.successStatus ?? 200)]: success, ...Object.fromEntries(errors) }
}

function successContent(row: Operation): JsonObject {
  return { [(row.contentType ?? 'application/json').split(';')[0] ?? '']: { schema: copySchema(row.output, false, false) } }
}

/** Which errors an operation can answer: those of its row, and those that follow from what it is. */
export function errorsOf(row: Operation, hasBody: boolean): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>()
  if (requiredOf(row.input).length > 0) codes.add('missingFields')
  if ('limit' in propertiesOf(row.input)) codes.add('invalidLimit')
  if ('offset' in propertiesOf(row.input)) codes.add('invalidOffset')
  if (hasBody) for (const code of ['invalidJson', 'invalidUtf8', 'bodyTooLarge'] as const) codes.add(code)
  if (row.effect === 'write') codes.add('readOnlyMode').add('unhealthy').add('outcomeUnknown')
  if (row.effect === 'read') codes.add('writeOnlyMode')
  if (row.cost !== 'loop') codes.add('internal').add('overloaded').add('deadline').add('shuttingDown')
  if (row.cost === 'search' || row.effect === 'write') codes.add('warmingUp')
  for (const code of row.errors ?? []) codes.add(code)
  return [...codes]
}

function errorResponse(entries: readonly CatalogueEntry[]): JsonObject {
  const examples = entries.map(({ text }) => [text.replaceAll(/[^A-Za-z0-9]+/g, '-'), { value: { error: text } }] as const)
  const retry = entries.some(({ retryAfterSeconds }) => retryAfterSeconds !== undefined)
  return {
    description: entries.map(({ text }) => text).join('; '),
    ...(retry ? { headers: { 'Retry-After': { description: 'Seconds after which a retry can help.', schema: { type: 'integer' } } } } : {}),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples: Object.fromEntries(examples) } },
  }
}

/** @param nullable marks fields that may be absent as nullable, at every depth; for input */
function copySchema(schema: unknown, nullable: boolean, isRoot: boolean): Json {
  if (Array.isArray(schema)) return schema.map((item) => copySchema(item, nullable, false))
  if (typeof schema !== 'object' || schema === null) return schema as Json
  const source = schema as Record<string, unknown>
  if (!isRoot && source.title === DOCUMENT_TITLE) return { $ref: `#/components/schemas/${DOCUMENT_TITLE}` }
  const copy: Record<string, Json> = {}
  for (const [keyword, value] of Object.entries(source)) {
    copy[keyword] =
      keyword === 'properties'
        ? copyProperties(value as Record<string, Schema>, requiredOf(source), nullable)
        : copySchema(value, nullable, false)
  }
  return copy
}

function copyProperties(properties: Readonly<Record<string, Schema>>, required: readonly string[], nullable: boolean): JsonObject {
  const entries = Object.entries(properties).map(([name, schema]) => {
    const copy = copySchema(schema, nullable, false) as Record<string, Json>
    const { type } = copy
    const admitsNull = nullable && !required.includes(name) && typeof type === 'string'
    return [name, admitsNull ? { ...copy, type: [type, 'null'] } : copy] as const
  })
  return Object.fromEntries(entries)
}

/** An input that the operation would take: every required field, and of the others those that have an example. */
export function exampleInput(input: Schema): JsonObject {
  const required = requiredOf(input)
  const entries = Object.entries(propertiesOf(input)).flatMap(([name, schema]) => {
    const { examples, type } = schema as { readonly examples?: readonly Json[]; readonly type?: string }
    if (examples?.[0] !== undefined) return [[name, examples[0]] as const]
    return required.includes(name) ? [[name, type === 'string' ? '' : 0] as const] : []
  })
  return Object.fromEntries(entries)
}

export function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  return schema.properties ?? {}
}

export function requiredOf(schema: Schema): readonly string[] {
  return schema.required ?? []
}
