/**
 * Builds the OpenAPI 3.1 document from the table of operations. Pure; built once, on the front-end thread.
 * OpenAPI 3.1 schemas are JSON Schema 2020-12, which the rows also use. So schemas are copied, with the
 * changes that openapi_schemas.ts makes for clients.
 */
import { INTERFACE_VERSION } from '../../../base/version.js'
import type { CatalogueEntry, ErrorCode } from '../../../errors.js'
import { CATALOGUE } from '../../../errors.js'
import type { FilesForm, HttpRoute } from '../../../operations/row/http_form.js'
import type { Schema } from '../../../operations/row/json_schema.js'
import type { Operation } from '../../../operations/row/operation.js'
import { RECEIVED } from '../../../operations/row/received_files.js'
import type { Json, JsonObject } from './openapi_schemas.js'
import { SchemaComponents } from './openapi_schemas.js'

const ABOUT = `A versioned database of markdown documents with full-text search.

Requests and answers are JSON. Unknown fields are ignored; null means the same as leaving a field out. Where a request has a body, a field that the body lacks may stand in the query string. Errors have the form \`{"error": "..."}\`.`

const GROUPS: Readonly<Record<Operation['group'], string>> = {
  System: 'What the server is, how it does, and what it offers.',
  Documents: 'Writing, reading and listing of documents.',
  Revisions: 'Kept versions of documents.',
  Collections: 'What is in a collection, and what happened to it.',
  'Collection settings': 'Settings of a collection.',
  Webhooks: 'Receivers of changes, and what waits for them.',
  'Full-text search': 'Search by words, completions and corrections.',
  'Vector search': 'Search by meaning.',
  Memory: 'Conversations of users: sessions, messages and what is recalled of them.',
  Access: 'Users, groups, API keys and permissions. There while access control is on.',
  'Export and backup': 'Copies of collections and of the whole store.',
}

/** One entry for the many error texts about invalid values, each of which names its field. */
const INVALID_FIELD: CatalogueEntry = { ...CATALOGUE.invalid, text: 'invalid <field>' }

const ErrorAnswer: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'string', description: 'What is wrong. Texts that the interface fixes never change.', examples: ['missing fields'] },
    hint: { type: 'string', description: 'With `missing fields` and `invalid …`: which field, what is expected there, and what came.' },
    requestId: { type: 'string', description: 'With a fault of the server: the line of its log about it has the same.' },
  },
}

export function buildOpenApi(operations: readonly Operation[]): JsonObject {
  const components = new SchemaComponents()
  components.named('Error', ErrorAnswer, false)
  // The rows of access control are offered while it is on.
  const isSecured = operations.some(({ permission }) => permission === 'authenticated')
  const paths: Record<string, Record<string, Json>> = {}
  for (const row of operations) {
    for (const [index, route] of (row.http?.routes ?? []).entries()) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(row, route, { index, isSecured }, components) }
    }
  }
  const groups = [...new Set(operations.map((row) => row.group))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Markdown Document Service',
      version: INTERFACE_VERSION,
      description: ABOUT,
      contact: { name: 'Markdown Document Service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: isSecured ? SECURITY : [],
    tags: groups.map((name) => ({ name, description: GROUPS[name] })),
    paths,
    components: { schemas: components.schemas, ...(isSecured ? { securitySchemes: SECURITY_SCHEMES } : {}) },
  }
}

/** A token of a login, or an API key. */
const SECURITY: Json = [{ token: [] }, { apiKey: [] }]
const SECURITY_SCHEMES: JsonObject = {
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
}

interface Place {
  /** Index of the route among those of its operation. */
  readonly index: number
  /** Whether access control is on. */
  readonly isSecured: boolean
}

function describe(row: Operation, route: HttpRoute, { index, isSecured }: Place, components: SchemaComponents): JsonObject {
  const properties = propertiesOf(row.input)
  const onPath = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '')
  const hasBody = takesBody(row, route)
  const required = requiredOf(row.input)
  const parameters = Object.entries(properties)
    .filter(([name]) => onPath.includes(name) || !hasBody || (takesWhole(row) && name !== RECEIVED))
    .map(([name, schema]) => {
      const isOnPath = onPath.includes(name)
      return parameter(name, schema, isOnPath ? 'path' : 'query', isOnPath || (!hasBody && required.includes(name)), components)
    })
  return {
    operationId: index === 0 ? row.name : `${row.name}${index + 1}`,
    summary: row.description,
    description: descriptionOf(row, route),
    tags: [row.group],
    ...(isSecured && row.permission === 'public' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(hasBody ? { requestBody: requestBody(row, onPath, components) } : {}),
    responses: responses(row, route, isSecured, components),
  }
}

