/**
 * One table of operations, four protocols: each operation that has a name in gRPC, GraphQL or MCP is asked by
 * HTTP and by each of them. Answers, refusals and authorisation must be the same.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { operations } from '../../src/operations/index.js'
import type { Operation } from '../../src/operations/operation.js'
import { buildSchema } from 'graphql'
import { SCHEMA } from '../../src/surface/graphql/schema.js'
import { ACCESS_ENV, Admin, asUser } from '../harness/access.js'
import { isPermitted, OTHER, OWN, situationsOf, type Asker } from '../harness/authorisation_model.js'
import { CASES, ELSEWHERE, type Case } from '../harness/protocols/cases.js'
import { GraphqlCaller } from '../harness/protocols/graphql_caller.js'
import { GrpcCaller } from '../harness/protocols/grpc_caller.js'
import { HttpCaller } from '../harness/protocols/http_caller.js'
import { McpCaller } from '../harness/protocols/mcp_caller.js'
import type { Caller, Fields, Outcome } from '../harness/protocols/outcome.js'
import { startServer, type Server } from '../harness/server.js'
import { untilAsked } from '../harness/until.js'

const ENV = { ...ACCESS_ENV, SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' }
const ADMINISTRATOR = asUser('admin')

let server: Server
let admin: Admin
let http: HttpCaller
let grpc: GrpcCaller
let others: readonly (readonly [protocol: keyof Operation['protocols'], caller: Caller])[]
let fresh = 0

before(async () => {
  server = await startServer({ env: ENV })
  admin = new Admin(server)
  http = new HttpCaller(server)
  grpc = new GrpcCaller(server)
  others = [
    ['grpc', grpc],
    ['graphql', new GraphqlCaller(server, buildSchema(SCHEMA))],
    ['mcp', new McpCaller(server)],
  ]
  for (const name of ['nothing', 'reader', 'writer', 'chief', 'grouped']) await admin.register(name)
  await admin.do('POST', '/v1/auth/groups', { name: 'readers', members: ['grouped'] })
  await fill()
})
after(async () => {
  grpc.close()
  await server.kill()
})

/** False after a call that may have changed anything. */
let isFilled = false

/** The state that every call finds, whatever ran before. What is independent at once: the commits are few. */
async function fill(): Promise<void> {
  if (isFilled) return
  const meta = { category: ['tutorial'] }
  const documents = [
    { key: 'hello-world', lang: 'en', contentMd: 'a word', meta },
    { key: 'second', lang: 'en', contentMd: 'another word', meta },
  ]
  // A schema would refuse the documents, and rights to a collection go with it.
  await Promise.all([
    admin.do('POST', '/v1/schema/delete', { collection: OTHER }),
    admin.do('POST', '/v1/delete-collection', { collection: OWN }),
  ])
  await Promise.all([admin.do('POST', '/v1/schema/delete', { collection: OWN }), grantRights()])
  await Promise.all([
    admin.do('POST', '/v1/add-batch', { collection: OWN, documents }),
    admin.do('POST', '/v1/add', { collection: OTHER, key: 'hello-world', lang: 'en', contentMd: 'a word', meta: {} }),
  ])
  isFilled = true
}

async function grantRights(): Promise<void> {
  await Promise.all([
    admin.grant('reader', OWN, { read: true }),
    admin.grant('writer', OWN, { write: true }),
    admin.grant('chief', OWN, { admin: true }),
  ])
}

async function embedded(): Promise<number> {
  const { collections } = await must('vectorStats', {})
  return Number((collections as Readonly<Record<string, Fields>>)[OWN]?.['embedded_documents'] ?? 0)
}

async function must(operation: string, input: Fields): Promise<Fields> {
  const { refusal, text, value } = await http.call(operation, input, ADMINISTRATOR)
  assert.equal(refusal, null, `${operation}: ${text}`)
  return value as Fields
}

