/**
 * The parent process: it runs the server as a child and restarts it after a crash. It opens nothing itself,
 * so a fault that ends the server does not end it. The child shares its standard streams. Signals are
 * forwarded, including SIGHUP, which ends neither process (config/reload.ts). A clean exit (0) and a refused
 * start (2) are final. A child whose parent has gone shuts down by itself (server.ts).
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { programPath } from './base/installation.js'
import { log } from './telemetry/log.js'

/**
 * On up to this many cores, each thread collects its own garbage: lanes and event loop keep the cores busy.
 */
const GC_HELPERS_CORES_MIN = 4
/** A server that ends within this time of its start has failed quickly. The next start would usually fail. */
const SUPERVISOR_QUICK_MS = 10_000
/**
 * Pause before a restart after a quick failure. It doubles with each further one. The number of restarts is
 * unlimited: the cause (a full disk, too little memory) may be gone in an hour.
 */
const SUPERVISOR_BACKOFF_MS_FIRST = 1_000
const SUPERVISOR_BACKOFF_MS_MAX = 60_000

/** Marks a process as the child. */
export const SUPERVISED_VARIABLE = 'MDS_SUPERVISED'
/** Number of restarts so far, which only the supervisor knows. */
export const RESTARTS_VARIABLE = 'MDS_RESTARTS'
/**
 * Set if the previous child ended because a commit met a full disk. The child refuses writes until it has
 * verified that there is space.
 */
export const DISK_FULL_VARIABLE = 'MDS_DISK_FULL'
/**
 * The signal that ended the previous child, if a damaged page of the store may have been the cause. The child
 * then checks every page before it opens the store.
 */
export const PAGES_DOUBTED_VARIABLE = 'MDS_PAGES_DOUBTED'
/** Set if an earlier child has listened: then the installation has worked. */
export const LISTENED_VARIABLE = 'MDS_LISTENED'
/** Message of a child that served, before it ends itself because of a full disk. */
export const DISK_FULL_MESSAGE = 'disk full'
/** Message of a child whose surfaces listen. */
export const LISTENS_MESSAGE = 'listens'
/** Message of a child as soon as SIGHUP does not end it any more. */
export const HEARS_MESSAGE = 'hears SIGHUP'
/** Exit code of a start that failed and may succeed on the next attempt. */
export const EXIT_FAILED = 1
/** Exit code of a start that was refused: another attempt would be refused as well. */
export const EXIT_REFUSED = 2

const MAIN = programPath('main')
/**
 * LMDB trusts its pages: a damaged one leads to an access outside of the file or of its memory, or to an
 * assertion.
 */
const SIGNALS_OF_DAMAGE: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL']
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * @param restartsMax number of consecutive quick failures after which it gives up, for systems whose service
 * manager restarts it; 0: never
 * @returns the exit code of the supervisor
 */
export async function supervise(argv: readonly string[], restartsMax: number): Promise<number> {
  let quickFailures = 0
  let reported: Readonly<Record<string, string>> = {}
  let hasListened = false
  for (let restarts = 0; ; restarts++) {
    const startedAt = performance.now()
    const listened: Readonly<Record<string, string>> = hasListened ? { [LISTENED_VARIABLE]: '1' } : {}
    const end = await runChild(argv, { [RESTARTS_VARIABLE]: String(restarts), ...listened, ...reported }).catch(unstarted)
    hasListened ||= end.hasListened
    if (end.asked || end.code === 0 || end.code === EXIT_REFUSED) return end.code
    if (end.hasRun) reported = reportedAfter(end)
    const { isDiskFull } = end
    // The next child refuses writes, so it does not end in the same way: it starts without a pause, and reads
    // need not wait.
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

/** Environment variables for the next child. */
function reportedAfter({ isDiskFull, how }: ChildEnd): Readonly<Record<string, string>> {
  return {
    ...(isDiskFull ? { [DISK_FULL_VARIABLE]: '1' } : {}),
    ...(SIGNALS_OF_DAMAGE.includes(how) ? { [PAGES_DOUBTED_VARIABLE]: how } : {}),
  }
}

interface ChildEnd {
  /** Whether it was started. */
  readonly hasRun: boolean
  readonly hasListened: boolean
  readonly code: number
  /** For the log: exit code or signal. */
  readonly how: string
  /** Whether the supervisor was told to end while the child ran. */
  readonly asked: boolean
  /**
   * The child served, and a commit met a full disk and could not be undone. Another process can serve reads
   * at once.
   */
  readonly isDiskFull: boolean
}

/**
 * The system refused a new process (too many, no memory, the program does not exist): a later attempt may
 * succeed.
 */
function unstarted({ message }: Error): ChildEnd {
  return { hasRun: false, hasListened: false, code: EXIT_FAILED, how: message, asked: false, isDiskFull: false }
}

/** @throws Error if the child could not be started */
function runChild(argv: readonly string[], reported: Readonly<Record<string, string>>): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    let asked = false
    let isDiskFull = false
    let hasListened = false
    const child = spawn(process.execPath, [...process.execArgv, ...gcFlags(), MAIN, ...argv], {
      // The channel carries HEARS_MESSAGE, LISTENS_MESSAGE and perhaps DISK_FULL_MESSAGE. Its end tells the
      // child that the parent has gone.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [SUPERVISED_VARIABLE]: '1', ...reported },
    })
    const forward = (signal: NodeJS.Signals): void => {
      asked = true
      child.kill(signal)
    }
    let hears = false
    let isHungUp = false
    // SIGHUP requests a reload of the configuration, not an exit.
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
      hasListened ||= message === LISTENS_MESSAGE
      if (message !== HEARS_MESSAGE) return
      hears = true
      if (isHungUp) hangUp()
    })
    child.on('error', (error) => {
      // A running child reports its own exit.
      if (child.pid !== undefined) return
      finish()
      reject(error)
    })
    child.once('exit', (code, signal) => {
      finish()
      resolve({ hasRun: true, hasListened, code: code ?? 1, how: signal ?? `exit code ${code}`, asked, isDiskFull })
    })
  })
}

/**
 * V8 also runs each garbage collection on four helper threads. With few cores they compete with the lanes and
 * the event loop. At 64 connections on 2 cores they took 10 of 62 us of CPU per point read, and without them
 * no other thread's own time grew. The flag must be set at the start: V8 traps when it is changed later.
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
