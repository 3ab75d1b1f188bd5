/**
 * A server and its callers by HTTP, gRPC, GraphQL and MCP, for the tests that ask all of them for the
 * operations of one table.
 */
import assert from 'node:assert/strict'
import { buildSchema } from 'graphql'
import { operations } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'
import { untilAsked } from '../process/until.js'
import { ACCESS_ENV, Admin, asUser } from '../server/access.js'
import { type Asker, isPermitted, OTHER, OWN, situationsOf } from '../server/authorisation_model.js'
import { type Server, startServer } from '../server/server.js'
import { type Case, CASES } from './cases.js'
import { GraphqlCaller } from './graphql_caller.js'
import { GrpcCaller } from './grpc_caller.js'
import { HttpCaller } from './http_caller.js'
import { McpCaller } from './mcp_caller.js'
import type { Caller, Fields, Outcome } from './outcome.js'

const ENV = { ...ACCESS_ENV, SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' }
export const ADMINISTRATOR = asUser('admin')

/** Every kind of principal. */
export const ASKERS: readonly Asker[] = [
  { name: 'without credentials', rights: 'nobody', headers: {} },
  { name: 'a wrong token', rights: 'nobody', headers: { authorization: 'Bearer wrong' } },
  { name: 'a user without rights', rights: 'nothing', headers: asUser('nothing') },
  { name: 'a reader', rights: 'read', headers: asUser('reader') },
  { name: 'a writer', rights: 'write', headers: asUser('writer') },
  { name: 'an administrator of the collection', rights: 'admin', headers: asUser('chief') },
  { name: 'the administrator of the server', rights: 'everything', headers: ADMINISTRATOR },
]

/** Rows with a name in another protocol than HTTP. */
export const namedRows = operations.filter(({ protocols }) => Object.values(protocols).some((name) => name !== null))

export class ProtocolServer {
  /** False after a call that may have changed anything. */
  isFilled = false
  http!: HttpCaller
  others: readonly (readonly [protocol: keyof Operation['protocols'], caller: Caller])[] = []
  #server!: Server
  #admin!: Admin
  #grpc!: GrpcCaller
  #fresh = 0

  async start(): Promise<void> {
    this.#server = await startServer({ env: ENV })
    this.#admin = new Admin(this.#server)
    this.http = new HttpCaller(this.#server)
    this.#grpc = new GrpcCaller(this.#server)
    this.others = [
      ['grpc', this.#grpc],
      ['graphql', new GraphqlCaller(this.#server, buildSchema(SCHEMA))],
      ['mcp', new McpCaller(this.#server)],
    ]
    for (const name of ['nothing', 'reader', 'writer', 'chief', 'grouped']) await this.#admin.register(name)
    await this.#admin.do('POST', '/v1/auth/groups', { name: 'readers', members: ['grouped'] })
    await this.fill()
  }

  async end(): Promise<void> {
    this.#grpc.close()
    await this.#server.kill()
  }

  /** The state that every call finds, whatever ran before. What is independent at once: commits are few. */
  async fill(): Promise<void> {
    if (this.isFilled) return
    const meta = { category: ['tutorial'] }
    const documents = [
      { key: 'hello-world', lang: 'en', contentMd: 'a word', meta },
      { key: 'second', lang: 'en', contentMd: 'another word', meta },
    ]
    // A schema would refuse the documents, and rights to a collection go with it.
    await Promise.all([
      this.#admin.do('POST', '/v1/schema/delete', { collection: OTHER }),
      this.#admin.do('POST', '/v1/delete-collection', { collection: OWN }),
    ])
    await Promise.all([this.#admin.do('POST', '/v1/schema/delete', { collection: OWN }), this.#grantRights()])
    await Promise.all([
      this.#admin.do('POST', '/v1/add-batch', { collection: OWN, documents }),
      this.#admin.do('POST', '/v1/add', { collection: OTHER, key: 'hello-world', lang: 'en', contentMd: 'a word', meta: {} }),
    ])
    this.isFilled = true
  }

  async #grantRights(): Promise<void> {
    await Promise.all([
      this.#admin.grant('reader', OWN, { read: true }),
      this.#admin.grant('writer', OWN, { write: true }),
      this.#admin.grant('chief', OWN, { admin: true }),
    ])
  }

  async #embedded(): Promise<number> {
    const { collections } = await this.#must('vectorStats', {})
    return Number((collections as Readonly<Record<string, Fields>>)[OWN]?.['embedded_documents'] ?? 0)
  }

  async #must(operation: string, input: Fields): Promise<Fields> {
    const { refusal, text, value } = await this.http.call(operation, input, ADMINISTRATOR)
    assert.equal(refusal, null, `${operation}: ${text}`)
    return value as Fields
  }

  /** Replaces `$name` by what each call needs of its own. */
  async #prepared({ input }: Case): Promise<Fields> {
    const makers: Readonly<Record<string, () => unknown>> = {
      $password: () => 'the password of reader',
      $fresh: () => `fresh${++this.#fresh}`,
      $hook: async () => (await this.#must('registerWebhook', CASES['registerWebhook']!.input))['id'],
      $rule: async () => (await this.#must('addCuration', CASES['addCuration']!.input))['id'],
      $backup: async () => (await this.#must('backup', {}))['backup'],
      $group: async () => (await this.#must('createGroup', { name: `group${++this.#fresh}`, members: [] }))['name'],
      $job: async () => (await this.#must('submitBulkIngest', CASES['submitBulkIngest']!.input))['id'],
      $session: async () => (await this.#must('startMemorySession', { userId: 'alice' }))['sessionId'],
      $talk: async () => (await this.#must('addMemoryMessage', await this.#prepared(CASES['addMemoryMessage']!)))['sessionId'],
      $timestamp: async () => {
        const { revisions } = await this.#must('revisions', { collection: OWN, key: 'hello-world', lang: 'en' })
        return (revisions as readonly Fields[])[0]?.['timestamp']
      },
    }
    const entries = Object.entries(input).map(async ([name, value]) => {
      const make = typeof value === 'string' ? makers[value] : undefined
      return [name, make === undefined ? value : await make()] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  }

  /** Asks by one caller, in the state that its case needs. */
  async run(row: Operation, one: Case, caller: Caller): Promise<Outcome> {
    await this.fill()
    if (row.effect === 'write' || one.writes === true || one.before !== undefined) this.isFilled = false
    for (const [operation, input] of one.before ?? []) await this.#must(operation, input)
    if (one.needsVectors === true)
      await untilAsked(
        () => this.#embedded(),
        (count) => count >= 2,
      )
    // The port of MCP is closed to guests as a whole.
    const headers = row.permission === 'public' && !(caller instanceof McpCaller) ? {} : ADMINISTRATOR
    return await caller.call(row.name, await this.#prepared(one), headers)
  }

  /** The matrix of authorisation. @returns how many cells there are, and the wrong ones */
  async matrix(askers: readonly Asker[]): Promise<{ readonly cells: number; readonly wrong: readonly string[] }> {
    await this.fill()
    this.isFilled = false
    let hasRights = true
    const wrong: string[] = []
    let cells = 0
    for (const row of namedRows.filter(({ permission }) => permission !== 'public')) {
      const one = CASES[row.name]
      for (const situation of situationsOf(row)) {
        const input = { ...(one === undefined || row.collections.kind === 'named' ? {} : await this.#prepared(one)), ...situation.input }
        for (const asker of askers) {
          const wanted = isPermitted(row, asker, situation.names)
          for (const [protocol, caller] of this.others) {
            if (row.protocols[protocol] === null || isApart(row, protocol, situation.names)) continue
            // Whether a call may run does not depend on the documents, and they cost vectors.
            if (!hasRights) await this.#grantRights()
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
    return { cells, wrong }
  }
}

/** Cells that the model does not say, because the protocol asks otherwise. */
function isApart({ name }: Operation, protocol: string, names: readonly string[]): boolean {
  // Their message and tool have no collection, so they list all.
  if (name === 'listWebhooks' && protocol !== 'graphql') return names.length > 0
  // Its field must name a collection, which may be empty.
  if (name === 'registerWebhook' && protocol === 'graphql') return names.length === 0
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
