/** Audit events of GraphQL: those of its checks, and those of the operations that its fields run. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { askGraphql } from '../../harness/clients/graphql.js'
import { ACCESS_ENV, ADMIN_PASSWORD, asUser, bearer } from '../../harness/server/access.js'
import { auditOf } from '../../harness/server/audit_log.js'
import { type Server, startServer } from '../../harness/server/server.js'

const AGENT = { 'user-agent': 'tester/1' }
const ADD = 'mutation { addDocument(input: {collection: "c", key: "k", lang: "en", contentMd: "x"}) { id } }'
const GET = '{ a: document(collection: "c", key: "k", lang: "en") { id } b: stats { mode } }'
let server: Server
before(async () => {
  server = await startServer({ env: { ...ACCESS_ENV, SVC_AUDIT_ENABLED: 'true' } })
})
after(() => server.stop())

it('graphql: checks of credentials and the operations of fields are audited, with the client', async () => {
  await askGraphql(server, ADD, undefined, { ...AGENT, ...asUser('admin') })
  await askGraphql(server, GET, undefined, { ...AGENT, ...bearer('nonsense') })
  await askGraphql(server, GET, undefined, AGENT)
  const login = `mutation($p: String!) { login(username: "admin", password: $p) { token } }`
  await askGraphql(server, login, { p: ADMIN_PASSWORD }, AGENT)
  await askGraphql(server, login, { p: 'wrong' }, AGENT)
  const { events } = await auditOf(server, 'limit=100', asUser('admin'))
  const shown = events
    .filter(({ resource }) => resource !== '/v1/audit')
    .map(({ action, actor, resource, result, ip, userAgent }) => [action, actor, resource, result, ip, userAgent])
  const client = ['127.0.0.1', 'tester/1']
  const wanted = [
    ['auth.jwt', 'admin', '/graphql', 'ok', ...client],
    ['write./v1/add', 'admin', 'c', 'ok', ...client],
    ['auth.jwt', '', '/graphql', 'fail', ...client],
    ['auth.missing', '', '/graphql', 'fail', ...client],
    ['auth.login', 'admin', '/v1/auth/login', 'ok', ...client],
    ['auth.login', 'admin', '/v1/auth/login', 'fail', ...client],
  ]
  // Events of several threads: their order is that in which they reach the log.
  assert.deepEqual(shown.map(String).sort(), wanted.map(String).sort())
})
