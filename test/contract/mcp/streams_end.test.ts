/** Streams and sessions of MCP end with the right of the client that opened them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { type Headers, McpClient } from '../../harness/clients/mcp_client.js'
import { ACCESS_ENV, Admin, asUser, bearer, keyOf, tokenOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const PULSE_ENV = { ...ACCESS_ENV, SVC_LIMIT_MCP_STREAM_PULSE_MS: '50' }
const ENDED_MS = 20_000

type Ending = readonly [what: string, credential: (user: string) => Promise<Headers> | Headers, end: (user: string) => Promise<unknown>]

/** Both kinds of stream, read so that their end is noticed. */
async function streamsOf(server: Server, credential: Headers): Promise<{ all: readonly IncomingMessage[]; session: McpClient }> {
  const client = new McpClient(server, credential)
  const session = await client.initialize()
  const all = [await client.open('GET', '/sse'), await session.open('GET', '/mcp', undefined, { accept: 'text/event-stream' })]
  for (const stream of all) {
    assert.equal(stream.statusCode, 200)
    stream.resume()
  }
  return { all, session }
}

async function assertEnds(server: Server, endings: readonly Ending[]): Promise<void> {
  const staying = await streamsOf(server, await endings[0]![1]('staying'))
  for (const [what, credential, end] of endings) {
    const { all, session } = await streamsOf(server, await credential(what))
    const signal = AbortSignal.timeout(ENDED_MS)
    const ended = all.map((stream) => once(stream, 'end', { signal }))
    await end(what)
    await Promise.all(ended).catch(() => assert.fail(`${what}: a stream goes on`))
    assert.equal((await session.ask('ping')).status, 401, what)
  }
  for (const stream of staying.all) {
    const [chunk] = (await once(stream, 'data', { signal: AbortSignal.timeout(ENDED_MS) })) as [Buffer]
    assert.match(chunk.toString('utf8'), /: keep-alive/)
    stream.destroy()
  }
  assert.equal((await staying.session.ask('ping')).status, 200)
}

async function started(test: TestContext, env: Readonly<Record<string, string>>): Promise<{ server: Server; admin: Admin }> {
  const server = await startServer({ env })
  test.after(() => server.kill())
  return { server, admin: new Admin(server) }
}

describe('mcp: the end of streams', () => {
  it('mcp: a stream and its session end within a pulse of the right of their client: account, token, API key', async (test) => {
    const { server, admin } = await started(test, PULSE_ENV)
    for (const user of ['staying', 'deleted', 'disabled', 'renewed', 'expired', 'revoked']) await admin.register(user)
    await assertEnds(server, [
      ['deleted', asUser, (user) => admin.do('DELETE', `/v1/auth/users/${user}`)],
      ['disabled', asUser, (user) => admin.do('PUT', `/v1/auth/users/${user}`, { disabled: true })],
      ['renewed', asUser, (user) => admin.do('PUT', `/v1/auth/users/${user}`, { password: 'a password that is new' })],
      ['expired', (user) => bearer(tokenOf(user, 1, 6_000)), () => Promise.resolve()],
      [
        'revoked',
        async (user) => ({ 'x-api-key': await keyOf(server, user) }),
        async (user) => {
          const { keys } = (await server.get('/v1/auth/api-keys', asUser(user))).json<{ keys: readonly { keyHash: string }[] }>()
          const answer = await server.request('DELETE', `/v1/auth/api-keys/${keys[0]?.keyHash}`, undefined, asUser(user))
          assert.equal(answer.status, 200, answer.text)
        },
      ],
    ])
  })

  it('mcp: a stream and its session end within a pulse of their key of MCP', async (test) => {
    const { server, admin } = await started(test, { ...PULSE_ENV, SVC_MCP_API_KEY_ENABLED: 'true' })
    const keys = new Map<string, string>()
    const made = async (name: string): Promise<Headers> => {
      const { key } = (await admin.do('POST', '/v1/mcp/keys', { name })).json<{ key: string }>()
      keys.set(name, key)
      return { 'x-api-key': key }
    }
    await assertEnds(server, [
      ['disabled', made, (name) => admin.do('POST', '/v1/mcp/keys/disable', { key: keys.get(name) })],
      ['deleted', made, (name) => admin.do('DELETE', '/v1/mcp/keys', { key: keys.get(name) })],
    ])
  })
})