/**
 * The server accepts DELETE with a body, but proxies and generators drop the body. So its input is shown as
 * query parameters.
 */
function takesBody(row: Operation, { method, path }: HttpRoute): boolean {
  return method !== 'GET' && method !== 'DELETE' && Object.keys(propertiesOf(row.input)).some((name) => !path.includes(`:${name}`))
}

function descriptionOf({ description, output }: Operation, { method }: HttpRoute): string {
  const answer = output.description === undefined ? '' : ` Answer: ${output.description}`
  const said = description.endsWith('.') ? description : `${description}.`
  return `${said}${method === 'DELETE' ? ' Parameters may stand in a JSON body as well.' : ''}${answer}`
}

function parameter(name: string, schema: Schema, part: 'path' | 'query', required: boolean, components: SchemaComponents): JsonObject {
  const { description, ...value } = components.copy(schema.type === 'object' ? jsonText(schema) : schema, false)
  return { name, in: part, required, ...(description === undefined ? {} : { description }), schema: value }
}

/**
 * An object in a query string is JSON text. Of OpenAPI's forms it is the one that every generator supports.
 */
function jsonText({ description = '', examples = [] }: Schema): Schema {
  const texts = examples.map((example) => JSON.stringify(example))
  return { type: 'string', description: `${description} As JSON text.`, ...(texts.length === 0 ? {} : { examples: texts }) }
}

/** A body that is a file as a whole leaves the fields to the query string. */
function takesWhole({ http }: Operation): boolean {
  return http?.files?.wholeTypes !== undefined
}

function requestBody(row: Operation, onPath: readonly string[], components: SchemaComponents): JsonObject {
  const { files } = row.http ?? {}
  if (files !== undefined) return formBody(row, files, components)
  const { properties = {}, required = [], ...input } = row.input
  const isInBody = (name: string): boolean => !onPath.includes(name)
  const inBody: Schema = {
    ...input,
    ...(required.some(isInBody) ? { required: required.filter(isInBody) } : {}),
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isInBody(name))),
  }
  const schema = components.named(input.title ?? `${pascal(row.name)}Request`, inBody, true)
  return { required: true, content: { 'application/json': { schema, example: exampleInput(inBody) } } }
}

function formBody(row: Operation, { parts, wholeTypes = [] }: FilesForm, components: SchemaComponents): JsonObject {
  const { properties = {}, required = [], ...input } = row.input
  const fields = Object.entries(properties).filter(([name]) => name !== RECEIVED)
  const schema: Schema = {
    ...input,
    required: required.filter((name) => name !== RECEIVED),
    properties: {
      ...Object.fromEntries(parts.map((part) => [part, part.endsWith('[]') ? { type: 'array', items: BINARY } : BINARY])),
      ...Object.fromEntries(fields.map(([name, field]) => [name, field.type === 'object' ? jsonText(field) : field])),
    },
  }
  const whole = wholeTypes.map((type) => [type, { schema: BINARY }] as const)
  const form = { schema: components.named(`${pascal(row.name)}Request`, schema, true) }
  return { required: true, content: { 'multipart/form-data': form, ...Object.fromEntries(whole) } }
}

