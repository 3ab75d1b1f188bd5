/**
 * The program: configuration, then either the supervisor with the server as its child, or the server itself.
 * Loads nothing heavy before the configuration is validated.
 */
import { isatty } from 'node:tty'
import { versionText } from './base/version.js'
import type { Config } from './config/config.js'
import { ConfigError, helpText, loadConfig, wantsHelp, wantsVersion } from './config/config.js'
import { reread } from './config/reload.js'
import { EXIT_REFUSED, HEARS_MESSAGE, LISTENED_VARIABLE, supervise, SUPERVISED_VARIABLE } from './supervisor.js'
import { log, logsJson, logToStderr, printRefusal, setLog } from './telemetry/log.js'

/** Errors of Node for code that can't be loaded. */
const LOAD_ERRORS: readonly unknown[] = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']
/** dlopen has one code for all its errors. These are of a loaded machine, and another attempt may succeed. */
const PASSING = /Too many open files|Cannot allocate memory|failed to map segment|Input\/output error/

const argv = process.argv.slice(2)
const supervised = process.env[SUPERVISED_VARIABLE] !== undefined
const hadTerminal = isatty(0)
let running: Config | undefined

// Installed before the configuration is read, so that no later change is missed: the handler runs in a later
// turn.
process.on('SIGHUP', () => {
  // The terminal was closed. Like any program in its foreground, the server then shuts down.
  if (hadTerminal && !isatty(0)) process.kill(process.pid, 'SIGTERM')
  else if (running !== undefined) running = reread(running, argv, process.env, running.supervisor && !supervised)
})
// Node prints the error as well, in lines that a JSON parser cannot read.
process.on('uncaughtExceptionMonitor', (error) => {
  if (logsJson()) log.error('the process ends', { fault: error })
})
if (supervised) process.send?.(HEARS_MESSAGE)

function configure(): Config {
  try {
    return loadConfig(argv, process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(`configuration: ${error.message}`)
    process.exit(EXIT_REFUSED)
  }
}

/**
 * Refuses a start whose code can't be loaded, unless an earlier child of this supervisor listened: then the
 * installation is being replaced, and a later attempt succeeds (0152).
 */
async function serve(serving: Config): Promise<void> {
  try {
    const { runServer } = await import('./server.js')
    await runServer(serving, supervised)
  } catch (error) {
    const reason = loadFailure(error)
    if (reason === undefined || process.env[LISTENED_VARIABLE] !== undefined) throw error
    printRefusal("can't start", reason)
    process.exit(EXIT_REFUSED)
  }
}

/**
 * The reason, in one line, why code can't be loaded: a package or a binary is missing, or is made for another
 * Node or another system. Another attempt fails in the same way.
 * @returns undefined for any other error
 */
function loadFailure(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code, message } = error
  if (!LOAD_ERRORS.includes(code) || PASSING.test(message)) return undefined
  return message.split('\n', 1)[0]
}

if (wantsHelp(argv)) {
  process.stdout.write(helpText())
} else if (wantsVersion(argv)) {
  console.log(versionText())
} else {
  const config = configure()
  setLog(config)
  if (config.mcpStdio) logToStderr()
  running = config
  if (config.supervisor && !supervised) {
    process.exitCode = await supervise(argv, config.supervisorRestartsMax)
  } else {
    // uWS reads the variable when it is loaded. Its default of 4 KB is less than browsers with a few cookies
    // send.
    process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '8192'
    await serve(config)
  }
}
