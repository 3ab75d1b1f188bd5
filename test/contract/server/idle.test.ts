/** A server without requests sleeps: its threads wake for what is due, not to look whether something is. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startServer } from '../../harness/server/server.js'

/** Of all threads. A quiet server has 5; V8 wakes its own threads for a while after a start. */
const WAKES_A_SECOND_MAX = 15
const SECONDS = 3

/** How often the threads of a process have begun to wait, all together. */
function waitsOf(pid: number): number {
  const statuses = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  return statuses.reduce((sum, status) => sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]), 0)
}

it('idle: a server without requests wakes at most 15 times a second', async (test) => {
  const server = await startServer()
  test.after(() => server.stop())
  await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'text' })
  // What the start left to do ends within seconds: the calmest of some spans counts.
  let fewest = Infinity
  for (let round = 0; round < 5 && fewest > WAKES_A_SECOND_MAX * SECONDS; round++) {
    const before = waitsOf(server.pid)
    await pause(SECONDS * 1000)
    fewest = Math.min(fewest, waitsOf(server.pid) - before)
  }
  assert.ok(fewest <= WAKES_A_SECOND_MAX * SECONDS, `${fewest} in ${SECONDS} s`)
})
