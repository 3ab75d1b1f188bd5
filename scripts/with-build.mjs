/**
 * `node scripts/with-build.mjs PROGRAM [ARGUMENT...]`: builds what has changed, tests and benches included,
 * then runs the program and forwards signals to it. Exits with the program's exit code, or as a shell does if
 * a signal ended it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from './lib/root.mjs'

const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']
/** A shell reports the end by a signal as this number plus the signal's number. */
const SIGNAL_EXIT_CODES = 128

const setup = spawnSync(process.execPath, [join(projectRoot, 'scripts', 'setup.mjs')], { stdio: 'inherit' })
if (setup.status !== 0) process.exit(setup.status ?? 1)
// Compiled by the setup: what the program starts ends with this process.
await import('../dist/test/harness/process/owned_processes.js')
const program = spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' })
for (const signal of FORWARDED_SIGNALS) process.on(signal, () => program.kill(signal))
program.on('exit', (code, signal) => (process.exitCode = code ?? SIGNAL_EXIT_CODES + constants.signals[signal]))
