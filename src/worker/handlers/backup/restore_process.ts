/** Runs src/programs/restore_preparation.ts over a copied store and waits for it to exit. The long lane. */
import { fork } from 'node:child_process'
import { programPath } from '../../../base/installation.js'
import type { Config } from '../../../config/config.js'

/** V8 heap of the process that checks a restored store and builds its index, as in a lane. */
const RESTORE_HEAP_MB_MAX = 1024
/** Interval at which a restore checks that a client still waits for it. */
const RESTORE_POLL_MS = 200

const PROGRAM = programPath('restore_preparation')

/** The message of the parent. */
export interface RestorePreparation {
  readonly config: Config
  /** Path of the generation, which already contains truth.mdb. */
  readonly path: string
  /** Process id of the server, with which the preparation ends. */
  readonly parent: number
  /** LSN of the last entry of the store that is served: the prepared one goes on above it. */
  readonly servedLsn: bigint
}

/** @throws Error that states why the store cannot be served */
export async function prepareStore(
  { config, servedLsn }: { readonly config: Config; readonly servedLsn: bigint },
  path: string,
  request: { shouldStop(): boolean },
): Promise<void> {
  const child = fork(PROGRAM, [], {
    // The configuration contains keys as bytes.
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${RESTORE_HEAP_MB_MAX}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let reason = ''
  child.on('message', (text) => (reason = text as string))
  const watch = setInterval(() => {
    if (request.shouldStop()) child.kill('SIGKILL')
  }, RESTORE_POLL_MS)
  try {
    const end = new Promise<string | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)))
    })
    child.send({ config, path, parent: process.pid, servedLsn } satisfies RestorePreparation)
    const failure = await end
    if (failure !== null) throw new Error(reason === '' ? `the preparation of the store ended by ${failure}` : reason)
  } finally {
    clearInterval(watch)
  }
}
