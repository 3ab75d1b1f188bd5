/**
 * The schema with what its fields do. Each field of Query and Mutation that a row names runs the operation of
 * that row, under the directives of the schema; those that no row names answer UNIMPLEMENTED. Built once, by
 * the thread of GraphQL.
 */
import { buildSchema, getDirectiveValues, type GraphQLError, type GraphQLField, type GraphQLSchema } from 'graphql'
import type { Config } from '../../config/config.js'
import { offered, operations } from '../../operations/index.js'
import type { Operation } from '../../operations/row/operation.js'
import type { Caller } from './caller.js'
import { type Arguments, asked, askedByInput, type Resolve, whole, withMaps } from './fields/field.js'
import { MUTATIONS } from './fields/mutations.js'
import { QUERIES } from './fields/queries.js'
import { installScalars } from './scalars.js'
import { SCHEMA } from './schema.js'
import { fieldError, unimplemented } from './texts.js'

type Field = GraphQLField<unknown, Caller, Arguments>

const rowsByField: ReadonlyMap<string, Operation> = new Map(
  operations.flatMap((row) => (row.protocols.graphql === null ? [] : [[row.protocols.graphql, row]])),
)

/** @throws Error for a row whose field the schema lacks, or a resolver without a row: a programming error */
export function executableSchema(config: Config): GraphQLSchema {
  const schema = buildSchema(SCHEMA)
  installScalars(schema)
  const rows = new Set(offered(config))
  const resolvers = { ...QUERIES, ...MUTATIONS }
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) => Object.values(type?.getFields() ?? {})) as Field[]
  for (const name of rowsByField.keys())
    if (!fields.some((field) => field.name === name)) throw new Error(`the row of the GraphQL field ${name} has no field`)
  for (const name of Object.keys(resolvers)) if (!rowsByField.has(name)) throw new Error(`no row is the GraphQL field ${name}`)
  for (const field of fields) field.resolve = guarded(schema, field, bound(field.name, resolvers[field.name] ?? usualOf(field), rows))
  completeDocuments(schema)
  return schema
}

/** A field without a resolver of its own passes its input on, and the answer back, as they are. */
function usualOf({ args }: Field): Resolve {
  return args.some(({ name }) => name === 'input') ? askedByInput(whole) : asked(whole, withMaps)
}

type Run = (args: Arguments, caller: Caller) => unknown

function bound(name: string, resolve: Resolve, rows: ReadonlySet<Operation>): Run {
  const operation = rowsByField.get(name)
  if (operation === undefined)
    return () => {
      throw unimplemented(name)
    }
  // Its feature is off: over HTTP there is no such route either.
  if (!rows.has(operation))
    return () => {
      throw fieldError('unknownOperation', `unknown operation ${operation.name}`)
    }
  return (args, caller) => resolve(args, { caller, operation })
}

/** The directives of the field come first. */
function guarded(schema: GraphQLSchema, { astNode }: Field, run: Run): NonNullable<Field['resolve']> {
  const has = (name: string): Record<string, unknown> | undefined => {
    const directive = schema.getDirective(name)
    return directive && astNode ? getDirectiveValues(directive, astNode) : undefined
  }
  const needsCaller = has('auth') !== undefined || has('hasRole') !== undefined
  const needsAdmin = has('hasRole')?.['role'] === 'ADMIN'
  return (_, args, caller) => {
    if (needsCaller && !caller.isKnown) throw unauthenticated(caller)
    if (needsAdmin && !caller.isAdmin) throw fieldError('adminRequired')
    return run(args, caller)
  }
}

export function unauthenticated(caller: Caller): GraphQLError {
  caller.missCredentials()
  return fieldError('missingAuthentication')
}

/** Answers may leave the content or the metadata of a document out; the schema does not. */
function completeDocuments(schema: GraphQLSchema): void {
  const type = schema.getType('Document')
  if (type === undefined || !('getFields' in type)) throw new Error('the schema has no documents')
  const { contentMd, meta } = type.getFields() as Record<string, GraphQLField<{ contentMd?: string; meta?: object }, Caller>>
  contentMd!.resolve = (document) => document.contentMd ?? ''
  meta!.resolve = (document) => document.meta ?? {}
}
