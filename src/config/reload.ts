/**
 * Handles SIGHUP: reads the configuration again from all its sources. Options marked `onSignal` are applied
 * immediately. For every other changed option, a line is logged that a restart is needed. An invalid file
 * changes nothing. Main thread, also of the supervisor. Decision: docs/decisions/operation/starting.md.
 */
import { isDeepStrictEqual } from 'node:util'
import { log, logs, setLog } from '../telemetry/log.js'
import type { Config } from './config.js'
import { ConfigError, loadConfig } from './config.js'
import type { Option } from './options/option.js'
import { OPTIONS } from './options/options.js'

/** Functions that apply the options read again, one for each part of the server. */
const TAKERS: readonly ((config: Config) => void)[] = [setLog]

/** Fields that are not in the table of options, because they are secret or derived. */
const BESIDE = ['encryption', 'embedding', 'auditWebhookHeaders', 'limits'] as const

interface Difference {
  readonly name: string
  readonly field: keyof Config
  readonly isTaken: boolean
}

/**
 * @param isQuiet log nothing: for the supervisor, because its child logs the same lines
 * @returns the configuration in force afterwards
 */
export function reread(running: Config, argv: readonly string[], env: NodeJS.ProcessEnv, isQuiet = false): Config {
  let read: Config
  try {
    read = loadConfig(argv, env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    if (!isQuiet) log.error('SIGHUP: the configuration stays as it is', { reason: error })
    return running
  }
  const differences = differencesOf(running, read)
  const taken = Object.fromEntries(differences.filter(({ isTaken }) => isTaken).map(({ field }) => [field, read[field]]))
  const next: Config = Object.freeze({ ...running, ...taken })
  const logChanges = (): void => {
    if (!isQuiet) tellOf(differences, running, next)
  }
  // Logged under the old or the new level, whichever shows it.
  const isShown = logs('info')
  if (isShown) logChanges()
  for (const take of TAKERS) take(next)
  if (!isShown) logChanges()
  return next
}

function differencesOf(running: Config, read: Config): Difference[] {
  const options = Object.entries(OPTIONS as Readonly<Record<string, Option<unknown>>>).map(([name, { yaml, flag, onSignal }]) => ({
    name: yaml[0] ?? flag,
    field: (name === 'httpModeOverride' ? 'httpMode' : name) as keyof Config,
    isTaken: onSignal === true,
  }))
  const beside = BESIDE.map((field) => ({ name: field, field, isTaken: false }))
  const differing = [...options, ...beside].filter(({ field }) => !isDeepStrictEqual(running[field], read[field]))
  return isGuardSwitched(running, read, differing) ? [...differing, CORS_SET] : differing
}

const CORS_SET: Difference = { name: OPTIONS.corsOrigins.yaml[0] ?? OPTIONS.corsOrigins.flag, field: 'guardsLocal', isTaken: false }

/**
 * `corsOrigins` was set to its default, or is no longer set. Its value is the same, but setting it disables
 * the guard of local servers.
 */
function isGuardSwitched(running: Config, read: Config, differing: readonly Difference[]): boolean {
  const others = ['corsOrigins', 'trustedProxies', 'httpAddr']
  return running.guardsLocal !== read.guardsLocal && !differing.some(({ field }) => others.includes(field))
}

/** Logs only the values of applied options, which are switches. Other values may be secret. */
function tellOf(differences: readonly Difference[], running: Config, next: Config): void {
  if (differences.length === 0) log.info('SIGHUP: nothing has changed')
  for (const { name, field, isTaken } of differences) {
    if (isTaken) log.info('SIGHUP: changed', { setting: name, from: shownOf(running[field]), to: shownOf(next[field]) })
    else log.warn('SIGHUP: changed, and needs a restart', { setting: name })
  }
}

function shownOf(value: Config[keyof Config]): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
