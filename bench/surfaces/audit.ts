/**
 * What audit events cost: `npm run bench -- audit [-- EVENTS_PER_SECOND] [SECONDS]`. For the thread that
 * emits (the event loop of a server): the time of one event, the share of a core, events dropped at a steady
 * rate with the real file, hash chain and flushes, how late the thread's timers are, and the same at higher
 * rates. The same loop without an audit log is the baseline. Then durable adds over HTTP at 64 connections,
 * of two servers in turns, one of which has a log. Machine and last results: bench/README.md.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { AuditLog } from '../../src/audit/audit_log.js'
import { verifyLog } from '../../src/audit/verification.js'
import { loadConfig } from '../../src/config/config.js'
import { type AuditEvent, emitAuditEvent } from '../../src/telemetry/audit.js'
import { Telemetry } from '../../src/telemetry/registry.js'
import { startServer } from '../../test/harness/server/server.js'
import { postBytes } from '../measure/connection.js'
import { runLoad } from '../measure/load.js'
import { median } from '../measure/statistics.js'

const [perSecond = 20_000, seconds = 60] = process.argv.slice(2).map(Number)
const EVENT: AuditEvent = {
  action: 'auth.jwt',
  actor: 'ada.lovelace@example.org',
  resource: '/v1/get',
  result: 'ok',
  ip: '198.51.100.17',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
}
/** Milliseconds between two bursts of the steady rate. */
const TICK_MS = 5

interface Figures {
  readonly perSecond: number
  readonly nsPerEvent: number
  readonly emitShare: number
  readonly delayP99Ms: number
}

/** Emits at a steady rate. */
async function emitSteadily(rate: number, durationMs: number): Promise<Figures> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const begun = performance.now()
  let emitted = 0
  let busyMs = 0
  for (let now = begun; now - begun < durationMs; now = performance.now()) {
    const due = Math.floor(((now - begun) * rate) / 1000)
    for (; emitted < due; emitted++) emitAuditEvent(EVENT)
    busyMs += performance.now() - now
    await setTimeout(TICK_MS)
  }
  const ms = performance.now() - begun
  delay.disable()
  return {
    perSecond: Math.round((emitted * 1000) / ms),
    nsPerEvent: Math.round((busyMs * 1e6) / emitted),
    emitShare: Math.round((1000 * busyMs) / ms) / 10,
    delayP99Ms: Math.round(delay.percentile(99) / 1e4) / 100,
  }
}

async function withLog(run: (log: AuditLog) => Promise<Figures>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'mds-bench-audit-'))
  const telemetry = Telemetry.create([])
  telemetry.claimRow()
  const log = new AuditLog({ config: loadConfig(['--db', directory, '--audit'], {}), telemetry, setRefusing: () => undefined })
  await log.start()
  const before = process.cpuUsage()
  const figures = await run(log)
  const { dropped } = log
  await log.stop()
  const { user, system } = process.cpuUsage(before)
  const { events, batches, total } = verifyLog(join(directory, 'audit'))
  assert.equal(total, 0, 'the chain is unbroken')
  const cpuUsPerEvent = Math.round((10 * (user + system)) / events) / 10
  console.log(JSON.stringify({ audit: true, ...figures, dropped, events, batches, cpuUsPerEvent }))
  rmSync(directory, { recursive: true })
}

/** Adds per second of a server without and with a log: medians of rounds in turns. */
async function addBoth(rounds: number, roundSeconds: number): Promise<void> {
  const servers = await Promise.all(['false', 'true'].map((on) => startServer({ env: { SVC_AUDIT_ENABLED: on } })))
  const rates: [number[], number[]] = [[], []]
  let added = 0
  const next = (): Buffer =>
    postBytes('/v1/add', JSON.stringify({ collection: 'a', key: `k${added++}`, lang: 'en', meta: {}, contentMd: 'A short text.' }))
  for (let round = 0; round <= rounds; round++)
    for (const [at, { port }] of servers.entries()) {
      const { perSecond: rate } = await runLoad(port, 64, roundSeconds, next)
      // The first round warms up.
      if (round > 0) rates[at === 0 ? 0 : 1].push(rate)
    }
  for (const server of servers) await server.stop()
  const [without, withLog] = rates.map((each) => Math.round(median(each))) as [number, number]
  console.log(JSON.stringify({ addsPerSecond: without, withLog, ratio: Math.round((100 * withLog) / without) / 100 }))
}

console.log(JSON.stringify({ audit: false, ...(await emitSteadily(perSecond, 5_000)) }))
await withLog(() => emitSteadily(perSecond, seconds * 1000))
for (const rate of [50_000, 100_000, 200_000]) await withLog(() => emitSteadily(rate, 5_000))
await addBoth(5, 4)
