/** The options of limits on clients: defaults, flags and YAML keys beside the variables, refused values. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { ConfigError, loadConfig } from '../../../src/config/config.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-limit-options-'))
after(() => rmSync(folder, { recursive: true }))

type Loaded = ReturnType<typeof loadConfig>
const rateOf = (config: Loaded): readonly unknown[] => [
  config.rateLimitEnabled,
  config.rateLimitRequests,
  config.rateLimitWindowMs,
  config.rateLimitBurst,
  config.rateLimitBy,
]
const incidentOf = (config: Loaded): readonly unknown[] => [
  config.incidentAuthThreshold,
  config.incidentAuthWindowSeconds,
  config.incidentAuthCooldownSeconds,
]

describe('options of limits', () => {
  it('limit options: the defaults are those of the contract', () => {
    const config = loadConfig([], {})
    assert.deepEqual(rateOf(config), [false, 100, 60_000, 50, 'ip'])
    assert.deepEqual(incidentOf(config), [10, 60, 300])
  })

  it('limit options: flags and YAML keys say the same as the variables', () => {
    const wanted = [true, 7, 90_000, 0, 'user']
    const path = join(folder, 'limits.yaml')
    writeFileSync(path, 'rateLimit:\n  enabled: true\n  requests: 7\n  window: 90s\n  burst: 0\n  by: user\n')
    assert.deepEqual(rateOf(loadConfig([], { SVC_CONFIG: path })), wanted)
    const flags = [
      '--rate-limit',
      '--rate-limit-requests',
      '7',
      '--rate-limit-window',
      '1m30s',
      '--rate-limit-burst',
      '0',
      '--rate-limit-by',
      'user',
    ]
    assert.deepEqual(rateOf(loadConfig(flags, {})), wanted)
    const env = {
      SVC_RATE_LIMIT_ENABLED: '1',
      SVC_RATE_LIMIT_REQUESTS: '7',
      SVC_RATE_LIMIT_WINDOW: '90',
      SVC_RATE_LIMIT_BURST: '0',
      SVC_RATE_LIMIT_BY: 'user',
    }
    const config = loadConfig([], env)
    assert.deepEqual(rateOf(config), wanted)
    assert.deepEqual(config.warnings, [])
  })

  it('limit options: values without a meaning are refused', () => {
    for (const [name, value] of [
      ['SVC_RATE_LIMIT_REQUESTS', '0'],
      ['SVC_RATE_LIMIT_REQUESTS', '-1'],
      ['SVC_RATE_LIMIT_WINDOW', '0'],
      ['SVC_RATE_LIMIT_WINDOW', '999ms'],
      ['SVC_RATE_LIMIT_WINDOW', '25h'],
      ['SVC_RATE_LIMIT_BURST', 'x'],
      ['SVC_RATE_LIMIT_BY', 'session'],
      ['SVC_INCIDENT_AUTH_THRESHOLD', '0'],
    ] as const)
      assert.throws(() => loadConfig([], { [name]: value }), (error) => error instanceof ConfigError && error.message.startsWith(name), `${name}=${value}`) // prettier-ignore
  })
})
