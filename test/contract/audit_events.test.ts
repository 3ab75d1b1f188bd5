/**
 * Audit events that the process emits: service-2, "Audit event". A listener loaded into a real server prints
 * them.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { AUDIT_CHANNEL } from '../../src/telemetry/audit.js'
import { DocumentsClient } from '../harness/documents_client.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-audit-'))
after(() => rmSync(folder, { recursive: true, force: true }))

it('a rotation of keys that is asked for is an audit event with the id of its job, and so is one that is refused', async () => {
  const listener = join(folder, 'listener.mjs')
  const print = "console.log('AUDIT ' + JSON.stringify(event, (_, value) => typeof value === 'bigint' ? String(value) : value))"
  writeFileSync(listener, `import { subscribe } from 'node:diagnostics_channel'\nsubscribe('${AUDIT_CHANNEL}', (event) => ${print})\n`)
  const key = Buffer.alloc(32, 5).toString('base64')
  const client = await DocumentsClient.start({
    env: { NODE_OPTIONS: `--import=${listener}`, SVC_ENCRYPTION_KEY: key, SVC_TRUSTED_PROXIES: '127.0.0.1' },
  })
  const events = (): Record<string, string>[] =>
    [...client.server.output().matchAll(/^AUDIT (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Record<string, string>)
  const before = Date.now()
  assert.equal((await client.post('/v1/encryption/rotate', { collection: 'nobodys' })).status, 404)
  const { id } = (await client.post('/v1/encryption/rotate', {})).json<{ id: string }>()
  await client.until(() => Promise.resolve(events().length >= 2), 'both events')
  const [refused, asked] = events()
  assert.deepEqual([asked?.action, asked?.result, asked?.detail], ['encryption.rotation_requested', 'ok', id])
  assert.ok(Number(asked?.ts) / 1e6 >= before - 1 && Number(asked?.ts) / 1e6 <= Date.now())
  assert.deepEqual([refused?.action, refused?.result, refused?.detail], ['encryption.rotation_requested', 'fail', undefined])
  assert.deepEqual([refused?.ip, asked?.ip], ['127.0.0.1', '127.0.0.1'])
  await client.server.request(
    'POST',
    '/v1/encryption/rotate',
    { collection: 'nobodys' },
    { 'X-Forwarded-For': '198.51.100.9, 203.0.113.7' },
  )
  await client.until(() => Promise.resolve(events().length >= 3), 'the event of a forwarded request')
  assert.equal(events()[2]?.ip, '203.0.113.7')
  await client.stop()
})
