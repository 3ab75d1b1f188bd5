/** The supervisor's reaction to repeated ends of the server. Each restart is a real one. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { restartPauseMs } from '../../../src/supervisor.js'
import { lastingPort } from '../../harness/process/ports.js'
import { untilAsked, untilHolds } from '../../harness/process/until.js'
import { scratchCopy } from '../../harness/scratch_copy.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'

/** The supervisor's child: the server itself. */
async function childPid(server: Server): Promise<number> {
  const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
  return Number(children.trim().split(' ')[0])
}

async function killChild(server: Server): Promise<void> {
  process.kill(await childPid(server), 'SIGKILL')
}

async function untilReady(server: Server, times: number): Promise<void> {
  const readies = (): number => server.output().match(/^ready on/gm)?.length ?? 0
  await untilHolds(
    () => readies() >= times,
    () => server.output(),
  )
}

async function atOneAddress(run: (options: { readonly directory: string; readonly address: string }) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'mds-super-'))
  const address = `127.0.0.1:${await lastingPort()}`
  await run({ directory, address }).finally(() => rm(directory, { recursive: true, force: true }))
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
      await untilHolds(
        () => {
          assert.ok(existsSync(`/proc/${server.pid}/stat`), server.output())
          return /the server ended \(spawn .*ENOENT\)/.test(server.output())
        },
        () => server.output(),
      )
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
      await untilHolds(
        () => server.output().includes('starting it again in 2 s'),
        () => server.output(),
      )
      assert.equal(await server.stop(), 0, server.output())
    })
  })

  const ABSENT = { file: 'src/surface/http/connections/uws.ts', find: 'const BINARY = `uws_', replace: 'const BINARY = `absent_' }
  for (const [what, edits, reason] of [
    ['no binary of uWebSockets.js', [ABSENT], /^can't start: uWebSockets\.js has no binary for Node \S+ \(absent_\S+\.node\): npm start/m],
    [
      'a missing package',
      [
        {
          file: 'src/server.ts',
          find: "import { log, printRefusal } from './telemetry/log.js'",
          replace: "import { log, printRefusal } from 'mds-missing'",
        },
      ],
      /^can't start: Cannot find package 'mds-missing'/m,
    ],
  ] as const)
    it(`supervisor: a first start that cannot load its code is refused in one line: ${what}`, async () => {
      const copy = await scratchCopy(edits)
      try {
        const { code, output } = await runToEnd({ main: copy.main, env: { SVC_SUPERVISOR: 'true', SVC_SUPERVISOR_RESTARTS_MAX: '1' } })
        assert.equal(code, 2, output)
        assert.match(output, reason)
        assert.equal(output.trimEnd().split('\n').length, 1, output)
      } finally {
        copy.remove()
      }
    })

  it('supervisor: a server that has listened is started again although its code cannot be loaded for a while', async () => {
    const copy = await scratchCopy([])
    const folder = join(dirname(copy.main), 'parts')
    const program = readdirSync(folder).find((name) => /^server-\w+\.js$/.test(name))
    assert.ok(program !== undefined)
    const path = join(folder, program)
    try {
      await atOneAddress(async (options) => {
        const server = await startServer({ ...options, main: copy.main, supervisor: true })
        try {
          // As while the programs are being installed anew.
          await rename(path, `${path}.away`)
          await killChild(server)
          await untilAsked(
            async () => await Promise.resolve(server.output()),
            (output) => /supervisor: the server ended \(exit code 1\); starting it again/.test(output),
          )
          await rename(`${path}.away`, path)
          await untilReady(server, 2)
          await server.stop()
        } finally {
          await server.kill()
        }
      })
    } finally {
      copy.remove()
    }
  })
})
