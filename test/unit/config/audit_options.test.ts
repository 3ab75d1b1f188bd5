/** The options of the audit log. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { ConfigError, loadConfig } from '../../../src/config/config.js'

const EXPECTED = {
  auditEnabled: [false, 'true', true, 'SVC_AUDIT_ENABLED', 'audit', 'enabled'],
  auditDirectory: ['', '/log', '/log', 'SVC_AUDIT_DIR', 'audit-dir', 'dir'],
  auditRingSize: [65_536, '9', 9, 'SVC_AUDIT_RING_SIZE', 'audit-ring-size', 'ringSize'],
  auditFileBytesMax: [64 << 20, '1MB', 1 << 20, 'SVC_AUDIT_FILE_MAX_SIZE', 'audit-file-max-size', 'fileMaxSize'],
  auditRetentionDays: [90, '7', 7, 'SVC_AUDIT_RETENTION_DAYS', 'audit-retention-days', 'retentionDays'],
  auditBytesMax: [10 * 2 ** 30, '7MB', 7 << 20, 'SVC_AUDIT_MAX_BYTES', 'audit-max-bytes', 'maxBytes'],
  auditStrict: [false, 'true', true, 'SVC_AUDIT_STRICT', 'audit-strict', 'strict'],
  auditWebhookUrl: ['', 'http://a/b', 'http://a/b', 'SVC_AUDIT_EXPORT_WEBHOOK_URL', 'audit-export-webhook-url', 'exportWebhookUrl'],
  auditWebhookInsecureTls: [
    false, 'true', true, 'SVC_AUDIT_EXPORT_WEBHOOK_INSECURE_TLS', 'audit-export-webhook-insecure-tls', 'exportWebhookInsecureTls',
  ],
  auditSyslogAddr: [
    null, 'tls://[::1]', { protocol: 'tls', host: '::1', port: 6514 }, 'SVC_AUDIT_EXPORT_SYSLOG_ADDR', 'audit-export-syslog-addr', 'exportSyslogAddr',
  ],
  auditSyslogFacility: [16, 'auth', 4, 'SVC_AUDIT_EXPORT_SYSLOG_FACILITY', 'audit-export-syslog-facility', 'exportSyslogFacility'],
  auditExportQueueMax: [1024, '5', 5, 'SVC_AUDIT_EXPORT_BUFFER', 'audit-export-buffer', 'exportBuffer'],
} as const // prettier-ignore

it('configuration: the options of the audit log by flag, variable and YAML, and their defaults', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mds-config-'))
  const file = join(folder, 'mds.yaml')
  for (const [field, [standard, text, value, variable, flag, key]] of Object.entries(EXPECTED)) {
    const name = field as keyof typeof EXPECTED
    assert.deepEqual(loadConfig([], {})[name], standard, field)
    assert.deepEqual(loadConfig([], { [variable]: text })[name], value, variable)
    assert.deepEqual(loadConfig([`--${flag}=${text}`], {})[name], value, flag)
    writeFileSync(file, `audit:\n${key === 'enabled' ? '' : '  enabled: true\n'}  ${key}: "${text}"\n`)
    const read = loadConfig(['--config', file], {})
    assert.deepEqual([read[name], read.warnings], [value, []], key)
  }
  // A secret has no flag.
  writeFileSync(file, 'audit:\n  enabled: true\n  exportWebhookHeader: "Authorization: Bearer a"\n', { mode: 0o600 })
  assert.deepEqual(loadConfig(['--config', file], {}).auditWebhookHeaders, ['Authorization', 'Bearer a'])
  rmSync(folder, { recursive: true })
})

it('configuration: where syslog goes: a protocol, a host, a port', () => {
  const read = (text: string): unknown => Object.values(loadConfig([], { SVC_AUDIT_EXPORT_SYSLOG_ADDR: text }).auditSyslogAddr ?? {})
  assert.deepEqual(read('log.example'), ['udp', 'log.example', 514])
  assert.deepEqual(read('log.example:1514'), ['udp', 'log.example', 1514])
  assert.deepEqual(read('TCP://10.0.0.1:601'), ['tcp', '10.0.0.1', 601])
  assert.deepEqual(read('udp://[2001:db8::1]:514/'), ['udp', '2001:db8::1', 514])
})

it('configuration: an audit option that is none is refused in one line, headers without their values', () => {
  const headers = (text: string): readonly string[] => loadConfig([], { SVC_AUDIT_EXPORT_WEBHOOK_HEADER: text }).auditWebhookHeaders
  assert.deepEqual(headers('Authorization: Bearer a:b , X-Empty:'), ['Authorization', 'Bearer a:b', 'X-Empty', ''])
  for (const text of ['secret', 'X Y: secret', ': secret', Array.from({ length: 17 }, (_, at) => `A${at}: secret`).join(',')])
    assert.throws(() => headers(text), (error) => error instanceof ConfigError && !error.message.includes('secret')) // prettier-ignore
  for (const [name, text] of [
    ['SVC_AUDIT_RING_SIZE', '0'],
    ['SVC_AUDIT_FILE_MAX_SIZE', '1KB'],
    ['SVC_AUDIT_MAX_BYTES', '4KB'],
    ['SVC_AUDIT_MAX_BYTES', '2000GB'],
    ['SVC_AUDIT_RETENTION_DAYS', '-1'],
    ['SVC_AUDIT_EXPORT_WEBHOOK_URL', 'ftp://a'],
    ['SVC_AUDIT_EXPORT_WEBHOOK_URL', 'http://user:password@a'],
    ['SVC_AUDIT_EXPORT_SYSLOG_ADDR', 'http://a:1'],
    ['SVC_AUDIT_EXPORT_SYSLOG_ADDR', 'udp://a:0'],
    ['SVC_AUDIT_EXPORT_SYSLOG_ADDR', 'udp://a:65536'],
    ['SVC_AUDIT_EXPORT_SYSLOG_FACILITY', 'local8'],
    ['SVC_AUDIT_EXPORT_BUFFER', '0'],
  ] as const)
    assert.throws(() => loadConfig([], { [name]: text }), (error) => error instanceof ConfigError && error.message.startsWith(`${name}: `), name) // prettier-ignore
})
