/** GraphQL requests to a server, and what tests need of its schema. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql'
import type { Server } from '../server/server.js'

export interface GraphqlError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code?: string }
}

export interface GraphqlAnswer<Data = Record<string, never>> {
  readonly status: number
  readonly data: Data | null | undefined
  readonly errors: readonly GraphqlError[]
}

export type Headers = Readonly<Record<string, string>>

export async function askGraphql<Data = Record<string, unknown>>(
  server: Server,
  query: string,
  variables?: object,
  headers: Headers = {},
): Promise<GraphqlAnswer<Data>> {
  const answer = await server.post('/graphql', { query, ...(variables === undefined ? {} : { variables }) }, headers)
  const { data, errors = [] } = answer.json<{ data?: Data | null; errors?: readonly GraphqlError[] }>()
  return { status: answer.status, data, errors }
}

/** The data of a request that must have no errors. */
export async function dataOf<Data = Record<string, unknown>>(
  server: Server,
  query: string,
  variables?: object,
  headers: Headers = {},
): Promise<Data> {
  const { status, data, errors } = await askGraphql<Data>(server, query, variables, headers)
  assert.deepEqual({ status, errors }, { status: 200, errors: [] })
  assert.ok(data !== null && data !== undefined)
  return data
}

/** A line for each member of the schema that the contract has (graphql.md), directives last. */
export const CONTRACT_LINES: readonly string[] = readFileSync(
  join(import.meta.dirname, '../../../../test/golden/graphql/contract.txt'),
  'utf8',
)
  .trim()
  .split('\n')

/** A field of a type, or of an input. */
interface Member {
  readonly name: string
  readonly type: unknown
  readonly args?: readonly GraphQLArgument[]
}

/** `Type.field(arguments): Type`, as the contract's lines without their directives. */
export function linesOf(schema: GraphQLSchema): readonly string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith('__')) return []
    if (isEnumType(type))
      return [
        `enum ${type.name}: ${type
          .getValues()
          .map(({ name }) => name)
          .join(' ')}`,
      ]
    if (isScalarType(type)) return [`scalar ${type.name}`]
    if (!isObjectType(type) && !isInputObjectType(type)) return []
    return Object.values(type.getFields() as Record<string, Member>).map((field) => {
      const args = (field.args ?? []).map((arg) => `${arg.name}: ${String(arg.type)}`)
      return `${type.name}.${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}: ${String(field.type)}`
    })
  })
}

/** A document that asks for the field with the least arguments that the schema admits. */
export function leastRequest(field: GraphQLField<unknown, unknown>, kind: 'query' | 'mutation'): string {
  const args = field.args.filter(({ type }) => isNonNullType(type)).map((arg: GraphQLArgument) => `${arg.name}: ${literalOf(arg.type)}`)
  const selection = isObjectType(getNamedType(field.type)) ? ' { __typename }' : ''
  return `${kind} { ${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${selection} }`
}

function literalOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literalOf(type.ofType)
  if (isListType(type)) return `[${literalOf(type.ofType)}]`
  if (isInputObjectType(type)) {
    const needed = Object.values(type.getFields()).filter((field) => isNonNullType(field.type))
    return `{${needed.map((field) => `${field.name}: ${literalOf(field.type)}`).join(', ')}}`
  }
  switch (type.name) {
    case 'Int':
    case 'Float':
      return '1'
    case 'Boolean':
      return 'false'
    case 'Time':
      return '"2030-01-01T00:00:00Z"'
    default:
      return '"x"'
  }
}
