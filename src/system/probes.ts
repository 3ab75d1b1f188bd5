/**
 * Probes of orchestrators and load balancers, beside health (docs/decisions/operation/observation.md):
 * `/livez` (would a restart help?) and `/readyz` (may requests be sent?), answered on the event loop. Also
 * sets the health gauges every few seconds, because a lane renders the metrics.
 */
import { Chore, type ChoreTools } from '../chore.js'
import { badRequest } from '../errors.js'
import type { Telemetry } from '../telemetry/registry.js'
import type { Answer } from '../wire/answer.js'
import type { Persistence } from './data_directory_probe.js'
import type { ServerState, SystemAnswer } from './server_state.js'

/**
 * How late a lane may be for the deadline of a request before `/livez` reports it as stuck. Handlers check
 * the deadline several times a second, and a wait for the network ends after 30 s.
 */
export const LANE_SILENCE_MS_MAX = 60_000
/**
 * Interval at which the gauges of disk, warnings and backups are set: below 15 s, the usual scrape interval.
 */
const HEALTH_WATCH_MS = 5_000

interface Health {
  /** Whether the server can do its work. */
  readonly isWell: boolean
  readonly status: string
  readonly error?: string
  readonly persistence: Persistence
}

/**
 * A busy lane is alive. A lane is stuck if it is far behind a deadline that it should have polled. A start
 * that builds an index, a shutdown and a full disk are no reasons for a restart.
 */
export const answerLive: SystemAnswer = (state) => {
  if (state.phase() === 'unhealthy') return { code: 'notAlive', ...json({ status: 'failed', error: state.phaseReason() }) }
  const silentMs = state.lanesOverdueMs()
  if (silentMs < LANE_SILENCE_MS_MAX) return json({ status: 'alive' })
  return { code: 'notAlive', ...json({ status: 'stuck', error: `a lane is ${Math.round(silentMs / 1000)} s behind a deadline` }) }
}

/**
 * @param answerHealth a server is ready if it is healthy, and can be written and searched as far as the mode
 * requires it
 */
export function readyAnswer(answerHealth: SystemAnswer): SystemAnswer {
  return (state, input) => {
    const asked = input.mode ?? state.mode
    if (!['read', 'write', 'wr'].includes(asked)) throw badRequest('invalid mode')
    const health = healthOf(answerHealth, state, { mode: asked })
    const reason = reasonAgainst(health, asked, state)
    if (reason === null) return json({ status: 'ready', mode: asked })
    return { code: 'notReady', ...json({ status: 'not_ready', mode: asked, reason }) }
  }
}

function reasonAgainst({ isWell, status, persistence }: Health, asked: string, state: ServerState): string | null {
  if (!isWell) return status
  if (asked !== 'read' && !persistence.writable) return 'not_writable'
  return asked !== 'write' && state.isIndexStale() ? 'index_building' : null
}

function healthOf(answerHealth: SystemAnswer, state: ServerState, input: Readonly<Record<string, string>>): Health {
  const { code, body } = answerHealth(state, input)
  return { isWell: code === undefined, ...(JSON.parse(String(body)) as Omit<Health, 'isWell'>) }
}

/** @param lastBackup unix seconds; 0: there is none */
export function healthWatch(
  answerHealth: SystemAnswer,
  state: ServerState,
  telemetry: Telemetry,
  lastBackup: () => number,
  tools: ChoreTools,
): Chore {
  return new Chore(tools, {
    name: 'health-watch',
    failure: 'the gauges of health are not set',
    retry: { firstMs: HEALTH_WATCH_MS, longestMs: HEALTH_WATCH_MS },
    round: () => {
      const { persistence } = healthOf(answerHealth, state, {})
      telemetry.set('disk_free_bytes', persistence.freeBytes)
      telemetry.set('disk_writable', persistence.writable ? 1 : 0)
      telemetry.set('health_warnings', persistence.warnings.length)
      telemetry.set('last_backup_timestamp_seconds', lastBackup())
      return HEALTH_WATCH_MS
    },
  })
}

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}
