/**
 * The program: configuration, then either the supervisor with the server as its child, or the server itself. Loads nothing heavy before the configuration is known good.
 */
import { ConfigError, helpText, loadConfig, wantsHelp, type Config } from './config.js'
import { EXIT_REFUSED, SUPERVISED_VARIABLE, supervise } from './supervisor.js'

const argv = process.argv.slice(2)

function configure(): Config {
  try {
    return loadConfig(argv, process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(`configuration: ${error.message}`)
    process.exit(EXIT_REFUSED)
  }
}

if (wantsHelp(argv)) {
  process.stdout.write(helpText())
} else {
  const config = configure()
  const supervised = process.env[SUPERVISED_VARIABLE] !== undefined
  if (config.supervisor && !supervised) {
    process.exitCode = await supervise(argv)
  } else {
    // uWS reads it when it is loaded. Its default of 4 KB is less than browsers with a few cookies send.
    process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '8192'
    const { runServer } = await import('./server.js')
    await runServer(config, supervised)
  }
}
