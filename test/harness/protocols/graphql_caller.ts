/** Calls by GraphQL: a document with every scalar of the field's answer, made from the schema. */
import { getNamedType, type GraphQLField, type GraphQLInputType, type GraphQLOutputType, type GraphQLSchema,isInputObjectType, isListType, isNonNullType, isObjectType } from 'graphql' // prettier-ignore
import { operationByName } from '../../../src/operations/index.js'
import { askGraphql } from '../clients/graphql.js'
import type { Server } from '../server/server.js'
import { type Caller, type Fields, type Outcome, type Refusal, refused, succeeded } from './outcome.js'

const REFUSALS: Readonly<Record<string, Refusal>> = {
  BAD_USER_INPUT: 'invalid', UNAUTHENTICATED: 'unauthenticated', FORBIDDEN: 'forbidden', NOT_FOUND: 'not found', CONFLICT: 'conflict',
  UNAVAILABLE: 'unavailable', RATE_LIMITED: 'unavailable', UNIMPLEMENTED: 'unimplemented',
} // prettier-ignore
/** Answers are nested no deeper: edges, node, fields. */
const LEVELS_MAX = 4

export class GraphqlCaller implements Caller {
  readonly protocol = 'GraphQL'

  constructor(
    readonly server: Server,
    readonly schema: GraphQLSchema,
  ) {}

  async call(name: string, input: Fields, headers: Readonly<Record<string, string>>): Promise<Outcome> {
    const fieldName = operationByName.get(name)?.protocols.graphql ?? ''
    const query = this.schema.getQueryType()?.getFields()[fieldName]
    const field = query ?? this.schema.getMutationType()?.getFields()[fieldName]
    if (field === undefined) throw new Error(`no field ${fieldName}`)
    const { declared, passed, variables } = argumentsOf(field, input)
    const document = `${query === undefined ? 'mutation' : 'query'}${declared} { ${fieldName}${passed}${selectionOf(field.type)} }`
    const { data, errors } = await askGraphql(this.server, document, variables, headers)
    const [error] = errors
    if (error === undefined) return succeeded(data?.[fieldName] ?? null)
    return refused(REFUSALS[error.extensions?.code ?? ''] ?? 'internal', error.message)
  }
}

interface Passed {
  readonly declared: string
  readonly passed: string
  readonly variables: Fields
}

function argumentsOf(field: GraphQLField<unknown, unknown>, input: Fields): Passed {
  const given = field.args.flatMap(({ name, type }) => {
    const named = nullableOf(type)
    if (name === 'input' && isInputObjectType(named)) return [{ name, type, value: valueOf(named, input) }]
    const value = input[name] ?? (name === 'groupName' ? (input['group'] ?? input['name']) : undefined)
    return value === undefined ? [] : [{ name, type, value: valueOf(type, value) }]
  })
  const list = (texts: readonly string[]): string => (texts.length === 0 ? '' : `(${texts.join(', ')})`)
  return {
    declared: list(given.map(({ name, type }) => `$${name}: ${String(type)}`)),
    passed: list(given.map(({ name }) => `${name}: $${name}`)),
    variables: Object.fromEntries(given.map(({ name, value }) => [name, value])),
  }
}

/** The value in the form of the type: metadata as a list of names and values, times as text. */
function valueOf(type: GraphQLInputType, value: unknown): unknown {
  const named = nullableOf(type)
  if (isListType(named)) {
    if (getNamedType(named).name === 'MetaInput' && !Array.isArray(value))
      return Object.entries(value as Fields).map(([key, values]) => ({ key, values }))
    return Array.isArray(value) ? value.map((item) => valueOf(named.ofType, item)) : value
  }
  if (isInputObjectType(named)) {
    const fields = named.getFields()
    const known = Object.entries(value as Fields).filter(([name]) => name in fields)
    return Object.fromEntries(known.map(([name, each]) => [name, valueOf(fields[name]!.type, each)]))
  }
  if (getNamedType(named).name === 'Time' && typeof value === 'number') return new Date(value * 1000).toISOString()
  return getNamedType(named).name === 'String' && typeof value === 'object' ? JSON.stringify(value) : value
}

function nullableOf(type: GraphQLInputType): GraphQLInputType {
  return isNonNullType(type) ? type.ofType : type
}

function selectionOf(type: GraphQLOutputType, level = 0): string {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ''
  const fields = Object.values(named.getFields()).filter((field) => level < LEVELS_MAX || !isObjectType(getNamedType(field.type)))
  return ` { ${fields.map((field) => `${field.name}${selectionOf(field.type, level + 1)}`).join(' ')} }`
}
