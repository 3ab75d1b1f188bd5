/**
 * Descriptors of the process, used up by clients or by others: a reserve is kept from connections of every
 * port, and a lane that can't be opened is 503 and tried again. Linux, by prlimit.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, type ServerOptions, startServer } from '../../harness/server/server.js'

const PRLIMIT = '/usr/bin/prlimit'
const skip = existsSync(PRLIMIT) ? false : 'no prlimit'
if (skip !== false) console.error(`SKIPPED: descriptors, because ${skip}`)
const LIMIT = 480
const BATCH = { collection: 'c', documents: [{ key: 'k', lang: 'en', contentMd: 'text' }] }

async function start(test: TestContext, options: ServerOptions): Promise<Server> {
  const server = await startServer(options)
  test.after(() => server.kill())
  return server
}

async function open(test: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  test.after(() => socket.destroy())
  // Refused ones may be reset.
  socket.on('error', () => undefined)
  socket.resume()
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  return socket
}

/** Seconds of processor time that the process has used. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

describe('descriptors', { skip }, () => {
  it('descriptors: clients that hold connections on every port leave writes, backups and health their own', async (test) => {
    const server = await start(test, {
      onSpawn: (pid) => void execFileSync(PRLIMIT, ['--pid', String(pid), `--nofile=${LIMIT}:${LIMIT}`]),
    })
    assert.match(server.output(), new RegExp(`at most ${LIMIT} files may be open`))
    assert.equal((await server.get('/health')).status, 200)
    const ports = [server.port, ...['grpc', 'mcp'].map((surface) => Number(/\d+$/.exec(server.addressOf(surface))?.[0]))]
    const held: Socket[] = []
    for (let at = 0; at < LIMIT; at++) held.push(await open(test, ports[at % 3]!))
    const drip = setInterval(() => held.forEach((socket, at) => at % 3 === 0 && socket.write('G')), 4_000)
    test.after(() => clearInterval(drip))
    await untilAsked(
      () => Promise.resolve(server.output()),
      (output) => output.includes('connections are refused'),
    )
    const begun = cpuSeconds(server.pid)
    const beganAt = performance.now()
    for (let at = 0; at < 10; at++) {
      assert.equal((await server.get('/health')).status, 200)
      assert.equal((await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: `${at}` })).status, 200)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const share = (cpuSeconds(server.pid) - begun) / ((performance.now() - beganAt) / 1000)
    assert.ok(share < 0.7, `${share} cores`)
    assert.equal((await server.post('/v1/add-batch', BATCH)).status, 200)
    assert.equal((await server.get('/v1/backup?to=held.db')).status, 200)
    assert.ok(readdirSync(`/proc/${server.pid}/fd`).length < LIMIT)
    assert.match((await server.get('/metrics')).text, /^mddb_connections_refused_total [1-9]\d*$/m)
    for (const socket of held) socket.destroy()
    await untilAsked(
      async () => {
        const socket = await RawSocket.open(server.port)
        socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
        return await socket.until(() => false)
      },
      (answer) => answer.startsWith('HTTP/1.1 200'),
    )
  })

  it('descriptors: a lane that cannot be opened is 503, ends nothing, and is opened when it can be', async (test) => {
    const server = await start(test, {})
    await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'text' })
    const allow = (count: number): void =>
      void execFileSync(PRLIMIT, ['--pid', String(server.pid), `--nofile=${count}:${/Max open files\s+\d+\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/limits`, 'latin1'))![1]}`]) // prettier-ignore
    const used = new Set(readdirSync(`/proc/${server.pid}/fd`).map(Number))
    // The lowest number that is free is what the next file would get.
    allow(Array.from({ length: used.size + 1 }, (_, at) => at).find((at) => !used.has(at))!)
    for (const ask of [() => server.post('/v1/add-batch', BATCH), () => server.get('/v1/backup?to=one.db')]) {
      const refused = await ask()
      assert.equal(refused.status, 503, refused.text)
      assert.equal((await server.get('/health')).status, 200)
    }
    allow(2_000)
    for (const ask of [() => server.post('/v1/add-batch', BATCH), () => server.get('/v1/backup?to=two.db')])
      await untilAsked(
        async () => (await ask()).status,
        (status) => status === 200,
      )
    assert.doesNotMatch(server.output(), /fatal/)
  })
})