const BINARY: JsonObject & Schema = { type: 'string', format: 'binary' }

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function responses(row: Operation, route: HttpRoute, isSecured: boolean, components: SchemaComponents): JsonObject {
  const headers = (row.http?.headers ?? []).map(
    ([name, description, type = 'integer']) => [name, { description, schema: { type } }] as const,
  )
  const success: JsonObject = {
    description: 'Success',
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(row.http?.successStatus === 204 ? {} : { content: successContent(row, components) }),
  }
  const byStatus = new Map<number, CatalogueEntry[]>()
  if (Object.keys(propertiesOf(row.input)).length > 0) byStatus.set(INVALID_FIELD.http, [INVALID_FIELD])
  for (const code of [...errorsOf(row, route), ...(isSecured ? accessErrorsOf(row) : [])]) {
    const entry: CatalogueEntry = CATALOGUE[code]
    byStatus.set(entry.http, [...(byStatus.get(entry.http) ?? []), entry])
  }
  const errors = [...byStatus]
    .sort(([one], [other]) => one - other)
    .map(([status, entries]) => {
      const isOutput = status === INVALID_FIELD.http && row.http?.refusesInOutput === true
      return [String(status), isOutput ? refusal(row, components) : errorResponse(entries)] as const
    })
  const accepted = row.http?.acceptsJobs === true ? { '202': { ...success, description: 'A job does the work' } } : {}
  return { [String(row.http?.successStatus ?? 200)]: success, ...accepted, ...Object.fromEntries(errors) }
}

function successContent(row: Operation, components: SchemaComponents): JsonObject {
  const { output } = row
  const isNamed = output.type === 'object' && Object.keys(propertiesOf(output)).length > 0
  const schema = isNamed ? components.named(output.title ?? `${pascal(row.name)}Answer`, output, false) : components.copy(output, false)
  const { contentType = 'application/json', otherContentType } = row
  const other = otherContentType === undefined ? {} : { [otherContentType]: { schema: { type: 'string', format: 'binary' } } }
  return { [contentType.split(';')[0] ?? '']: { schema }, ...other }
}

function refusal(row: Operation, components: SchemaComponents): JsonObject {
  return { description: 'The request cannot be run; the answer says why.', content: successContent(row, components) }
}

/** Returns the errors of an operation: those of its row, and those that follow from its properties. */
export function errorsOf(row: Operation, route: HttpRoute): readonly ErrorCode[] {
  // Origin and host are checked before anything else.
  const codes = new Set<ErrorCode>(['foreignOrigin', 'foreignHost'])
  const fields = propertiesOf(row.input)
  if (requiredOf(row.input).length > 0) codes.add('missingFields')
  if ('limit' in fields) codes.add('invalidLimit')
  if ('offset' in fields) codes.add('invalidOffset')
  if (row.cost !== 'loop') for (const code of ['invalidJson', 'invalidUtf8', 'bodyTooLarge'] as const) codes.add(code)
  if (row.effect === 'write') codes.add('readOnlyMode').add('unhealthy').add('outcomeUnknown').add('auditUnwritable')
  if (row.effect === 'write' && row.freesSpace !== true) codes.add('diskFull')
  if (row.effect === 'read') codes.add('writeOnlyMode')
  if (row.cost !== 'loop') codes.add('internal').add('laneLost').add('overloaded').add('deadline').add('shuttingDown')
  if (row.cost === 'search' || row.effect === 'write') codes.add('warmingUp')
  if (route.path.includes('/:')) codes.add('notFound')
  for (const code of row.errors ?? []) codes.add(code)
  return [...codes]
}

/** Refusals of access control. */
function accessErrorsOf({ permission, needsLogin, collections }: Operation): readonly ErrorCode[] {
  if (permission === 'public') return []
  const refused: ErrorCode = collections.kind === 'server' || permission === 'authenticated' ? 'adminRequired' : 'forbidden'
  return ['missingAuthentication', 'invalidToken', 'invalidApiKey', ...(needsLogin === true ? (['loginRequired'] as const) : []), refused]
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

/** Returns an input that the operation accepts: all required fields, and others that have an example. */
export function exampleInput(input: Schema): JsonObject {
  const required = requiredOf(input)
  const entries = Object.entries(propertiesOf(input)).flatMap(([name, schema]) => {
    const { examples, type, anyOf } = schema as Schema<unknown> & { readonly examples?: readonly Json[] }
    const knownValue = anyOf?.[0]?.enum?.[0]
    if (examples?.[0] !== undefined) return [[name, examples[0]] as const]
    return required.includes(name) ? [[name, knownValue ?? (type === 'string' ? '' : 0)] as const] : []
  })
  return Object.fromEntries(entries)
}

export function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  return schema.properties ?? {}
}

export function requiredOf(schema: Schema): readonly string[] {
  return schema.required ?? []
}
