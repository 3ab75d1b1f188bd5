/**
 * The schema of GraphQL, as a client reads it, against the contract's list (test/golden/graphql/contract.txt)
 * and the rows of the operations.
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { buildClientSchema, buildSchema, getIntrospectionQuery, type GraphQLSchema, type IntrospectionQuery } from 'graphql'
import { operations } from '../../../src/operations/index.js'
import { CONTRACT } from '../../../src/surface/graphql/contract.js'
import { MUTATIONS } from '../../../src/surface/graphql/fields/mutations.js'
import { QUERIES } from '../../../src/surface/graphql/fields/queries.js'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'
import { CONTRACT_LINES, dataOf, linesOf } from '../../harness/clients/graphql.js'
import type { Server } from '../../harness/server/server.js'
import { sharedServer } from '../../harness/server/shared_server.js'

let server: Server
let schema: GraphQLSchema
before(async () => {
  server = await sharedServer()
  schema = buildClientSchema(await dataOf<IntrospectionQuery & Record<string, unknown>>(server, getIntrospectionQuery()))
})
after(() => server.stop())

it('graphql: the schema has every field, argument, type, input and enum of the contract', () => {
  const shown = new Set(linesOf(schema))
  const wanted = CONTRACT_LINES.filter((line) => !line.startsWith('directive ')).map((line) => line.replace(/ @.*$/, ''))
  assert.ok(wanted.length > 200)
  assert.deepEqual(
    wanted.filter((line) => !shown.has(line)),
    [],
  )
})

it('graphql: the schema has nothing beside the contract but named further fields', () => {
  const known = new Set(CONTRACT_LINES.map((line) => line.replace(/ @.*$/, '')))
  const moreOf = (shown: GraphQLSchema): readonly string[] =>
    linesOf(shown).filter((line) => !known.has(line) && !/^scalar (Boolean|Float|ID|Int|String)$/.test(line))
  assert.deepEqual(moreOf(buildSchema(CONTRACT)), [])
  // Generated from the rows; their change is read in the generated file.
  assert.deepEqual([...moreOf(schema)].sort(), [...moreOf(buildSchema(SCHEMA))].sort())
  assert.ok(moreOf(schema).includes('SearchInput.hasMeta: [String!]'))
})

it('graphql: the schema declares the directives @auth and @hasRole', () => {
  const shown = schema.getDirectives().map(({ name, args, locations }) => {
    const parameters = args.map((arg) => `${arg.name}: ${String(arg.type)}`).join(', ')
    return `directive @${name}${parameters === '' ? '' : `(${parameters})`} on ${locations.join(' | ')}`
  })
  for (const line of CONTRACT_LINES.filter((one) => one.startsWith('directive '))) assert.ok(shown.includes(line), line)
})

it('graphql: each row names a field that is there, and each field with a resolver is that of a row', () => {
  const fields = new Set([schema.getQueryType(), schema.getMutationType()].flatMap((type) => Object.keys(type?.getFields() ?? {})))
  const named = operations.flatMap(({ protocols }) => (protocols.graphql === null ? [] : [protocols.graphql]))
  assert.equal(new Set(named).size, named.length, 'a field is that of one row')
  assert.deepEqual(
    named.filter((name) => !fields.has(name)),
    [],
  )
  assert.deepEqual(
    Object.keys({ ...QUERIES, ...MUTATIONS }).filter((name) => !named.includes(name)),
    [],
  )
})
