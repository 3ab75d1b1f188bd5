/** The supervisor's reaction to repeated ends of the server. Each restart is a real one. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { restartPauseMs } from '../../src/supervisor.js'
import { startServer, type Server } from '../harness/server.js'

/** The supervisor's child: the server itself. */
async function childPid(server: Server): Promise<number> {
  const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  return Number(children.trim().split(' ')[0])
}

async function killChild(server: Server): Promise<void> {
  process.kill(await childPid(server), 'SIGKILL')
}

/** Each poll is a connection. */
async function untilReady(server: Server, times: number): Promise<void> {
  const readies = (): number => server.output().match(/^ready on/gm)?.length ?? 0
  while (readies() < times) await server.get('/health').catch(() => new Promise((resolve) => setImmediate(resolve)))
}

async function atOneAddress(run: (options: { readonly directory: string; readonly address: string }) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'mds-super-'))
  const probe = await startServer({ directory })
  await probe.stop()
  await run({ directory, address: probe.address }).finally(() => rm(directory, { recursive: true, force: true }))
}

describe('supervisor', () => {
  it('supervisor: pauses after quick failures are 1, 2, 4 ... 60 s without end, none after a server that ran for long', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 1000].map(restartPauseMs),
      [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000],
    )
  })

  it('supervisor: SVC_SUPERVISOR_RESTARTS_MAX=2 ends it with code 1 after the second quick failure', async () => {
    await atOneAddress(async (options) => {
      const server = await startServer({ ...options, supervisor: true, env: { SVC_SUPERVISOR_RESTARTS_MAX: '2' } })
      await killChild(server)
      await untilReady(server, 2)
      assert.match(server.output(), /supervisor: the server ended \(SIGKILL\); starting it again in 1 s$/m)
      await killChild(server)
      assert.equal(await server.ended, 1, server.output())
      assert.match(server.output(), /supervisor: the server ended 2 times within 10 s of its start; giving up$/m)
    })
  })

  it('supervisor: where the system refuses a new process it tries again', async () => {
    await atOneAddress(async (options) => {
      // As during an upgrade of Node: the executable is missing for a while.
      const runtime = await mkdtemp(join(tmpdir(), 'mds-runtime-'))
      const execPath = join(runtime, 'node')
      await copyFile(process.execPath, execPath)
      const server = await startServer({ ...options, supervisor: true, execPath })
      await rename(execPath, `${execPath}-away`)
      await killChild(server)
      while (!/the server ended \(spawn .*ENOENT\)/.test(server.output())) {
        assert.ok(existsSync(`/proc/${server.pid}/stat`), server.output())
        await new Promise((resolve) => setImmediate(resolve))
      }
      await rename(`${execPath}-away`, execPath)
      await untilReady(server, 2)
      assert.equal(await server.stop(), 0, server.output())
      await rm(runtime, { recursive: true })
    })
  })

  it('supervisor: without a limit it pauses longer after each quick failure, and SIGTERM in a pause ends it', async () => {
    await atOneAddress(async (options) => {
      const server = await startServer({ ...options, supervisor: true })
      await killChild(server)
      await untilReady(server, 2)
      await killChild(server)
      while (!server.output().includes('starting it again in 2 s')) await new Promise((resolve) => setImmediate(resolve))
      assert.equal(await server.stop(), 0, server.output())
    })
  })
})
