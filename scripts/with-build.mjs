/**
 * `node scripts/with-build.mjs PROGRAM [ARGUMENT...]`: builds what changed, tests and benches too, then runs
 * the program in place of itself. Its exit code and its end by a signal are the program's.
 */
import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from './lib/root.mjs'

const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']
/** What a shell reports of a program that a signal ended. */
const SIGNAL_EXIT_CODES = 128

const setup = spawnSync(process.execPath, [join(projectRoot, 'scripts', 'setup.mjs')], { stdio: 'inherit' })
if (setup.status !== 0) process.exit(setup.status ?? 1)
const program = spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' })
for (const signal of FORWARDED_SIGNALS) process.on(signal, () => program.kill(signal))
program.on('exit', (code, signal) => (process.exitCode = code ?? SIGNAL_EXIT_CODES + constants.signals[signal]))
