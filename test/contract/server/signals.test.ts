/**
 * SIGHUP: the configuration is read again, changeable settings change, and neither the server nor its
 * supervisor ends.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { spawn } from '../../harness/process/owned_processes.js'
import { untilHolds } from '../../harness/process/until.js'
import type { Server } from '../../harness/server/server.js'
import { MAIN, startServer } from '../../harness/server/server.js'

let directory: string
let file: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mds-signals-'))
  file = join(directory, 'mds.yaml')
})
after(() => rm(directory, { recursive: true, force: true }))

async function until(server: Server, pattern: RegExp): Promise<void> {
  const what = (): string => `${pattern} in\n${server.output()}`
  await untilHolds(() => pattern.test(server.output()), what, 60_000)
}

for (const supervisor of [false, true]) {
  describe(`SIGHUP ${supervisor ? 'to a supervisor' : 'to a server'}`, () => {
    it(`SIGHUP: log.* changes while the server runs, everything else is named (${supervisor ? 'supervised' : 'alone'})`, async () => {
      await writeFile(file, 'log: { level: warn }\n')
      const server = await startServer({ supervisor, args: ['--config', file] })
      const hangUp = (): boolean => process.kill(server.pid, 'SIGHUP')
      await server.get('/v1/backup?to=unsaid')

      await writeFile(
        file,
        'log: { level: info, access: true }\nsearch: { cacheSize: 7 }\nhttp: { corsOrigins: "*" }\nembedding: { apiKey: c4nary }\n',
      )
      hangUp()
      await until(server, / info SIGHUP: changed setting=log\.level from=warn to=info$/m)
      await until(server, / info SIGHUP: changed setting=log\.access from=false to=true$/m)
      await until(server, / warn SIGHUP: changed, and needs a restart setting=search\.cacheSize$/m)
      // The value is the default, but set explicitly: it lets web pages of all origins call the server.
      await until(server, / warn SIGHUP: changed, and needs a restart setting=http\.corsOrigins$/m)
      await server.get('/v1/backup?to=said')
      await until(server, / info request method=GET path=\/v1\/backup /)
      await until(server, / info backup written backup=said/)
      assert.doesNotMatch(server.output(), /unsaid|c4nary/)

      await writeFile(file, 'log: { level: loud }\n')
      hangUp()
      await until(
        server,
        / error SIGHUP: the configuration stays as it is: log\.level in the configuration file: one of debug, info, warn, error expected/,
      )
      await writeFile(file, 'log: { level: debug }\nauth: { enable: true }\n')
      hangUp()
      await until(server, / error SIGHUP: the configuration stays as it is: auth\.enable in .*; did you mean auth\.enabled\?/)
      await writeFile(file, 'log: { level: debug }\nauth: { jwtSecret: c4nary }\n')
      hangUp()
      await until(server, / error SIGHUP: the configuration stays as it is: auth\.jwtSecret in .*access control would be off/)
      assert.doesNotMatch(server.output(), /setting=log\.level from=info|c4nary/)
      assert.equal((await server.get('/health')).status, 200)

      await writeFile(file, 'log: { level: info, access: true }\n')
      hangUp()
      await until(server, / info SIGHUP: nothing has changed$/m)
      assert.equal(server.output().match(/^ready on/gm)?.length, 1)
      assert.equal(await server.stop(), 0)
    })
  })
}

describe('SIGHUP to a supervisor', () => {
  it('SIGHUP: is not counted as asked to end: a child that is killed afterwards is started again', async () => {
    await writeFile(file, 'log: { level: info }\n')
    const server = await startServer({ supervisor: true, args: ['--config', file] })
    process.kill(server.pid, 'SIGHUP')
    await until(server, /SIGHUP: nothing has changed/)
    const { readFile } = await import('node:fs/promises')
    const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
    process.kill(Number(children.trim().split(' ')[0]), 'SIGKILL')
    await until(server, /^ready on[^]*^ready on/m)
    assert.equal(await server.stop(), 0)
  })

  it('SIGHUP: one that comes while the child starts ends nothing', async () => {
    await writeFile(file, 'log: { level: info }\n')
    const server = await startServer({ supervisor: true, args: ['--config', file], onSpawn: hangUpOften })
    assert.equal((await server.get('/health')).status, 200)
    assert.doesNotMatch(server.output(), /supervisor:/)
    assert.equal(await server.stop(), 0)
  })
})

/**
 * From the first line of the child's code on, which the supervisor has loaded as well: by default SIGHUP ends
 * a new process.
 */
function hangUpOften(pid: number, isReady: () => boolean): void {
  const again = async (): Promise<void> => {
    const { readFile } = await import('node:fs/promises')
    while (!isReady()) {
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
      if (children.trim() !== '') process.kill(pid, 'SIGHUP')
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  void again()
}

describe('a server in the foreground of a terminal', () => {
  const hasTerminal = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0
  const skip = hasTerminal ? false : 'script(1), which makes a terminal, is not here: apt-get install bsdutils'

  for (const supervisor of ['true', 'false']) {
    it(`SIGHUP: it ends in order when the terminal is closed (SVC_SUPERVISOR=${supervisor})`, { skip }, async () => {
      const store = join(directory, `terminal-${supervisor}`)
      const terminal = spawn('script', ['-qfc', `${process.execPath} ${MAIN} --db ${store} --http-addr 127.0.0.1:0`, '/dev/null'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, SVC_SUPERVISOR: supervisor, SVC_EMBEDDING_AUTODETECT: '0' },
      })
      let output = ''
      for await (const chunk of terminal.stdout) {
        output += String(chunk)
        if (/API reference: \S+/.test(output)) break
      }
      const url = /API reference: (\S+)\/docs/.exec(output)?.[1] ?? assert.fail(output)
      assert.equal((await fetch(`${url}/livez`)).status, 200)
      // This also closes its end of the terminal.
      terminal.kill('SIGKILL')
      await once(terminal, 'close')
      // The lock of the store is free when the process has ended. A start does not wait for the lock, so it
      // is retried until then.
      const end = Date.now() + 30_000
      for (;;) {
        try {
          const next = await startServer({ directory: store })
          assert.equal(await next.stop(), 0)
          return
        } catch (error) {
          assert.match(String(error), /is in use by another process/)
          assert.ok(Date.now() < end, 'the server is still there')
        }
      }
    })
  }
})
