/** The options of TLS: defaults, flags and YAML keys beside the variables, refused values. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { ConfigError, loadConfig } from '../../../src/config/config.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-tls-options-'))
after(() => rmSync(folder, { recursive: true }))

const valuesOf = (config: ReturnType<typeof loadConfig>): readonly unknown[] => [
  config.tlsEnabled,
  config.tlsCert,
  config.tlsKey,
  config.tlsClientCa,
  config.tlsClientAuth,
  config.tlsInsecureOk,
]

describe('options of TLS', () => {
  it('tls options: without any there is no TLS; a client CA alone requires certificates', () => {
    assert.deepEqual(valuesOf(loadConfig([], {})), [false, '', '', '', 'require', false])
  })

  it('tls options: flags and YAML keys say the same as the variables', () => {
    const wanted = [true, '/a.pem', '/a.key', '/ca.pem', 'request', true]
    const path = join(folder, 'tls.yaml')
    const lines = ['enabled: true', 'cert: /a.pem', 'key: /a.key', 'clientCa: /ca.pem', 'clientAuth: request', 'insecureOk: true']
    writeFileSync(path, `tls:\n${lines.map((line) => `  ${line}\n`).join('')}`)
    assert.deepEqual(valuesOf(loadConfig([], { SVC_CONFIG: path })), wanted)
    const files = ['--tls-cert', '/a.pem', '--tls-key', '/a.key', '--tls-client-ca', '/ca.pem']
    assert.deepEqual(valuesOf(loadConfig(['--tls', ...files, '--tls-client-auth', 'request', '--tls-insecure-ok'], {})), wanted)
    const env = {
      SVC_TLS_ENABLED: '1',
      SVC_TLS_CERT: '/a.pem',
      SVC_TLS_KEY: '/a.key',
      SVC_TLS_CLIENT_CA: '/ca.pem',
      SVC_TLS_CLIENT_AUTH: 'request',
      SVC_TLS_INSECURE_OK: '1',
    }
    const config = loadConfig([], env)
    assert.deepEqual(valuesOf(config), wanted)
    assert.deepEqual(config.warnings, [])
  })

  it('tls options: values without a meaning are refused', () => {
    for (const [name, value] of [
      ['SVC_TLS_ENABLED', 'perhaps'],
      ['SVC_TLS_CLIENT_AUTH', 'none'],
    ] as const)
      assert.throws(() => loadConfig([], { [name]: value }), (error) => error instanceof ConfigError && error.message.startsWith(name), `${name}=${value}`) // prettier-ignore
  })
})
