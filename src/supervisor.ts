/**
 * The parent process: it runs the server as a child and starts it again after a crash. It opens nothing
 * itself, so nothing that ends the server ends it. The child shares its standard streams; signals are passed
 * on, SIGHUP too, which ends neither (config/reload.ts); an orderly end (0) and a refused start (2) are
 * final. A child whose parent has gone shuts down by itself (server.ts).
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { programPath } from './installation.js'
import { GC_HELPERS_CORES_MIN, SUPERVISOR_BACKOFF_MS_FIRST, SUPERVISOR_BACKOFF_MS_MAX, SUPERVISOR_QUICK_MS } from './limits/process.js'
import { log } from './telemetry/log.js'

/** Says to a process that it is the child. */
export const SUPERVISED_VARIABLE = 'MDS_SUPERVISED'
/** Says to the child how often it has been started again, which nobody else knows. */
export const RESTARTS_VARIABLE = 'MDS_RESTARTS'
/**
 * Says to the child that the one before it ended because a commit met a full disk: it refuses writes until it
 * has seen that there is space.
 */
export const DISK_FULL_VARIABLE = 'MDS_DISK_FULL'
/**
 * Says to the child which signal ended the one before it, where a damaged page of the store may have been the
 * cause: it looks at every page before it opens the store.
 */
export const PAGES_DOUBTED_VARIABLE = 'MDS_PAGES_DOUBTED'
/** What a child that served says on its channel before it ends itself for that. */
export const DISK_FULL_MESSAGE = 'disk full'
/** What a child says on its channel as soon as SIGHUP does not end it any more. */
export const HEARS_MESSAGE = 'hears SIGHUP'
/** Exit code of a start that failed and may succeed the next time. */
export const EXIT_FAILED = 1
/** Exit code of a start that was refused: another one would be refused as well. */
export const EXIT_REFUSED = 2

const MAIN = programPath('main')
/**
 * LMDB believes its pages: one that is damaged leads it outside of the file or of its memory, or to an
 * assertion.
 */
const SIGNALS_OF_DAMAGE: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL']
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * @param restartsMax quick failures in a row after which it gives up, for those whose service manager starts
 * it again; 0: never
 * @returns the exit code of the whole
 */
export async function supervise(argv: readonly string[], restartsMax: number): Promise<number> {
  let quickFailures = 0
  let told: Readonly<Record<string, string>> = {}
  for (let restarts = 0; ; restarts++) {
    const startedAt = performance.now()
    const end = await runChild(argv, { [RESTARTS_VARIABLE]: String(restarts), ...told }).catch(unstarted)
    if (end.asked || end.code === 0 || end.code === EXIT_REFUSED) return end.code
    if (end.hasRun) told = toldAfter(end)
    const { isDiskFull } = end
    // Its successor refuses writes, so it does not end in the same way: reads need not wait.
    if (!isDiskFull) quickFailures = performance.now() - startedAt < SUPERVISOR_QUICK_MS ? quickFailures + 1 : 0
    if (restartsMax > 0 && quickFailures >= restartsMax) {
      log.error(`supervisor: the server ended ${quickFailures} times within ${SUPERVISOR_QUICK_MS / 1000} s of its start; giving up`)
      return 1
    }
    const pauseMs = isDiskFull ? 0 : restartPauseMs(quickFailures)
    log.error(`supervisor: the server ended (${end.how}); starting it again ${pauseMs === 0 ? 'at once' : `in ${pauseMs / 1000} s`}`)
    if (await askedToEndWithin(pauseMs)) return 0
  }
}

/** No pause after a server that ran for long; 1, 2, 4 ... 60 s after quick failures. */
export function restartPauseMs(quickFailures: number): number {
  return quickFailures === 0 ? 0 : Math.min(SUPERVISOR_BACKOFF_MS_FIRST * 2 ** (quickFailures - 1), SUPERVISOR_BACKOFF_MS_MAX)
}

/** What its successor is told. */
function toldAfter({ isDiskFull, how }: ChildEnd): Readonly<Record<string, string>> {
  return {
    ...(isDiskFull ? { [DISK_FULL_VARIABLE]: '1' } : {}),
    ...(SIGNALS_OF_DAMAGE.includes(how) ? { [PAGES_DOUBTED_VARIABLE]: how } : {}),
  }
}

interface ChildEnd {
  /** It was started. */
  readonly hasRun: boolean
  readonly code: number
  /** For the log: exit code or signal. */
  readonly how: string
  /** We were told to end while it ran. */
  readonly asked: boolean
  /** It served, a commit met a full disk and could not be undone: another process can serve reads at once. */
  readonly isDiskFull: boolean
}

/**
 * The system refused a new process (too many, no memory, the program is not there): a later try may succeed.
 */
function unstarted({ message }: Error): ChildEnd {
  return { hasRun: false, code: EXIT_FAILED, how: message, asked: false, isDiskFull: false }
}

/** @throws Error where it could not be started */
function runChild(argv: readonly string[], told: Readonly<Record<string, string>>): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    let asked = false
    let isDiskFull = false
    const child = spawn(process.execPath, [...process.execArgv, ...gcFlags(), MAIN, ...argv], {
      // The channel carries HEARS_MESSAGE and perhaps DISK_FULL_MESSAGE; its end tells the child that its
      // parent has gone.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [SUPERVISED_VARIABLE]: '1', ...told },
    })
    const forward = (signal: NodeJS.Signals): void => {
      asked = true
      child.kill(signal)
    }
    let hears = false
    let isHungUp = false
    // A request to read the configuration again, no end.
    const hangUp = (): void => {
      if (hears) child.kill('SIGHUP')
      else isHungUp = true
    }
    for (const signal of ENDING_SIGNALS) process.on(signal, forward)
    process.on('SIGHUP', hangUp)
    const finish = (): void => {
      for (const signal of ENDING_SIGNALS) process.off(signal, forward)
      process.off('SIGHUP', hangUp)
    }
    child.on('message', (message) => {
      isDiskFull ||= message === DISK_FULL_MESSAGE
      if (message !== HEARS_MESSAGE) return
      hears = true
      if (isHungUp) hangUp()
    })
    child.on('error', (error) => {
      // A child that runs has an end of its own.
      if (child.pid !== undefined) return
      finish()
      reject(error)
    })
    child.once('exit', (code, signal) => {
      finish()
      resolve({ hasRun: true, code: code ?? 1, how: signal ?? `exit code ${code}`, asked, isDiskFull })
    })
  })
}

/**
 * V8 gives each collection to four helper threads as well. With few cores they compete with the lanes and the
 * loop: at 64 connections on 2 cores they took 10 of 62 us of CPU per point read, and without them no other
 * thread's own time grew. A flag of the start: V8 traps when it is changed later.
 */
export function gcFlags(): readonly string[] {
  return availableParallelism() <= GC_HELPERS_CORES_MIN ? ['--single-threaded-gc'] : []
}

async function askedToEndWithin(ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (asked: boolean): void => {
      clearTimeout(timer)
      for (const signal of ENDING_SIGNALS) process.off(signal, onSignal)
      resolve(asked)
    }
    const onSignal = (): void => settle(true)
    const timer = setTimeout(() => settle(false), ms)
    for (const signal of ENDING_SIGNALS) process.on(signal, onSignal)
  })
}
