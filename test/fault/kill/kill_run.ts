/**
 * Rounds of mixed writes, each ended by SIGKILL at a random moment, followed by a restart and a comparison of
 * the server with the ledger. Used by kill.test.ts (few rounds) and scripts/campaigns/kill.mjs (many). One
 * directory is used for the whole run, so that later rounds recover the results of earlier recoveries.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Random } from '../../harness/random.js'
import { ServerProcess } from '../../harness/server/server_process.js'
import { Ledger } from '../load/ledger.js'
import { verifyStore } from '../load/verification.js'
import { WriteLoad } from '../load/write_load.js'

const KILL_MS_MIN = 20
const KILL_MS_MAX = 400

export interface KillReport {
  readonly rounds: number
  readonly acknowledged: number
  readonly unanswered: number
  /** From the start of the process to a healthy answer, maximum of all restarts. */
  readonly restartMsMax: number
}

/**
 * Rejects with the complaints of the first round that has any; the message names the seed.
 * @param tell is called after each round with one line of progress
 */
export async function runKills(seed: number, rounds: number, tell: (line: string) => void = () => undefined): Promise<KillReport> {
  const random = new Random(seed)
  const ledger = new Ledger()
  const load = new WriteLoad(seed, ledger)
  const directory = path.join(mkdtempSync(path.join(tmpdir(), 'mds-kill-')), 'db')
  let acknowledged = 0
  let unanswered = 0
  let restartMsMax = 0
  let server = await ServerProcess.start(directory)
  try {
    for (let round = 1; round <= rounds; round++) {
      const killMs = KILL_MS_MIN + random.below(KILL_MS_MAX - KILL_MS_MIN)
      // In every other round the time counts from the first acknowledgement, so that a slow first write does
      // not use it up.
      const clock = round % 2 === 0 ? load.firstAcknowledgement() : Promise.resolve()
      const [outcome] = await Promise.all([load.run(server.client), clock.then(() => killAfter(server, killMs))])
      const begun = performance.now()
      server = await ServerProcess.start(directory)
      restartMsMax = Math.max(restartMsMax, performance.now() - begun)
      const { complaints, found } = await verifyStore(server.client, ledger)
      if (complaints.length > 0 || outcome.refused.size > 0) {
        throw new Error(
          [
            `seed ${seed}, round ${round}, killed after ${killMs} ms:`,
            ...complaints,
            ...[...outcome.refused].map(([status, n]) => `${n} x ${status}`),
          ].join('\n'),
        )
      }
      for (const [key, state] of found) ledger.observe(key, state)
      acknowledged += outcome.acknowledged
      unanswered += outcome.unanswered
      tell(
        `round ${round}: killed after ${killMs} ms, ${outcome.acknowledged} acknowledged, ${outcome.unanswered} unanswered, ${found.size} keys as promised`,
      )
    }
  } finally {
    await server.kill()
    rmSync(path.dirname(directory), { recursive: true, force: true })
  }
  return { rounds, acknowledged, unanswered, restartMsMax }
}

async function killAfter(server: ServerProcess, delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
  await server.kill()
}
