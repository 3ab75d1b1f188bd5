/**
 * Answers that need no store, made on the front-end loop: health, configuration, system, endpoints. Each takes microseconds; what the system is asked is cached.
 * The reference pages (OpenAPI, /docs) belong to the HTTP surface: src/surface/http/loop_handlers.ts joins both and checks that every `loop` row has its function.
 */
import type { Config } from '../config.js'
import { formatAddress } from '../config.js'
import { CATALOGUE, serviceError } from '../errors.js'
import { offered } from '../operations/index.js'
import { INTERFACE_VERSION } from '../version.js'
import type { Answer } from '../worker/request/handler.js'
import { DataDirectoryProbe } from './data_directory_probe.js'
import { ProcessProbe } from './process_probe.js'
import { answerLive, readyAnswer } from './probes.js'
import type { LoopHandler } from './server_state.js'

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

/** The look before a group counts its bytes on top of what is kept. */
function diskLow(freeBytes: number, largest: number): readonly { readonly code: string; readonly detail: string }[] {
  if (freeBytes >= largest) return []
  return [{ code: 'disk_low', detail: `${freeBytes} bytes are free; the largest requests are refused under ${largest}` }]
}

function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) }
}

const WRITES_LOST = {
  code: 'writes_lost',
  detail: 'the store is in an older state than its index had seen at the start: the log says how far, a backup may have more',
}

const DISK_FULL = {
  code: 'disk_full',
  detail: 'what is free is kept for reads, deletes and the shutdown; writing is resumed when there is space',
}

/**
 * 200: the server can do its work. With a full disk that is true for readers only: for a server in mode read,
 * and for a probe with `?mode=read`, as a balancer of readers sends it
 * (docs/decisions/0151-health-of-a-full-disk.md).
 */
export const answerHealth: LoopHandler = (state, { mode: asked }) => {
  const phase = state.phase()
  const mode = state.config.httpMode
  const found = directory.read(state.config, performance.now())
  const isFull = state.isDiskFull()
  const damage = state.damageFound()
  const warnings = [
    ...found.warnings,
    ...(state.indexUnstored() ? [INDEX_NOT_STORED] : []),
    ...(state.areVectorsUnstored() ? [VECTORS_NOT_STORED] : []),
    ...(damage > 0 ? [storeDamaged(damage)] : []),
    ...(state.areWritesLost() ? [WRITES_LOST] : []),
    ...(isFull ? [DISK_FULL] : diskLow(found.freeBytes, state.diskFloorBytes() + state.config.bodyBytesMax)),
  ]
  const persistence = { ...found, writable: found.writable && !isFull, warnings }
  const durable = state.config.durability === 'sync' && found.writable && !persistence.ephemeral
  const headers = [['Retry-After', String(serviceError('warmingUp').retryAfterSeconds ?? 1)]] as const
  switch (phase) {
    case 'healthy':
      if (isFull) return degraded(mode === 'read' || asked === 'read', { mode, persistence, durable })
      return json(200, { status: 'healthy', mode, persistence, durable })
    case 'warming_up':
      return { ...json(503, { status: 'warming_up', mode, persistence, durable }), headers }
    case 'unhealthy':
      return { ...json(503, { status: 'unhealthy', error: state.phaseReason(), mode, persistence, durable: false }), headers }
    case 'draining':
      return { ...json(503, { status: 'shutting_down', mode, persistence, durable }), headers }
  }
}

function degraded(isForReaders: boolean, about: object): Answer {
  const { text, retryAfterSeconds } = CATALOGUE.diskFull
  const answer = json(isForReaders ? 200 : CATALOGUE.diskFull.http, { status: 'degraded', error: text, ...about })
  return isForReaders ? answer : { ...answer, headers: [['Retry-After', String(retryAfterSeconds)]] }
}

const answerConfig: LoopHandler = (state) => {
  const { config, listenAddress } = state
  return json(200, {
    version: INTERFACE_VERSION,
    databasePath: config.path,
    mode: config.mode,
    protocols: {
      http: { enabled: true, addr: listenAddress === '' ? formatAddress(config.httpAddr) : listenAddress, mode: config.httpMode },
      grpc: { enabled: false, addr: '' },
      mcp: { enabled: false, addr: '' },
      http3: { enabled: false, addr: '' },
    },
    authEnabled: false,
    metricsEnabled: config.metrics,
    vectorConfig: state.vectorConfig(),
    chunkConfig: { enabled: config.embeddingChunkEnabled, chunkSize: config.embeddingChunkSize },
    automationsEnabled: false,
    automationLogsEnabled: false,
    searchStatsEnabled: true,
    graphql_enabled: false,
    panelMode: 'internal',
    replicationRole: '',
    exposed: isExposed(config),
    warnings: config.warnings,
  })
}

const answerSystemInfo: LoopHandler = ({ startedAt }) => {
  const { threads, ...reading } = machine.read()
  return json(200, {
    ...reading,
    goVersion: `node ${process.version}`,
    version: INTERFACE_VERSION,
    uptimeSeconds: Math.max(0, Math.floor((Date.now() - startedAt) / 1000)),
    numGoroutines: threads,
  })
}

const answerEndpoints: LoopHandler = ({ config }) =>
  json(200, {
    http: offered(config).flatMap(({ http, description, permission }) =>
      http.map(({ method, path }) => ({ method, path, description, requiresAuth: permission !== 'public' })),
    ),
    grpc: [],
    mcp: [],
  })

/** True where anyone who reaches the machine can use the server: no access control, and more than the loopback is listened on. */
export function isExposed({ httpAddr }: Pick<Config, 'httpAddr'>): boolean {
  if (httpAddr.kind === 'unix') return false
  return !/^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(httpAddr.host)
}

/** By the name of the operation. */
export const loopAnswers: readonly (readonly [string, LoopHandler])[] = [
  ['health', answerHealth],
  ['livez', answerLive],
  ['readyz', readyAnswer(answerHealth)],
  ['config', answerConfig],
  ['systemInfo', answerSystemInfo],
  ['endpoints', answerEndpoints],
]
