/**
 * The options of the process, a part of the table of options (options.ts): how it ends, and who starts it
 * again. Pure data; main thread, at start.
 */
import type { Option } from './option.js'
import { parseBoolean, parseWhole } from './values.js'

/** Seconds between SIGTERM and the forced end (`SVC_SHUTDOWN_TIMEOUT_SEC`). */
const SHUTDOWN_SECONDS_DEFAULT = 15
/** `SVC_DRAIN_MS`: the slowest balancers look every half minute, and twice. Orchestrators wait no longer. */
const DRAIN_MS_MAX = 300_000

export interface ProcessOptionValues {
  /** Between readiness falling and refusing. */
  readonly drainMs: number
  readonly shutdownSecondsMax: number
  readonly supervisor: boolean
  /** Consecutive quick failures after which the supervisor exits. 0: never. */
  readonly supervisorRestartsMax: number
}

export const PROCESS_OPTIONS: { readonly [Name in keyof ProcessOptionValues]: Option<ProcessOptionValues[Name]> } = {
  drainMs: {
    flag: 'drain-ms',
    variables: ['SVC_DRAIN_MS'],
    yaml: ['drainMs'],
    fallback: 0,
    parse: parseWhole(0, DRAIN_MS_MAX),
    help: 'time in ms for which a server that is told to stop still serves while /readyz is 503 already, so that load balancers send nothing more; counted before shutdown-timeout-sec',
  },
  shutdownSecondsMax: {
    flag: 'shutdown-timeout-sec',
    variables: ['SVC_SHUTDOWN_TIMEOUT_SEC'],
    yaml: ['shutdownTimeoutSec'],
    fallback: SHUTDOWN_SECONDS_DEFAULT,
    parse: parseWhole(1, 3600),
    help: 'maximum time in seconds that a shutdown waits for accepted requests',
  },
  supervisor: {
    flag: 'supervisor',
    variables: ['SVC_SUPERVISOR'],
    yaml: ['supervisor'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'run a parent process that restarts the server after a crash',
  },
  supervisorRestartsMax: {
    flag: 'supervisor-restarts-max',
    variables: ['SVC_SUPERVISOR_RESTARTS_MAX'],
    yaml: ['supervisorRestartsMax'],
    fallback: 0,
    parse: parseWhole(0, 1_000_000),
    help: 'number of consecutive quick failures after which the supervisor exits with 1, so that a service manager can restart it; 0: it never exits and pauses for 1, 2, 4 ... 60 s',
  },
}
