/** The state of a server as loop operations read it, for tests without a server. */
import { tmpdir } from 'node:os'
import { loadConfig } from '../../../src/config/config.js'
import { surfaces } from '../../../src/surface/index.js'
import type { ServerState } from '../../../src/system/server_state.js'
import { installTelemetry, Telemetry } from '../../../src/telemetry/registry.js'
import type { Phase } from '../../../src/wire/control_block.js'
import { ACCESS_ENV } from './access.js'

// Health reads gauges of other threads.
installTelemetry(Telemetry.create([]))

export function serverState(phase: Phase = 'healthy', env: NodeJS.ProcessEnv = {}, isDiskFull = false): ServerState {
  const features = { SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_PPROF_ENABLED: 'true' }
  const config = loadConfig(['--db', tmpdir()], { ...features, ...ACCESS_ENV, ...env })
  return {
    config,
    listenAddresses: new Map([['http', '127.0.0.1:4711']]),
    surfaces,
    mode: config.httpMode,
    startedAt: Date.now() - 61_000,
    phase: () => phase,
    phaseReason: () => 'flush failed',
    isDiskFull: () => isDiskFull,
    diskFloorBytes: () => 0,
    indexUnstored: () => false,
    areVectorsUnstored: () => false,
    damageFound: () => 0,
    areWritesLost: () => false,
    lanesOverdueMs: () => 0,
    isIndexStale: () => false,
    update: () => undefined,
    mcpSessions: () => ({ sse: 0, streamable: 0 }),
    auditObstacle: () => null,
    auditNearlyFull: () => null,
    vectorConfig: () => ({ enabled: false, provider: 'none', model: '', dimensions: 0, apiUrl: '' }),
  }
}
