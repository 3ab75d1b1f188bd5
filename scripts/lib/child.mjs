/**
 * Runs one build step as a child process. Output goes to a log file; the terminal shows one line at the
 * start, one every ten seconds, and one at the end. If the step fails, the end of its log is printed and an
 * error is thrown. No dependencies: this runs before `npm ci`.
 */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const TICK_MS = 10_000
/**
 * Number of lines shown from a failed step's log: enough for a compiler's first error, not for a whole build.
 */
const TAIL_LINES = 60

export function seconds(sinceMs, untilMs = Date.now()) {
  return ((untilMs - sinceMs) / 1000).toFixed(1) + ' s'
}

/**
 * @param title     shown to the user, e.g. `installing packages`
 * @param command   argv, first the program
 * @param options   cwd, env, logPath
 */
export async function runStep(title, command, { cwd, env = process.env, logPath }) {
  const startMs = Date.now()
  console.log(`mds setup: ${title} ...`)
  mkdirSync(dirname(logPath), { recursive: true })
  const log = openSync(logPath, 'w')
  const tick = setInterval(() => console.log(`mds setup: ${title}, ${seconds(startMs)} so far`), TICK_MS)
  try {
    const outcome = await new Promise((resolve) => {
      const child = spawn(command[0], command.slice(1), { cwd, env, stdio: ['ignore', log, log] })
      child.on('error', (error) => resolve(error.message))
      child.on('exit', (code, signal) => resolve(code === 0 ? null : `exit ${signal ?? code}`))
    })
    if (outcome !== null) {
      const tail = readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n')
      throw new Error(`${title} failed (${outcome}); the end of ${logPath}:\n${tail}`)
    }
  } finally {
    clearInterval(tick)
    closeSync(log)
  }
  console.log(`mds setup: ${title}: done in ${seconds(startMs)}`)
}
