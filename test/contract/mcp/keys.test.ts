/** Keys of MCP: made, listed, disabled and deleted by administrators over HTTP. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parse } from 'yaml'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

interface Listed {
  readonly total: number
  readonly keys: readonly {
    readonly keyPrefix: string
    readonly fingerprint: string
    readonly name: string
    readonly createdAt: number
    readonly expiresAt: number
    readonly disabled: boolean
  }[]
}

describe('keys of MCP', () => {
  let server: Server
  let admin: Admin

  before(async () => {
    server = await startServer({ env: ACCESS_ENV })
    admin = new Admin(server)
    await admin.register('chief')
    await admin.grant('chief', 'notes', { admin: true })
  })
  after(async () => {
    await server.stop()
  })

  const create = async (body: object): Promise<{ key: string; name: string; createdAt: number; expiresAt: number }> =>
    (await admin.do('POST', '/v1/mcp/keys', body)).json()
  const list = async (): Promise<Listed> => (await admin.do('GET', '/v1/mcp/keys')).json()
  const named = async (name: string): Promise<Listed['keys'][number] | undefined> => (await list()).keys.find((key) => key.name === name)

  it('mcp keys: a key is shown once, when it is made; the list has its beginning and its fingerprint', async () => {
    const expiresAt = Math.ceil(Date.now() / 1000) + 3600
    const made = await create({ name: 'assistant', expiresAt })
    assert.match(made.key, /^mcp_[0-9a-f]{48}$/)
    assert.deepEqual([made.name, made.expiresAt], ['assistant', expiresAt])
    assert.ok(Math.abs(made.createdAt - Date.now() / 1000) < 60)
    const answer = await admin.do('GET', '/v1/mcp/keys')
    assert.ok(!answer.text.includes(made.key))
    const { keys, total } = answer.json<Listed>()
    assert.equal(total, keys.length)
    const hash = createHash('sha256').update(made.key).digest('hex')
    assert.deepEqual(
      keys.find(({ name }) => name === 'assistant'),
      {
        keyPrefix: made.key.slice(0, 12),
        fingerprint: hash.slice(0, 16),
        name: 'assistant',
        createdAt: made.createdAt,
        expiresAt,
        disabled: false,
      },
    )
    const without = await create({})
    assert.deepEqual([without.name, without.expiresAt], ['', 0])
  })

  it('mcp keys: a key is disabled and deleted by itself or by its fingerprint', async () => {
    const { key } = await create({ name: 'first' })
    assert.deepEqual((await admin.do('POST', '/v1/mcp/keys/disable', { key })).json(), { status: 'disabled' })
    assert.equal((await named('first'))?.disabled, true)
    assert.deepEqual((await admin.do('DELETE', '/v1/mcp/keys', { key })).json(), { status: 'deleted' })
    assert.equal(await named('first'), undefined)
    await create({ name: 'second' })
    const fingerprint = (await named('second'))?.fingerprint
    await admin.do('DELETE', '/v1/mcp/keys', { key: fingerprint })
    assert.equal(await named('second'), undefined)
  })

  it('mcp keys: an unknown key is 404, a missing one and a time that has passed 400', async () => {
    for (const [method, path] of [
      ['DELETE', '/v1/mcp/keys'],
      ['POST', '/v1/mcp/keys/disable'],
    ] as const) {
      const unknown = await server.request(method, path, { key: 'mcp_0' }, admin.headers)
      assert.deepEqual([unknown.status, unknown.json()], [404, { error: 'api key not found' }])
      assert.equal((await server.request(method, path, {}, admin.headers)).status, 400)
    }
    assert.equal((await server.post('/v1/mcp/keys', { name: 'x', expiresAt: 1 }, admin.headers)).status, 400)
    assert.equal((await server.post('/v1/mcp/keys', { name: 'x'.repeat(257) }, admin.headers)).status, 400)
  })

  it('mcp keys: they are for administrators of the server, and are gone with their user', async () => {
    const chief = await server.post('/v1/mcp/keys', { name: 'x' }, asUser('chief'))
    assert.deepEqual([chief.status, chief.json()], [403, { error: 'admin access required' }])
    assert.equal((await server.get('/v1/mcp/keys', asUser('chief'))).status, 403)
    assert.equal((await server.get('/v1/mcp/keys')).status, 401)
    await admin.register('second')
    await admin.grant('second', '*', { admin: true })
    const made = await server.post('/v1/mcp/keys', { name: 'of second' }, asUser('second'))
    assert.equal(made.status, 200, made.text)
    assert.notEqual(await named('of second'), undefined)
    await admin.do('DELETE', '/v1/auth/users/second')
    assert.equal(await named('of second'), undefined)
  })

  it('mcp config: the configuration of MCP is YAML, with the tools of the operator and without keys', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mds-mcp-config-'))
    const file = join(folder, 'tools.yaml')
    writeFileSync(
      file,
      'custom_tools:\n  - name: find_notes\n    description: Finds notes\n    action: full_text_search\n    defaults: { collection: notes }\n',
    )
    const env = { ...ACCESS_ENV, SVC_MCP_CONFIG: file, SVC_MCP_API_KEYS: 'hidden-key:client', SVC_MCP_RATE_LIMIT_BY: 'session' }
    const other = await startServer({ env })
    const answer = await other.get('/v1/mcp/config', asUser('admin'))
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/yaml; charset=utf-8'])
    const { mcp, custom_tools: tools } = parse(answer.text) as {
      mcp: { rateLimit: object; mode: string }
      custom_tools: { name: string }[]
    }
    assert.deepEqual([mcp.mode, mcp.rateLimit], ['wr', { enabled: false, requests: 100, window: '60000ms', burst: 20, by: 'session' }])
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['find_notes'],
    )
    assert.ok(!answer.text.includes('hidden-key'))
    assert.equal((await other.get('/v1/mcp/config')).status, 401)
    await other.stop()
    rmSync(folder, { recursive: true })
  })

  it('mcp keys: they are neither made nor deleted in read mode, and are there after a restart', async (test) => {
    const directory = server.directory
    await create({ name: 'kept' })
    await server.kill()
    const reading = await startServer({ directory, env: { ...ACCESS_ENV, SVC_MODE: 'read' } })
    test.after(() => reading.kill())
    for (const [method, path] of [
      ['POST', '/v1/mcp/keys'],
      ['DELETE', '/v1/mcp/keys'],
      ['POST', '/v1/mcp/keys/disable'],
    ] as const) {
      const refused = await reading.request(method, path, { key: 'x' }, admin.headers)
      assert.deepEqual([refused.status, refused.json()], [403, { error: 'read-only mode' }])
    }
    const { keys } = (await reading.get('/v1/mcp/keys', admin.headers)).json<Listed>()
    assert.ok(keys.some(({ name }) => name === 'kept'))
  })
})
