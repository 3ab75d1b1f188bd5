/** Names of no option, and secrets beside a switch that is off: what ends the start, what is a warning. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type Config, ConfigError, loadConfig } from '../../../src/config/config.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-config-names-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'mds.yaml')

const LENIENT = { SVC_CONFIG_LENIENT: 'true' }
const PRODUCTION = {
  SVC_PRODUCTION: 'true', SVC_AUTH_ENABLED: 'true', SVC_AUTH_JWT_SECRET: 'x'.repeat(32), SVC_AUTH_ADMIN_PASSWORD: 'correct horse battery 9',
  SVC_TLS_INSECURE_OK: 'true', SVC_CORS_ORIGINS: 'https://a.example', SVC_AUDIT_ENABLED: 'true', SVC_RATE_LIMIT_ENABLED: 'true',
} // prettier-ignore

function load(yaml: string, env: NodeJS.ProcessEnv = {}, argv: readonly string[] = []): Config {
  writeFileSync(file, yaml)
  return loadConfig([...argv, '-c', file], env)
}

function refused(yaml: string, pattern: RegExp, env: NodeJS.ProcessEnv = {}): void {
  assert.throws(
    () => load(yaml, env),
    (error) => error instanceof ConfigError && pattern.test(error.message) && !error.message.includes('\n'),
    `${JSON.stringify(yaml)} ${JSON.stringify(env)}`,
  )
}

const meaning = (name: string): RegExp => new RegExp(`did you mean ${name.replaceAll('.', '\\.')}\\?`)

describe('unknown YAML keys', () => {
  it('configuration: an unknown key below a section that protects refuses the start, and names the key that is meant', () => {
    const meant = [
      ['auth: { enable: true }', 'auth.enabled'],
      ['auth: true', 'auth.enabled'],
      ['auth: "yes"', 'auth.enabled'],
      ['auth: [{ enabled: true }]', 'auth.enabled'],
      ['auth: [enabled, true]', 'auth.enabled'],
      ['auth.enable: true', 'auth.enabled'],
      ['AUTH: { ENABLED: true }', 'auth.enabled'],
      ['tls: true', 'tls.enabled'],
      ['encryption: { kee: x }', 'encryption.key'],
      ['encryption: x', 'encryption.key'],
      ['audit: true', 'audit.enabled'],
      ['audit: { retention_day: 7 }', 'audit.retentionDays'],
      ['metrics: { tokn: x }', 'metrics.token'],
      ['rateLimit: true', 'rateLimit.enabled'],
      ['rate-limit: { enabled: true }', 'rateLimit.enabled'],
      ['mcp: { rateLimit: true }', 'mcp.rateLimit.enabled'],
      ['replication: { leaderAdr: x }', 'replication.leaderAddr'],
      ['prodution: true', 'production'],
    ] as const
    for (const [yaml, name] of meant) for (const env of [{}, LENIENT]) refused(yaml, meaning(name), env)
    refused('tls: { certificat: a }', /^tls\.certificat in the configuration file is not a known key/, LENIENT)
    refused('mcp: { apiKeys: [{ key: a }] }', /^mcp\.apiKeys\[0\]\.key in the configuration file is not a known key$/, LENIENT)
    refused('auth: { enabled: { value: true } }', /^auth\.enabled\.value in the configuration file is not a known key/, LENIENT)
  })

  it('configuration: a protection under a misspelled section, in a wrong place or merged refuses the start, too', () => {
    for (const [yaml, name] of [
      ['atuh: { enabled: true }', 'auth.enabled'],
      ['jwtSecret: x', 'auth.jwtSecret'],
      ['server: { auth: { enabled: true } }', 'auth.enabled'],
      ['auth:\n  <<: { enabled: true }', 'auth.enabled'],
      ['<<: { tls: { enabled: true } }', 'tls.enabled'],
    ] as const)
      refused(yaml, meaning(name), LENIENT)
  })

  it('configuration: a value of the wrong type for a protection is no switch that is off', () => {
    for (const value of ['2', 'maybe', '"tru"', '[true, true]'])
      refused(`auth: { enabled: ${value} }`, /^auth\.enabled in the configuration file: true or false/)
    for (const value of ['true', '"true"', 'True', '"yes"', 'on', '1'])
      refused(`auth: { enabled: ${value} }`, /^SVC_AUTH_ENABLED needs SVC_AUTH_JWT_SECRET/)
    refused('[auth, tls]', /a map of keys expected$/)
    refused('auth', /a map of keys expected$/)
    for (const nothing of ['', '# nothing', '~', 'auth:\ntls: {}']) assert.deepEqual(load(nothing).warnings, [])
  })

  it('configuration: another unknown key refuses the start, unless SVC_CONFIG_LENIENT=true makes it a warning', () => {
    refused('pth: x', /^pth in the configuration file is not a known key; did you mean path\? \(SVC_CONFIG_LENIENT=true: a warning\)$/)
    refused('database: { path: { a: b } }', meaning('database.path'))
    refused(Array.from({ length: 20 }, (_, at) => `unheard${at}: 1\n`).join(''), /unheard0 in .*unheard7 in .*; and 12 more/)
    const text = 'extras: [{ a: 1 }]\nhttp3: { enabld: true }\n'
    refused(text, /^extras\[0\]\.a in .*; http3\.enabld in .*did you mean http3\.enabled\?/)
    assert.equal(loadConfig([], {}).configLenient, false)
    for (const { warnings } of [load(text, LENIENT), load(text, {}, ['--config-lenient'])])
      assert.deepEqual(warnings, [
        'extras[0].a in the configuration file is not a known key',
        'http3.enabld in the configuration file is not a known key; did you mean http3.enabled?',
      ])
  })

  it('configuration: keys at the top that begin with x- are not read, so that anchors have a place', () => {
    assert.deepEqual(load('x-both: &both { enabled: true }\nx-list: [{ a: 1 }]\nhttp: *both\n').warnings, [])
    refused('http: { x-note: 1 }', /^http\.x-note in the configuration file/)
  })
})

describe('unknown variables', () => {
  it('configuration: an unknown variable of a protection, or one like a known variable, refuses the start', () => {
    for (const [name, meant] of [
      ['SVC_AUTH_ENABLE', 'SVC_AUTH_ENABLED'],
      ['SVC_AUTH', 'SVC_AUTH_ENABLED'],
      ['SVC_AUTHENABLED', 'SVC_AUTH_ENABLED'],
      ['SVC_TLS', 'SVC_TLS_ENABLED'],
      ['SVC_AUDIT', 'SVC_AUDIT_ENABLED'],
      ['SVC_RATELIMIT_ENABLED', 'SVC_RATE_LIMIT_ENABLED'],
      ['SVC_ENCRYPTION_KEE', 'SVC_ENCRYPTION_KEY'],
      ['SVC_METRICS_ENABLED', 'SVC_METRICS'],
      ['SVC_PRODUCTON', 'SVC_PRODUCTION'],
    ] as const)
      for (const env of [{}, LENIENT]) refused('', meaning(meant), { ...env, [name]: 'true' })
    refused('', /^SVC_ENCRYPTION_ENABLED is not a known variable$/, { ...LENIENT, SVC_ENCRYPTION_ENABLED: 'true' })
    refused('', /^SVC_MDOE is not a known variable; did you mean SVC_MODE\?/, { SVC_MDOE: 'read' })
    assert.deepEqual(load('', { ...LENIENT, SVC_MDOE: 'read' }).warnings, ['SVC_MDOE is not a known variable; did you mean SVC_MODE?'])
    assert.deepEqual(load('', { SVC_AUTH_ENABLE: '' }).warnings, [], 'an empty variable counts as unset')
  })

  it('configuration: a variable that resembles none is a warning, and refuses the start with SVC_PRODUCTION=true', () => {
    const others = { SVC_NAME: 'mds', SVC_AUTHOR: 'ada' }
    const warnings = ['SVC_AUTHOR is not a known variable', 'SVC_NAME is not a known variable']
    assert.deepEqual(load('', others).warnings, warnings)
    refused('', /^SVC_AUTHOR is not a known variable; SVC_NAME is not a known variable/, { ...PRODUCTION, ...others })
    assert.deepEqual(load('', { ...PRODUCTION, ...LENIENT, ...others }).warnings, warnings)
  })

  it('configuration: the service links of Kubernetes are no options, whatever the service is called', () => {
    const links = Object.fromEntries(
      ['SVC', 'SVC_AUTH', 'SVC_MCP', 'SVC_HTTP', 'SVC_MY_TLS'].flatMap((name) => [
        [`${name}_SERVICE_HOST`, '10.0.0.1'],
        [`${name}_SERVICE_PORT`, '9000'],
        [`${name}_SERVICE_PORT_METRICS`, '9000'],
        [`${name}_PORT`, 'tcp://10.0.0.1:9000'],
        [`${name}_PORT_9000_TCP`, 'tcp://10.0.0.1:9000'],
        [`${name}_PORT_9000_TCP_PROTO`, 'tcp'],
        [`${name}_PORT_9000_TCP_PORT`, '9000'],
        [`${name}_PORT_53_UDP_ADDR`, '10.0.0.1'],
      ]),
    )
    const { warnings, httpAddr, mcpAddr } = load('', { ...PRODUCTION, ...links })
    assert.deepEqual([warnings, httpAddr, mcpAddr], [[], loadConfig([], {}).httpAddr, loadConfig([], {}).mcpAddr])
    assert.deepEqual(load('', { ...links, SVC_MCP_PORT: '7' }).mcpAddr, { kind: 'tcp', host: '', port: 7 })
    refused('', /^SVC_AUTH_PORT is not a known variable/, { SVC_AUTH_PORT: '7' })
  })
})

describe('what the contract allows', () => {
  it('configuration: every variable of the contract is known', () => {
    interface Row {
      readonly kind: string
      readonly id: string
    }
    const rows = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../test/contract/coverage.json'), 'utf8')) as Row[]
    const names = rows.flatMap(({ kind, id }) => (kind === 'variable' ? (/SVC_[A-Z0-9_]+/.exec(id)?.slice(0, 1) ?? []) : []))
    assert.ok(names.length > 120, `${names.length}`)
    for (const name of names) {
      // A bad value is refused by the option's own parser: the name was known.
      const problem = messageOf(() => load('', { SVC_PRODUCTION: 'false', [name]: '?' }))
      assert.doesNotMatch(problem, /is not a known variable/, name)
    }
  })

  it('configuration: a file with every key of the contract starts', () => {
    const config = load(`
path: a
mode: wr
database: { path: b, mode: read }
http: { enabled: true, addr: ":1" }
grpc: { enabled: true, addr: ":2" }
mcp: { enabled: true, addr: ":3", stdio: false, domain: a.example, apiKeyEnabled: true, apiKeys: ["k:a", "l:b"], loggingEnabled: true,
  rateLimit: { enabled: true, requests: 1, window: 60s, burst: 1, by: ip },
  serverInfo: { name: a, description: b, vendor: c, homepage: "https://a.example" }, instructions: d }
http3: { enabled: false, addr: ":4" }
auth: { enabled: true, jwtSecret: ${'x'.repeat(32)}, jwtExpiry: 24h, adminUsername: admin, adminPassword: correct horse battery 9 }
fts: { stemmingEnabled: true, synonymsEnabled: true }
compression: { enabled: true, smallThreshold: 1024, mediumThreshold: 10240 }
vector: { defaultAlgorithm: flat, bqRerankFactor: 10, parallelWorkers: 2, parallelMinSize: 2048 }
temporal: true
spell: true
replication: { secret: x, leaderAddr: a }
`)
    assert.deepEqual(
      [
        config.path,
        config.authEnabled,
        config.mcpApiKeys.map(({ key }) => key),
        config.warnings.filter((line) => !line.includes('not in this version')),
      ],
      ['b', true, ['k', 'l'], []],
    )
  })
})

describe('secrets beside a switch that is off', () => {
  const FILES = [
    ['auth: { jwtSecret: x, adminPassword: y }', 'auth.enabled', { SVC_AUTH_ENABLED: 'false' }],
    ['auth: { enabled: false, adminPasswordFile: /y }', 'auth.enabled', { SVC_AUTH_ENABLED: 'no' }],
    ['tls: { cert: a, key: b }', 'tls.enabled', { SVC_TLS_ENABLED: 'false' }],
    ['tls: { clientCa: a }', 'tls.enabled', { SVC_TLS_ENABLED: '0' }],
    ['audit: { exportWebhookHeader: "A: b" }', 'audit.enabled', { SVC_AUDIT_ENABLED: 'false' }],
    ['mcp: { apiKeys: k }', 'mcp.apiKeyEnabled', { SVC_MCP_API_KEY_ENABLED: 'false' }],
  ] as const

  it('configuration: secrets and certificates in the file beside a switch that is off refuse the start, unless a variable or a flag set it so', () => {
    for (const [yaml, key, off] of FILES) {
      refused(yaml, new RegExp(`in the configuration file, but .* would be off: ${key.replace('.', '\\.')} is not true`), LENIENT)
      assert.match(load(yaml, off).warnings.join('\n'), /without effect: SVC_\w+ is not true, so .* is off/, yaml)
    }
    assert.match(load('tls: { cert: a }', {}, ['--no-tls']).warnings.join('\n'), /^tls\.cert without effect/)
  })

  it('configuration: those that variables or flags give are a warning, and refuse the start with SVC_PRODUCTION=true', () => {
    const given = [
      [{ SVC_TLS_CERT: 'a' }, [], /^SVC_TLS_CERT without effect: SVC_TLS_ENABLED is not true, so TLS is off$/],
      [{}, ['--tls-key', 'a'], /^--tls-key without effect: SVC_TLS_ENABLED is not true/],
      [{ SVC_MCP_API_KEYS: 'a' }, [], /^SVC_MCP_API_KEYS without effect: SVC_MCP_API_KEY_ENABLED is not true/],
    ] as const
    for (const [env, argv, line] of given) {
      assert.match(load('', env, argv).warnings.join('\n'), line)
      assert.throws(() => load('', { ...PRODUCTION, ...env }, argv), (error) => error instanceof ConfigError && line.test(error.message)) // prettier-ignore
    }
    assert.deepEqual(load('', PRODUCTION).warnings, [])
    assert.match(load('', { SVC_AUTH_JWT_SECRET: 'x' }).warnings.join('\n'), /^SVC_AUTH_JWT_SECRET without effect: SVC_AUTH_ENABLED/)
    assert.match(load('', { SVC_AUTH_ADMIN_PASSWORD_FILE: '/x' }).warnings.join('\n'), /access control is off$/)
  })

  it('configuration: other options of a protection that nothing switches on are a warning', () => {
    for (const yaml of [
      'rateLimit: { requests: 5 }',
      'auth: { jwtExpiry: 1h }',
      'audit: { dir: /a }',
      'mcp: { rateLimit: { by: session } }',
    ])
      assert.match(load(yaml).warnings.join('\n'), /without effect: SVC_\w+ENABLED is not true/, yaml)
    assert.match(load('', { SVC_RATE_LIMIT_BURST: '1' }).warnings.join('\n'), /^SVC_RATE_LIMIT_BURST \(rateLimit\.burst\) without effect/)
    assert.deepEqual(load('rateLimit: { enabled: false, requests: 5 }').warnings, [])
  })
})

function messageOf(work: () => unknown): string {
  try {
    work()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
