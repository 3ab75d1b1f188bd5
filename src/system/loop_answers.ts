/**
 * Answers that need no store, made on the front-end event loop: health, configuration, system, endpoints.
 * Each takes microseconds; results of operating system calls are cached. The reference pages (OpenAPI, /docs)
 * belong to the HTTP surface: src/surface/http/pages/reference.ts.
 */
import type { Principal } from '../access/principal.js'
import { INTERFACE_VERSION } from '../base/version.js'
import type { Config } from '../config/config.js'
import { missingGuards } from '../config/production.js'
import type { BoundLoopHandler } from '../dispatch/loop_operations.js'
import { CATALOGUE } from '../errors.js'
import type { Operation } from '../operations/row/operation.js'
import { complianceStatus } from '../operations/server/compliance.js'
import { config as configRow, endpoints, health, livez, readyz, systemInfo } from '../operations/server/health.js'
import { threadTelemetry } from '../telemetry/registry.js'
import type { Answer } from '../wire/answer.js'
import { DataDirectoryProbe } from './data_directory_probe.js'
import { answerLive, readyAnswer } from './probes.js'
import { ProcessProbe } from './process_probe.js'
import type { ServerState, SystemAnswer } from './server_state.js'

const directory = new DataDirectoryProbe()
const machine = new ProcessProbe()

const INDEX_NOT_STORED = {
  code: 'index_not_stored',
  detail: 'the disk does not take the index; it is whole in memory, and the next start has more to replay',
}

const VECTORS_NOT_STORED = {
  code: 'vectors_not_stored',
  detail: 'the disk does not take the vectors; they are whole in memory, and the next start reads them from the store',
}

function storeDamaged(count: number): { readonly code: string; readonly detail: string } {
  const found = count === 1 ? '1 finding' : `${count} findings`
  return { code: 'store_damaged', detail: `${found} where the store was compared with itself, named in the log and by mds doctor` }
}

/** The space check before a commit group adds the group's bytes to the reserve. */
function diskLow(freeBytes: number, largest: number): readonly { readonly code: string; readonly detail: string }[] {
  if (freeBytes >= largest) return []
  return [{ code: 'disk_low', detail: `${freeBytes} bytes are free; the largest requests are refused under ${largest}` }]
}

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

const WRITES_LOST = {
  code: 'writes_lost',
  detail: 'the store is in an older state than its index had seen at the start: the log says how far, a backup may have more',
}

function auditUnwritten(obstacle: string, isStrict: boolean): { readonly code: string; readonly detail: string } {
  const events = isStrict ? 'writes are refused until it can' : 'events wait in memory, and are dropped when too many wait'
  return { code: 'audit_not_written', detail: `the audit log cannot be written (${obstacle}); ${events}` }
}

function auditNearlyFull(bytes: number, { auditBytesMax, auditRetentionDays }: Config): { readonly code: string; readonly detail: string } {
  const early = auditRetentionDays === 0 ? '' : ` before their ${auditRetentionDays} days`
  return {
    code: 'audit_nearly_full',
    detail: `the audit log has ${bytes} of ${auditBytesMax} bytes (SVC_AUDIT_MAX_BYTES); beyond it the oldest events are removed${early}`,
  }
}

function webhooksSuspended(count: number): { readonly code: string; readonly detail: string } {
  return { code: 'webhooks_suspended', detail: `${count} with a full backlog: GET /v1/webhooks names them, and their resume ends it` }
}

const DISK_FULL = {
  code: 'disk_full',
  detail: 'what is free is kept for reads, deletes and the shutdown; writing is resumed when there is space',
}

/**
 * 200: the server can do its work. With a full disk, or a strict audit log that cannot be written, that holds
 * for readers only: for a server in mode read, and for a probe with `?mode=read`, as a load balancer of
 * readers sends it (docs/decisions/store/disks.md).
 */
export const answerHealth: SystemAnswer = (state, { mode: asked }) => {
  const phase = state.phase()
  const { mode } = state
  const found = directory.read(state.config, performance.now())
  const isFull = state.isDiskFull()
  const damage = state.damageFound()
  const obstacle = state.auditObstacle()
  const auditBytes = state.auditNearlyFull()
  const suspended = threadTelemetry().gauge('webhooks_suspended')
  const refusal = isFull ? 'diskFull' : obstacle !== null && state.config.auditStrict ? 'auditUnwritable' : undefined
  const warnings = [
    ...found.warnings,
    ...(state.indexUnstored() ? [INDEX_NOT_STORED] : []),
    ...(state.areVectorsUnstored() ? [VECTORS_NOT_STORED] : []),
    ...(damage > 0 ? [storeDamaged(damage)] : []),
    ...(state.areWritesLost() ? [WRITES_LOST] : []),
    ...(obstacle === null ? [] : [auditUnwritten(obstacle, state.config.auditStrict)]),
    ...(auditBytes === null ? [] : [auditNearlyFull(auditBytes, state.config)]),
    ...(suspended > 0 ? [webhooksSuspended(suspended)] : []),
    ...(isFull ? [DISK_FULL] : diskLow(found.freeBytes, state.diskFloorBytes() + state.config.bodyBytesMax)),
  ]
  const persistence = { ...found, writable: found.writable && refusal === undefined, warnings }
  const durable = state.config.durability === 'sync' && found.writable && !persistence.ephemeral
  const update = state.update()
  const mcpSessions = state.mcpSessions()
  const optional = { ...(mcpSessions === undefined ? {} : { mcpSessions }), ...(update === undefined ? {} : { update }) }
  const about = { mode, persistence, durable, ...optional }
  const notReady = (body: object): Answer => ({ code: 'notReady', ...json(body) })
  switch (phase) {
    case 'healthy':
      if (refusal !== undefined) return degraded(refusal, mode === 'read' || asked === 'read', about)
      return json({ status: 'healthy', ...about })
    case 'warming_up':
      return notReady({ status: 'warming_up', ...about })
    case 'unhealthy':
      return notReady({ status: 'unhealthy', error: state.phaseReason(), ...about, durable: false })
    case 'leaving':
    case 'draining':
      return notReady({ status: 'shutting_down', ...about })
  }
}

