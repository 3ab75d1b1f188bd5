/**
 * Answers that need no store, made on the front-end loop: health, configuration, system, endpoints. Each takes microseconds; what the system is asked is cached.
 * The reference pages (OpenAPI, /docs) belong to the HTTP surface: src/surface/http/loop_handlers.ts joins both and checks that every `loop` row has its function.
 */
import type { Config } from '../config.js'
import { formatAddress } from '../config.js'
import { serviceError } from '../errors.js'
import { offered } from '../operations/index.js'
import { INTERFACE_VERSION } from '../version.js'
import type { Answer } from '../worker/handler.js'
import { DataDirectoryProbe } from './data_directory_probe.js'
import { ProcessProbe } from './process_probe.js'
import type { LoopHandler } from './server_state.js'

const directory = new DataDirectoryProbe()
const machine = new ProcessProbe()

const INDEX_NOT_STORED = {
  code: 'index_not_stored',
  detail: 'the disk refuses the index; it is whole in memory, and the next start has more to replay',
}

function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) }
}

const answerHealth: LoopHandler = (state) => {
  const phase = state.phase()
  const mode = state.config.httpMode
  const found = directory.read(state.config, performance.now())
  const persistence = state.indexUnstored() ? { ...found, warnings: [...found.warnings, INDEX_NOT_STORED] } : found
  const durable = state.config.durability === 'sync' && persistence.writable && !persistence.ephemeral
  const headers = [['Retry-After', String(serviceError('warmingUp').retryAfterSeconds ?? 1)]] as const
  switch (phase) {
    case 'healthy':
      return json(200, { status: 'healthy', mode, persistence, durable })
    case 'warming_up':
      return { ...json(503, { status: 'warming_up', mode, persistence, durable }), headers }
    case 'unhealthy':
      return { ...json(503, { status: 'unhealthy', error: state.phaseReason(), mode, persistence, durable: false }), headers }
    case 'draining':
      return { ...json(503, { status: 'shutting_down', mode, persistence, durable }), headers }
  }
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
  ['config', answerConfig],
  ['systemInfo', answerSystemInfo],
  ['endpoints', answerEndpoints],
]
