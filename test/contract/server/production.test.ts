/** The guards of a production server: the refused start, and what /v1/compliance-status says. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GuardedOptions, missingGuards, productionRefusal } from '../../../src/config/production.js'
import { ACCESS_ENV, JWT_SECRET } from '../../harness/server/access.js'
import { runToEnd, startServer } from '../../harness/server/server.js'

const GOOD: GuardedOptions = {
  production: true,
  authEnabled: true,
  auth: { jwtSecret: 's'.repeat(32) },
  tlsEnabled: true,
  tlsInsecureOk: false,
  corsOrigins: ['https://app.example'],
  auditEnabled: true,
  rateLimitEnabled: true,
}

interface Status {
  readonly production: boolean
  readonly compliant: boolean
  readonly missing: readonly Readonly<Record<string, string>>[]
  readonly missingCount: number
}

const ALL = [
  'SVC_AUTH_ENABLED',
  'SVC_AUTH_JWT_SECRET',
  'SVC_TLS_ENABLED',
  'SVC_CORS_ORIGINS',
  'SVC_AUDIT_ENABLED',
  'SVC_RATE_LIMIT_ENABLED',
]

describe('production guard', () => {
  it('production: a start with SVC_PRODUCTION=true ends with one line that names all that is missing', async () => {
    const { code, output } = await runToEnd({ env: { SVC_PRODUCTION: 'true' } })
    assert.equal(code, 2)
    const lines = output.trimEnd().split('\n')
    assert.equal(lines.length, 1, output)
    for (const name of ALL) assert.ok(lines[0]?.includes(name), name)
    const better = await runToEnd({
      env: { SVC_PRODUCTION: 'true', SVC_RATE_LIMIT_ENABLED: 'true', SVC_CORS_ORIGINS: 'https://app.example' },
    })
    assert.equal(better.code, 2)
    assert.doesNotMatch(better.output, /SVC_RATE_LIMIT_ENABLED|SVC_CORS_ORIGINS/)
  })

  it('production: each guard is wanted, and nothing else', () => {
    const names = (options: GuardedOptions): readonly string[] => missingGuards(options).map(({ envVar }) => envVar)
    assert.deepEqual(names(GOOD), [])
    assert.equal(productionRefusal(GOOD), undefined)
    const broken: readonly (readonly [Partial<GuardedOptions>, string])[] = [
      [{ authEnabled: false }, 'SVC_AUTH_ENABLED'],
      [{ auth: { jwtSecret: 's'.repeat(31) } }, 'SVC_AUTH_JWT_SECRET'],
      [{ tlsEnabled: false }, 'SVC_TLS_ENABLED'],
      [{ corsOrigins: ['https://app.example', '*'] }, 'SVC_CORS_ORIGINS'],
      [{ auditEnabled: false }, 'SVC_AUDIT_ENABLED'],
      [{ rateLimitEnabled: false }, 'SVC_RATE_LIMIT_ENABLED'],
    ]
    for (const [change, name] of broken) {
      assert.deepEqual(names({ ...GOOD, ...change }), [name])
      assert.match(productionRefusal({ ...GOOD, ...change }) ?? '', new RegExp(name))
      assert.equal(productionRefusal({ ...GOOD, ...change, production: false }), undefined)
    }
    // Bytes, not characters: 16 of two bytes each are enough.
    assert.deepEqual(names({ ...GOOD, auth: { jwtSecret: 'é'.repeat(16) } }), [])
    assert.deepEqual(names({ ...GOOD, tlsEnabled: false, tlsInsecureOk: true }), [])
  })

  it('compliance-status: anybody may read production, compliant, missing and missingCount; names only, no values', async (test) => {
    const server = await startServer({ env: { SVC_CORS_ORIGINS: '*' } })
    test.after(() => server.stop())
    const status = (await server.get('/v1/compliance-status')).json<Status>()
    assert.deepEqual(Object.keys(status), ['production', 'compliant', 'missing', 'missingCount'])
    assert.deepEqual([status.production, status.compliant, status.missingCount], [false, false, ALL.length])
    assert.deepEqual(
      status.missing.map(({ envVar }) => envVar),
      ALL,
    )
    for (const guard of status.missing) {
      assert.deepEqual(Object.keys(guard), ['envVar', 'want', 'reason'])
      for (const text of Object.values(guard)) assert.ok(text.length > 0)
    }
    const origin = 'https://secret-name.example'
    const better = await startServer({ env: { ...ACCESS_ENV, SVC_CORS_ORIGINS: origin, SVC_RATE_LIMIT_ENABLED: 'true' } })
    test.after(() => better.stop())
    assert.equal((await better.get('/v1/config')).status, 401)
    const { text } = await better.get('/v1/compliance-status')
    const left = (JSON.parse(text) as Status).missing.map(({ envVar }) => envVar)
    assert.deepEqual(left, ['SVC_TLS_ENABLED', 'SVC_AUDIT_ENABLED'])
    for (const secret of [/secret-name/, new RegExp(JWT_SECRET)]) assert.doesNotMatch(text, secret)
  })
})
