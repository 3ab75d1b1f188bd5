/**
 * A child of threads_without_descriptors.test.ts, which runs under a low limit of descriptors. Starts the
 * kind of thread that its argument names while none to `FREE_MAX` of them are free, and uses it again
 * afterwards. Prints one line of JSON with the outcomes: `done`, or an error's text.
 */
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { AuditLog } from '../../../src/audit/audit_log.js'
import { PasswordThreads } from '../../../src/background/access/password_threads.js'
import { LocalProvider } from '../../../src/background/embedding/local_provider.js'
import { loadConfig } from '../../../src/config/config.js'
import { Telemetry } from '../../../src/telemetry/registry.js'

export interface Outcomes {
  /** By number of free descriptors. */
  readonly few: readonly string[]
  /** With all of them. */
  readonly enough: readonly string[]
}

interface Subject {
  use(): Promise<unknown>
  /** Default: it is used. */
  useAgain?(): Promise<unknown>
  close(): Promise<void>
}

const FREE_MAX = 10
const AGAIN_MS = 50
/** The lowest of bcrypt: its threads have the lowest priority, and a busy machine leaves them little. */
const HASH_COST = 4

function hashing(): Subject {
  const threads = new PasswordThreads(HASH_COST)
  return { use: () => threads.hash('a password'), close: () => threads.close() }
}

function embedding(): Subject {
  const provider = new LocalProvider({ provider: 'local', model: 'static', dimensions: 256, apiKey: '', apiUrl: '' })
  return { use: () => provider.embed(['text'], 'query', new AbortController().signal), close: () => provider.close() }
}

function audit(): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'mds-few-'))
  const config = loadConfig(['--db', folder], { SVC_AUDIT_ENABLED: 'true', SVC_AUDIT_DIR: join(folder, 'audit') })
  const telemetry = Telemetry.create([])
  telemetry.claimRow()
  const log = new AuditLog({ config, telemetry, setRefusing: () => undefined })
  return {
    async use() {
      await log.start()
      const obstacle = log.obstacle()
      if (obstacle !== null) throw new Error(obstacle)
    },
    async useAgain() {
      while (log.obstacle() !== null) await pause(AGAIN_MS)
    },
    async close() {
      await log.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

function holdAllBut(free: number): readonly number[] {
  const held: number[] = []
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {
    for (const descriptor of held.splice(0, free)) closeSync(descriptor)
    return held
  }
}

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'done',
    (error: Error) => error.message,
  )
}

const SUBJECTS = { hashing, embedding, audit }
const [few, enough]: [string[], string[]] = [[], []]
// The threads do not keep the process alive.
const running = setInterval(() => undefined, 1000)
for (let free = 0; free <= FREE_MAX; free++) {
  const subject = SUBJECTS[process.argv[2] as keyof typeof SUBJECTS]()
  const held = holdAllBut(free)
  few.push(await outcomeOf(subject.use()))
  for (const descriptor of held) closeSync(descriptor)
  enough.push(await outcomeOf(subject.useAgain?.() ?? subject.use()))
  await subject.close()
}
clearInterval(running)
console.log(JSON.stringify({ few, enough } satisfies Outcomes))
