/** Addresses `unix:PATH` of every surface: only the socket of a dead server is replaced. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runToEnd, startServer, type ServerOptions } from '../harness/server.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-unix-'))
after(() => rmSync(folder, { recursive: true }))

const SURFACES: readonly (readonly [name: string, on: (path: string) => ServerOptions])[] = [
  ['http', (path) => ({ address: `unix:${path}` })],
  ['grpc', (path) => ({ env: { SVC_GRPC_ADDR: `unix:${path}` } })],
  ['mcp', (path) => ({ env: { SVC_MCP_ADDR: `unix:${path}` } })],
]

async function connects(path: string): Promise<boolean> {
  const socket = connect(path)
  const isOpen = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false)
  socket.destroy()
  return isOpen
}

async function refusal(options: ServerOptions): Promise<string> {
  const { code, output } = await runToEnd(options)
  assert.notEqual(code, 0)
  const lines = output.split('\n').filter((line) => line.startsWith("can't start: "))
  assert.equal(lines.length, 1, output)
  return lines[0]!
}

for (const [name, on] of SURFACES)
  describe(`unix addresses: ${name}`, () => {
    it(`unix addresses: ${name} refuses the start at a path where a file or a folder is, and keeps it`, async () => {
      const file = join(folder, `${name}.file`)
      writeFileSync(file, 'precious')
      assert.match(await refusal(on(file)), /unix:\S+\.file can't be listened on: a file that is no socket is there/)
      assert.equal(readFileSync(file, 'utf8'), 'precious')
      const inner = join(folder, `${name}.folder`)
      mkdirSync(inner)
      assert.match(await refusal(on(inner)), /\.folder can't be listened on: a file that is no socket is there/)
      assert.ok(statSync(inner).isDirectory())
      assert.match(
        await refusal(on(join(inner, 'none', 'socket'))),
        /can't be listened on: (?:No such file or directory|its folder does not exist)/,
      )
    })

    it(`unix addresses: ${name} does not take the socket of a running program`, async (test) => {
      const path = join(folder, `${name}.used`)
      const other = createServer((socket) => socket.on('error', () => undefined).end('mine')).listen(path)
      test.after(() => other.close())
      await once(other, 'listening')
      assert.match(await refusal(on(path)), /\.used can't be listened on: in use/)
      const socket = connect(path).setEncoding('utf8')
      assert.deepEqual(await once(socket, 'data'), ['mine'])
      socket.destroy()
    })

    it(`unix addresses: ${name} takes over the socket of a server that was killed, and removes its own at the end`, async (test) => {
      const path = join(folder, `${name}.left`)
      await (await startServer(on(path))).kill()
      assert.ok(existsSync(path))
      assert.equal(await connects(path), false)
      const next = await startServer(on(path))
      test.after(() => next.kill())
      assert.ok(await connects(path))
      assert.equal(statSync(path).mode & 0o777, 0o600)
      assert.match(await refusal(on(path)), /\.left can't be listened on: in use/)
      assert.ok(await connects(path))
      assert.equal(await next.stop(), 0)
      assert.equal(existsSync(path), false)
    })

    it(`unix addresses: ${name} keeps what has taken the place of its socket`, async (test) => {
      const path = join(folder, `${name}.moved`)
      const server = await startServer(on(path))
      test.after(() => server.kill())
      renameSync(path, `${path}.away`)
      writeFileSync(path, 'another')
      assert.equal(await server.stop(), 0)
      assert.equal(readFileSync(path, 'utf8'), 'another')
    })
  })
