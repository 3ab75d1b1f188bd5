/** What a key of MCP may do: what the user who made it may do now. Through the port of MCP. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Answer, McpClient } from '../../harness/clients/mcp_client.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

describe('mcp: owners of keys', () => {
  let server: Server
  let admin: Admin

  before(async () => {
    server = await startServer({ env: { ...ACCESS_ENV, SVC_MCP_API_KEY_ENABLED: 'true' } })
    admin = new Admin(server)
    for (const collection of ['open', 'closed']) await admin.do('POST', '/v1/add', { collection, key: 'k', lang: 'en', contentMd: 'x' })
  })
  after(() => server.stop())

  /** A user who is an administrator, and the key that it makes. */
  async function owner(name: string): Promise<string> {
    await admin.register(name)
    await admin.grant(name, '*', { admin: true })
    const made = await server.post('/v1/mcp/keys', { name: `of ${name}` }, asUser(name))
    assert.equal(made.status, 200, made.text)
    return made.json<{ readonly key: string }>().key
  }

  const read = async (key: string, collection: string): Promise<Answer> =>
    await new McpClient(server)
      .with({ 'x-api-key': key })
      .stateless('tools/call', { name: 'get_document', arguments: { collection, key: 'k', lang: 'en' } })

  it('mcp: a key has the rights of the user who made it, from the next request on', async () => {
    const key = await owner('ada')
    for (const collection of ['open', 'closed']) assert.equal((await read(key, collection)).rpc.result.isError, undefined, collection)
    await admin.grant('ada', '*', {})
    await admin.grant('ada', 'open', { read: true })
    assert.equal((await read(key, 'open')).rpc.result.isError, undefined)
    const refused = (await read(key, 'closed')).rpc.result
    assert.deepEqual([refused.isError, refused.content[0]?.text], [true, 'forbidden'])
    // Its owner, who is no administrator any more, sees no keys.
    assert.equal((await server.get('/v1/mcp/keys', asUser('ada'))).status, 403)
  })

  it('mcp: a key is refused from the next request on when it is disabled or deleted, or its user is', async () => {
    const changes: readonly (readonly [string, (key: string, name: string) => Promise<unknown>])[] = [
      ['disabled', (key) => admin.do('POST', '/v1/mcp/keys/disable', { key })],
      ['deleted', (key) => admin.do('DELETE', '/v1/mcp/keys', { key })],
      ['user-disabled', (_, name) => admin.do('PUT', `/v1/auth/users/${name}`, { disabled: true })],
      ['user-deleted', (_, name) => admin.do('DELETE', `/v1/auth/users/${name}`)],
    ]
    for (const [name, change] of changes) {
      const key = await owner(name)
      assert.equal((await read(key, 'open')).status, 200, name)
      await change(key, name)
      assert.equal((await read(key, 'open')).status, 401, name)
    }
  })
})
