/**
 * The parent process: it runs the server as a child and starts it again after a crash. It opens nothing itself, so nothing that ends the server ends it. The child shares
 * its standard streams; signals are passed on; an orderly end (0) and a refused start (2) are final. A child whose parent has gone shuts down by itself (server.ts).
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import {
  GC_HELPERS_CORES_MIN,
  SUPERVISOR_BACKOFF_MS_FIRST,
  SUPERVISOR_BACKOFF_MS_MAX,
  SUPERVISOR_QUICK_FAILURES_MAX,
  SUPERVISOR_QUICK_MS,
} from './limits.js'

/** Says to a process that it is the child. */
export const SUPERVISED_VARIABLE = 'MDS_SUPERVISED'
/** Exit code of a start that was refused: another one would be refused as well. */
export const EXIT_REFUSED = 2

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** @returns the exit code of the whole. */
export async function supervise(argv: readonly string[]): Promise<number> {
  let quickFailures = 0
  for (;;) {
    const startedAt = performance.now()
    const end = await runChild(argv)
    if (end.asked || end.code === 0 || end.code === EXIT_REFUSED) return end.code
    quickFailures = performance.now() - startedAt < SUPERVISOR_QUICK_MS ? quickFailures + 1 : 0
    if (quickFailures >= SUPERVISOR_QUICK_FAILURES_MAX) {
      console.error(`supervisor: the server ended ${quickFailures} times within ${SUPERVISOR_QUICK_MS / 1000} s of its start; giving up`)
      return 1
    }
    const pauseMs = Math.min(SUPERVISOR_BACKOFF_MS_FIRST * 2 ** quickFailures, SUPERVISOR_BACKOFF_MS_MAX)
    console.error(`supervisor: the server ended (${end.how}); starting it again in ${pauseMs} ms`)
    if (await askedToEndWithin(pauseMs)) return 0
  }
}

interface ChildEnd {
  readonly code: number
  /** For the log: exit code or signal. */
  readonly how: string
  /** We were told to end while it ran. */
  readonly asked: boolean
}

function runChild(argv: readonly string[]): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    let asked = false
    const child = spawn(process.execPath, [...process.execArgv, ...gcFlags(), MAIN, ...argv], {
      // The channel carries nothing: its end tells the child that its parent has gone.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [SUPERVISED_VARIABLE]: '1' },
    })
    const forward = (signal: NodeJS.Signals): void => {
      asked = true
      child.kill(signal)
    }
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward)
    const finish = (): void => {
      for (const signal of FORWARDED_SIGNALS) process.off(signal, forward)
    }
    child.once('error', (error) => {
      finish()
      reject(error)
    })
    child.once('exit', (code, signal) => {
      finish()
      resolve({ code: code ?? 1, how: signal ?? `exit code ${code}`, asked })
    })
  })
}

/**
 * V8 gives each collection to four helper threads as well. With few cores they compete with the lanes and the loop: at 64 connections on 2 cores they took 10 of 62 us of
 * CPU per point read, and without them no other thread's own time grew. A flag of the start: V8 traps when it is changed later.
 */
export function gcFlags(): readonly string[] {
  return availableParallelism() <= GC_HELPERS_CORES_MIN ? ['--single-threaded-gc'] : []
}

async function askedToEndWithin(ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (asked: boolean): void => {
      clearTimeout(timer)
      for (const signal of FORWARDED_SIGNALS) process.off(signal, onSignal)
      resolve(asked)
    }
    const onSignal = (): void => settle(true)
    const timer = setTimeout(() => settle(false), ms)
    for (const signal of FORWARDED_SIGNALS) process.on(signal, onSignal)
  })
}