/** Replaces `$name` by what each call needs of its own. */
async function prepared({ input }: Case): Promise<Fields> {
  const makers: Readonly<Record<string, () => unknown>> = {
    $password: () => 'the password of reader',
    $fresh: () => `fresh${++fresh}`,
    $rule: async () => (await must('addCuration', CASES['addCuration']!.input))['id'],
    $backup: async () => (await must('backup', {}))['backup'],
    $group: async () => (await must('createGroup', { name: `group${++fresh}`, members: [] }))['name'],
    $job: async () => (await must('submitBulkIngest', CASES['submitBulkIngest']!.input))['id'],
    $timestamp: async () => {
      const { revisions } = await must('revisions', { collection: OWN, key: 'hello-world', lang: 'en' })
      return (revisions as readonly Fields[])[0]?.['timestamp']
    },
  }
  const entries = Object.entries(input).map(async ([name, value]) => {
    const make = typeof value === 'string' ? makers[value] : undefined
    return [name, make === undefined ? value : await make()] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

async function run(row: Operation, one: Case, caller: Caller): Promise<Outcome> {
  await fill()
  if (row.effect === 'write' || one.writes === true || one.before !== undefined) isFilled = false
  for (const [operation, input] of one.before ?? []) await must(operation, input)
  if (one.needsVectors === true) await untilAsked(embedded, (count) => count >= 2)
  // The port of MCP is closed to guests as a whole.
  const headers = row.permission === 'public' && !(caller instanceof McpCaller) ? {} : ADMINISTRATOR
  return await caller.call(row.name, await prepared(one), headers)
}

const namedRows = operations.filter(({ protocols }) => Object.values(protocols).some((name) => name !== null))

describe('every protocol', () => {
  it('protocols: every operation that a protocol names has a case', () => {
    const missing = namedRows.filter(({ name }) => !(name in CASES) && !(name in ELSEWHERE)).map(({ name }) => name)
    assert.deepEqual(missing, [])
    const unknown = [...Object.keys(CASES), ...Object.keys(ELSEWHERE)].filter((name) => !operations.some((row) => row.name === name))
    assert.deepEqual(unknown, [])
  })

  it('protocols: each operation gives the same answer by HTTP, gRPC, GraphQL and MCP', async () => {
    const wrong: string[] = []
    for (const row of namedRows) {
      const one = CASES[row.name]
      if (one === undefined) continue
      const view = one.view ?? ((value: unknown) => value !== null)
      const byHttp = await run(row, one, http)
      if (byHttp.refusal !== null) wrong.push(`${row.name} by HTTP: ${byHttp.text}`)
      const wanted = JSON.stringify(view(byHttp.value))
      for (const [protocol, caller] of others) {
        if (row.protocols[protocol] === null) continue
        const { refusal, text, value } = await run(row, one, caller)
        const found = JSON.stringify(view(value))
        if (refusal !== null) wrong.push(`${row.name} by ${caller.protocol}: ${refusal}: ${text}`)
        else if (found !== wanted)
          wrong.push(`${row.name} by ${caller.protocol}: ${found} instead of ${wanted}: ${JSON.stringify(value).slice(0, 200)}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('protocols: what is missing or not found is refused alike by all of them', async () => {
    const wrong: string[] = []
    const absent = {
      collection: OWN,
      key: 'nothing',
      lang: 'en',
      id: 'nothing',
      username: 'nobody',
      name: 'nobody',
      group: 'nobody',
      groupName: 'nobody',
      from: 'nothing',
    }
    for (const row of namedRows) {
      if (row.http === undefined || !(row.name in CASES)) continue
      const required = Object.keys(absent).filter((name) => name in (CASES[row.name]?.input ?? {}))
      const inputs = [{}, { ...CASES[row.name]?.input, ...Object.fromEntries(required.map((name) => [name, absent[name as 'key']])) }]
      for (const input of inputs) {
        // A path without its parameter is another path.
        if (row.http.routes[0]?.path.includes(':') === true && input === inputs[0]) continue
        await fill()
        const byHttp = await http.call(row.name, input, ADMINISTRATOR)
        if (byHttp.refusal === null) {
          isFilled = row.effect !== 'write'
          continue
        }
        for (const [protocol, caller] of others) {
          const isResource = row.protocols[protocol]?.includes('://') === true
          // A resource without its names is none.
          if (row.protocols[protocol] === null || (isResource && input === inputs[0])) continue
          const { refusal, text } = await caller.call(row.name, input, ADMINISTRATOR)
          isFilled &&= refusal !== null || row.effect !== 'write'
          if (refusal !== byHttp.refusal)
            wrong.push(
              `${row.name} of ${JSON.stringify(input)} by ${caller.protocol}: ${refusal} (${text}) instead of ${byHttp.refusal} (${byHttp.text})`,
            )
        }
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('protocols: the matrix of authorisation has no wrong cell in any of them', async () => {
    const askers: readonly Asker[] = [
      { name: 'without credentials', rights: 'nobody', headers: {} },
      { name: 'a wrong token', rights: 'nobody', headers: { authorization: 'Bearer wrong' } },
      { name: 'a user without rights', rights: 'nothing', headers: asUser('nothing') },
      { name: 'a reader', rights: 'read', headers: asUser('reader') },
      { name: 'a writer', rights: 'write', headers: asUser('writer') },
      { name: 'an administrator of the collection', rights: 'admin', headers: asUser('chief') },
      { name: 'the administrator of the server', rights: 'everything', headers: ADMINISTRATOR },
    ]
    await fill()
    isFilled = false
    let hasRights = true
    const wrong: string[] = []
    let cells = 0
    for (const row of namedRows.filter(({ permission }) => permission !== 'public')) {
      const one = CASES[row.name]
      for (const situation of situationsOf(row)) {
        const input = { ...(one === undefined || row.collections.kind === 'named' ? {} : await prepared(one)), ...situation.input }
        for (const asker of askers) {
          const wanted = isPermitted(row, asker, situation.names)
          for (const [protocol, caller] of others) {
            if (row.protocols[protocol] === null || isApart(row, protocol, situation.names)) continue
            // Whether a call may run does not depend on the documents, and they cost vectors.
            if (!hasRights) await grantRights()
            hasRights = row.effect !== 'write' || !wanted
            const may = protocol === 'graphql' ? wanted && !isBarredByRole(row, asker) : wanted
            const { refusal, text } = await caller.call(row.name, input, asker.headers)
            cells++
            const isDenied = refusal === 'unauthenticated' || refusal === 'forbidden'
            if (isDenied === may)
              wrong.push(`${row.name} of ${situation.name} by ${asker.name} over ${caller.protocol}: ${refusal}: ${text}`)
          }
        }
      }
    }
    assert.ok(cells > 1_000, `${cells} cells`)
    assert.deepEqual(wrong, [])
  })
})

/** Cells that the model does not say, because the protocol asks otherwise. */
function isApart({ name }: Operation, protocol: string, names: readonly string[]): boolean {
  // Only HTTP can name the collection of a rule that is deleted.
  if (name === 'deleteCuration') return names.length > 0
  // The tool changes what is given only, so it reads the rule first, by its caller's right to read.
  return name === 'replaceCuration' && protocol === 'mcp'
}

/** `@hasRole(role: ADMIN)` asks for the administrator of the server, whatever the permission of the row. */
function isBarredByRole({ protocols }: Operation, { rights }: Asker): boolean {
  const line = SCHEMA.split('\n').find((each) => new RegExp(`^\\s+${protocols.graphql ?? ''}[(:]`).test(each)) ?? ''
  return line.includes('@hasRole') && rights !== 'everything'
}
