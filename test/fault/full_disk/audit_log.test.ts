/** An audit log whose disk takes nothing: nothing of it is lost while it waits, and health shows it. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { SmallDisk } from '../../harness/process/small_disk.js'
import { untilAsked } from '../../harness/process/until.js'
import { addDocuments, auditOf, exportersOf, verify } from '../../harness/server/audit_log.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { FaultControl } from '../shim/fault_control.js'
import { NOT_MOUNTED } from './full_disk.js'

interface HealthJson {
  readonly status: string
  readonly error?: string
  readonly persistence: { readonly writable: boolean; readonly warnings: readonly { readonly code: string; readonly detail: string }[] }
}

const REFUSED = '{"error":"the audit log cannot be written, writes are refused until it can"}'

async function withFullLog(
  test: TestContext,
  env: Readonly<Record<string, string>>,
  run: (server: Server, disk: SmallDisk, log: string) => Promise<void>,
): Promise<void> {
  // prettier-ignore
  const disk = SmallDisk.mount(8)
  if (disk === undefined) return test.skip(NOT_MOUNTED)
  const log = join(disk.path, 'log')
  const server = await startServer({ env: { SVC_AUDIT_ENABLED: 'true', SVC_AUDIT_DIR: log, ...env } })
  try {
    await run(server, disk, log)
  } finally {
    await server.stop()
    disk.unmount()
  }
}

const warningsOf = async (server: Server): Promise<string[]> =>
  (await server.get('/health')).json<HealthJson>().persistence.warnings.map(({ code }) => code)

/** Adds until the file has no capacity left, which the first batches may still find. */
async function untilUnwritten(server: Server): Promise<number> {
  let added = 0
  await untilAsked(
    async () => {
      added += await addDocuments(server, 'a', 20)
      return await warningsOf(server)
    },
    (codes) => codes.includes('audit_not_written'),
  )
  return added
}

it('audit: a full disk is a warning of health and a metric, events wait, and are written when there is space', async (test) => {
  await withFullLog(test, {}, async (server, disk, log) => {
    disk.fill(0)
    const added = (await untilUnwritten(server)) + (await addDocuments(server, 'b', 10))
    const health = (await server.get('/health')).json<HealthJson>()
    assert.deepEqual([health.status, health.persistence.writable], ['healthy', true])
    assert.match(
      health.persistence.warnings.find(({ code }) => code === 'audit_not_written')?.detail ?? '',
      /ENOSPC.*events wait in memory/,
    )
    assert.match((await server.get('/metrics')).text, /^mddb_audit_writable 0$/m)
    // A query finds what the disk does not take.
    assert.equal((await auditOf(server, 'limit=10000')).count, added)
    disk.empty()
    await untilAsked(() => warningsOf(server), (codes) => !codes.includes('audit_not_written')) // prettier-ignore
    assert.deepEqual(await auditOf(server, 'limit=1'), { ...(await auditOf(server, 'limit=1')), dropped: 0 })
    await server.stop()
    // Lines may come later than the answers about the same.
    assert.match(server.output(), /audit log is written again/)
    const { code, output } = await verify(log)
    assert.equal(code, 0, output)
    assert.match(output, new RegExp(` ${added} events`))
  })
})

it('audit: a log that cannot be written keeps as many events as the ring, and counts those that are lost', async (test) => {
  await withFullLog(test, { SVC_AUDIT_RING_SIZE: '50' }, async (server, disk, log) => {
    disk.fill(0)
    await untilUnwritten(server)
    await addDocuments(server, 'b', 100)
    const { dropped, count } = await auditOf(server, 'limit=1000')
    assert.equal(count, 50)
    assert.ok(dropped >= 50, String(dropped))
    disk.empty()
    await untilAsked(() => warningsOf(server), (codes) => !codes.includes('audit_not_written')) // prettier-ignore
    await addDocuments(server, 'c', 1)
    await server.stop()
    assert.match((await verify(log)).output, new RegExp(`the log says that ${dropped} events were lost`))
  })
})

it('audit: SVC_AUDIT_STRICT refuses writes with 503 while the log cannot be written, and reads go on', async (test) => {
  await withFullLog(test, { SVC_AUDIT_STRICT: 'true', SVC_HTTP_LOOPS: '2' }, async (server, disk) => {
    assert.equal(await addDocuments(server, 'a', 1), 1)
    disk.fill(0)
    await untilUnwritten(server)
    const refused = await server.post('/v1/add', { collection: 'a', key: 'x', lang: 'en', meta: {}, contentMd: 'x' })
    assert.deepEqual([refused.status, refused.text, refused.headers['retry-after']], [503, REFUSED, '5'])
    assert.equal((await server.post('/v1/get', { collection: 'a', key: 'k0', lang: 'en' })).status, 200)
    const health = await server.get('/health')
    const { status, persistence, error } = health.json<HealthJson>()
    assert.deepEqual(
      [health.status, status, persistence.writable, error],
      [503, 'degraded', false, (JSON.parse(REFUSED) as { error: string }).error],
    )
    assert.equal((await server.get('/health?mode=read')).status, 200)
    disk.empty()
    await untilAsked(() => addDocuments(server, 'b', 1), (added) => added === 1) // prettier-ignore
    assert.equal((await server.get('/health')).status, 200)
  })
})

it('audit: an event is exported when it is flushed to the disk, and a flush that fails is tried again until it succeeds', async (test) => {
  const scratch = mkdtempSync(join(tmpdir(), 'mds-audit-flush-'))
  test.after(() => rmSync(scratch, { recursive: true, force: true }))
  const control = new FaultControl(join(scratch, 'control'))
  test.after(() => control.close())
  // The shim watches this directory from its start, so it must exist.
  const log = join(scratch, 'log')
  mkdirSync(log)
  const sink = createSocket('udp4')
  test.after(() => sink.close())
  await new Promise<void>((listening) => sink.bind(0, '127.0.0.1', listening))
  const env = { SVC_AUDIT_ENABLED: 'true', SVC_AUDIT_DIR: log, SVC_AUDIT_EXPORT_SYSLOG_ADDR: `udp://127.0.0.1:${sink.address().port}` }
  const server = await startServer({ env: { ...env, ...control.environment(log) } })
  test.after(() => server.kill())
  assert.equal(await addDocuments(server, 'before', 3), 3)
  await untilAsked(() => exportersOf(server), ([first]) => first?.delivered === 3) // prettier-ignore
  control.arm({ kind: 'flush', at: 1, error: 'EIO', manner: 'torn', lasts: true })
  assert.equal(await addDocuments(server, 'during', 5), 5)
  await untilAsked(() => warningsOf(server), (codes) => codes.includes('audit_not_written')) // prettier-ignore
  assert.ok(control.state().hits > 0)
  const [during] = await exportersOf(server)
  assert.deepEqual([during?.delivered, during?.queued], [3, 0])
  control.disarm()
  await untilAsked(() => exportersOf(server), ([first]) => first?.delivered === 8) // prettier-ignore
  assert.deepEqual(await warningsOf(server), [])
  await server.stop()
  const { code, output } = await verify(log)
  assert.equal(code, 0, output)
  assert.match(output, / 8 events/)
})