function degraded(code: 'diskFull' | 'auditUnwritable', isForReaders: boolean, about: object): Answer {
  const answer = json({ status: 'degraded', error: CATALOGUE[code].text, ...about })
  return isForReaders ? answer : { code, ...answer }
}

const OFF = { enabled: false, addr: '' }

function protocolsOf({ config, surfaces, listenAddresses }: ServerState): Readonly<Record<string, object>> {
  const running = surfaces.flatMap((surface) => {
    const { name } = surface
    const mode = surface.mode(config)
    if (mode === undefined) return []
    return [[name, { enabled: true, addr: listenAddresses.get(name) ?? '', mode, ...surface.described?.(config) }] as const]
  })
  return { http: OFF, grpc: OFF, mcp: OFF, http3: OFF, ...Object.fromEntries(running) }
}

const answerConfig: SystemAnswer = (state) => {
  const { config } = state
  return json({
    version: INTERFACE_VERSION,
    databasePath: config.path,
    mode: config.mode,
    protocols: protocolsOf(state),
    authEnabled: config.authEnabled,
    metricsEnabled: config.metrics,
    vectorConfig: state.vectorConfig(),
    chunkConfig: { enabled: config.embeddingChunkEnabled, chunkSize: config.embeddingChunkSize },
    automationsEnabled: false,
    automationLogsEnabled: false,
    searchStatsEnabled: config.searchStats,
    graphql_enabled: config.httpEnabled && config.graphqlEnabled,
    panelMode: config.panelMode,
    replicationRole: '',
    exposed: isExposed(config),
    warnings: config.warnings,
  })
}

const answerSystemInfo: SystemAnswer = ({ startedAt }) => {
  const { threads, ...reading } = machine.read()
  return json({
    ...reading,
    goVersion: `node ${process.version}`,
    version: INTERFACE_VERSION,
    uptimeSeconds: Math.max(0, Math.floor((Date.now() - startedAt) / 1000)),
    numGoroutines: threads,
  })
}

const answerCompliance: SystemAnswer = ({ config }) => {
  const missing = missingGuards(config)
  return json({ production: config.production, compliant: missing.length === 0, missing, missingCount: missing.length })
}

const answerEndpoints: SystemAnswer = ({ config, surfaces }) => {
  const running = surfaces.filter((surface) => surface.mode(config) !== undefined)
  const lists = running.map(({ name, endpoints: list }) => [name, list?.(config) ?? []] as const)
  return json({ http: [], grpc: [], mcp: [], ...Object.fromEntries(lists) })
}

/**
 * True if anyone who can reach the machine can use the server: there is no access control, and it listens on
 * more than the loopback address.
 */
export function isExposed(config: Config): boolean {
  const { authEnabled, httpEnabled, grpcEnabled, mcpEnabled, mcpStdio } = config
  if (authEnabled) return false
  const addresses = [
    ...(httpEnabled ? [config.httpAddr] : []),
    ...(grpcEnabled ? [config.grpcAddr] : []),
    ...(mcpEnabled && !mcpStdio ? [config.mcpAddr] : []),
  ]
  return addresses.some((address) => address.kind === 'tcp' && !/^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(address.host))
}

/** The handlers of operations answered on the event loop, for every surface. */
export function systemAnswers(state: ServerState): readonly BoundLoopHandler[] {
  const bind = (row: Operation, answer: SystemAnswer): BoundLoopHandler => [row, (input) => answer(state, input)]
  return [
    briefly(bind(health, answerHealth)),
    bind(livez, answerLive),
    bind(readyz, readyAnswer(answerHealth)),
    bind(configRow, answerConfig),
    bind(systemInfo, answerSystemInfo),
    bind(endpoints, answerEndpoints),
    bind(complianceStatus, answerCompliance),
  ]
}

/**
 * What health says to whom. While access control is on, only administrators see paths, free space, warnings
 * and errors.
 */
function briefly([row, run]: BoundLoopHandler): BoundLoopHandler {
  return [row, (input, principal) => answerFor(principal, run(input, principal))]
}

function answerFor({ kind, rights }: Principal, answer: Answer): Answer {
  if (kind === 'anonymous' || rights?.isAdmin === true) return answer
  const { status, mode } = JSON.parse(String(answer.body)) as { readonly status: string; readonly mode: string }
  return { ...answer, body: JSON.stringify({ status, mode }) }
}
