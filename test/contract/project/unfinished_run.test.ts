/** What remains of a test run that is killed: nothing. CONTRIBUTING.md, "Tests". */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawn } from '../../harness/process/owned_processes.js'
import { untilAsked } from '../../harness/process/until.js'

const PROGRAM = fileURLToPath(new URL('../../harness/unfinished_run.js', import.meta.url))

/** A process that has ended and was not waited for yet is not running. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('a test run that is killed', { skip: process.platform === 'linux' ? false : 'the reaper reads /proc' }, () => {
  let folder: string

  before(() => (folder = mkdtempSync(join(tmpdir(), 'mds-unfinished-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** @returns the processes of a run, once all of them run */
  async function processesOf(run: ReturnType<typeof spawn>): Promise<readonly number[]> {
    let output = ''
    run.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
    const ended = once(run, 'exit')
    await Promise.race([
      untilAsked(
        async () => await Promise.resolve(output),
        (text) => text.includes('\n'),
        120_000,
      ),
      ended,
    ])
    const pids = JSON.parse(output) as number[]
    assert.ok(pids.length >= 6, `a supervisor with its server, a server, a shell with its child, a daemon: ${output}`)
    for (const pid of pids) assert.ok(isRunning(pid), `process ${pid} did not start`)
    return pids
  }

  it('leaves no server, supervisor, object store or helper behind, stopped ones included', async () => {
    const run = spawn(process.execPath, [PROGRAM, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pids = await processesOf(run)
    run.kill('SIGKILL')
    const left = await untilAsked(
      async () => await Promise.resolve(pids.filter(isRunning)),
      (running) => running.length === 0,
    )
    assert.deepEqual(left, [])
  })
})
