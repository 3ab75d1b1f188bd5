/** Keys of MCP on the thread of MCP: how long what was found out is kept, and who a key stands for. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { describe, it } from 'node:test'
import { hashOfKey } from '../../../src/access/api_keys.js'
import { Authenticator } from '../../../src/access/authenticator.js'
import { FailureReports } from '../../../src/access/failure_reports.js'
import type { AskedIdentity, Identity } from '../../../src/access/principal.js'
import { loadConfig } from '../../../src/config/config.js'
import { McpAuthenticator, type McpRequest } from '../../../src/surface/mcp/mcp_authenticator.js'
import { ACCESS_ENV } from '../../harness/server/access.js'

const NOBODY = { isAdmin: false, grants: [] } as unknown as Identity['rights']
const identityOf = (username: string): Identity => ({ username, tokenEpoch: 1, rights: NOBODY, expiresAt: 0 })

interface Bench {
  readonly authenticator: McpAuthenticator
  readonly control: { accessEpoch: number }
  readonly asked: AskedIdentity[]
}

function bench(env: NodeJS.ProcessEnv, identify: (asked: AskedIdentity) => Identity | null): Bench {
  const config = loadConfig(['--db', tmpdir()], { SVC_MCP_API_KEY_ENABLED: 'true', ...env })
  const control = { accessEpoch: 1 }
  const asked: AskedIdentity[] = []
  const failures = new FailureReports(() => undefined)
  const ask = async (wanted: AskedIdentity): Promise<Identity | null> => {
    asked.push(wanted)
    return await Promise.resolve(identify(wanted))
  }
  const inner = new Authenticator({ jwtSecret: config.auth?.jwtSecret ?? null, control, identify: ask, failures })
  return { authenticator: new McpAuthenticator({ config, authenticator: inner, control, identify: ask, failures }), control, asked }
}

const withKey = (apiKey: string): McpRequest => ({
  path: '/mcp',
  authorization: '',
  apiKey,
  queryKey: '',
  clientAddress: () => '127.0.0.1',
  addressKey: () => '127.0.0.1',
  userAgent: () => '',
})

describe('mcp: keys', () => {
  it('mcp: what was found out about a key is kept for SVC_MCP_API_KEY_CACHE_TTL, and until rights change', async () => {
    const kept = bench({ ...ACCESS_ENV, SVC_MCP_API_KEY_CACHE_TTL: '1h' }, () => identityOf('ada'))
    for (let n = 0; n < 3; n++) assert.notEqual(typeof (await kept.authenticator.check(withKey('mcp_1'))), 'string')
    assert.deepEqual(kept.asked, [{ mcpKeyHash: hashOfKey('mcp_1') }])
    kept.control.accessEpoch += 1
    await kept.authenticator.check(withKey('mcp_1'))
    assert.equal(kept.asked.length, 2)
    const never = bench({ ...ACCESS_ENV, SVC_MCP_API_KEY_CACHE_TTL: '0' }, () => identityOf('ada'))
    for (let n = 0; n < 3; n++) await never.authenticator.check(withKey('mcp_1'))
    assert.equal(never.asked.length, 3)
  })

  it('mcp: a key that expires is not kept beyond its end', async () => {
    const { authenticator, asked } = bench({ ...ACCESS_ENV }, () => ({ ...identityOf('ada'), expiresAt: 1 }))
    for (let n = 0; n < 2; n++) await authenticator.check(withKey('mcp_1'))
    assert.equal(asked.length, 2)
  })

  it('mcp: a key stands for its owner, and one of the configuration for the administrator', async () => {
    const env = { ...ACCESS_ENV, SVC_MCP_API_KEYS: 'configured:robot' }
    const { authenticator, asked } = bench(env, ({ username, mcpKeyHash }) =>
      mcpKeyHash === hashOfKey('mcp_1') ? identityOf('ada') : username === 'admin' ? identityOf('admin') : null,
    )
    const nameOf = async (key: string): Promise<string> => {
      const found = await authenticator.check(withKey(key))
      return typeof found === 'string' ? found : found.principal.name
    }
    assert.equal(await nameOf('mcp_1'), 'ada')
    assert.equal(await nameOf('configured'), 'admin')
    assert.equal(await nameOf('mcp_2'), 'invalidApiKey')
    assert.equal(await nameOf('x'.repeat(5_000)), 'invalidApiKey')
    assert.equal(await nameOf(''), 'missingAuthentication')
    assert.deepEqual(
      asked.map(({ username }) => username),
      [undefined, 'admin', undefined],
    )
  })

  it('mcp: without access control, a key opens the door to the anonymous client', async () => {
    const { authenticator } = bench({ SVC_MCP_API_KEYS: 'configured' }, () => null)
    const found = await authenticator.check(withKey('configured'))
    assert.ok(typeof found !== 'string' && found.principal.kind === 'anonymous')
    assert.equal(await authenticator.check(withKey('other')), 'invalidApiKey')
  })
})
