/** Addresses `unix:PATH` of every surface: only the socket of a dead server is replaced. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runToEnd, type ServerOptions, startServer } from '../../harness/server/server.js'

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

/** All surfaces at sockets of this name. */
const everywhere = (end: string): ServerOptions => ({
  address: `unix:${join(folder, `http.${end}`)}`,
  env: { SVC_GRPC_ADDR: `unix:${join(folder, `grpc.${end}`)}`, SVC_MCP_ADDR: `unix:${join(folder, `mcp.${end}`)}` },
})

interface TakenOver {
  readonly wasLeft: boolean
  readonly connectedBefore: boolean
  readonly connectedAfter: boolean
  readonly mode: number
  readonly refusal: string
  readonly connectedStill: boolean
}

/** What is seen at the sockets of a killed server and of the next one, of all surfaces. */
async function takeOver(): Promise<{ readonly seen: ReadonlyMap<string, TakenOver>; readonly code: number | null }> {
  const options = everywhere('left')
  const killed = await startServer(options)
  await killed.kill()
  const before = new Map<string, Pick<TakenOver, 'wasLeft' | 'connectedBefore'>>()
  for (const [name] of SURFACES) {
    const path = join(folder, `${name}.left`)
    before.set(name, { wasLeft: existsSync(path), connectedBefore: await connects(path) })
  }
  const next = await startServer(options)
  const seen = new Map<string, TakenOver>()
  try {
    for (const [name, on] of SURFACES) {
      const path = join(folder, `${name}.left`)
      const { wasLeft = false, connectedBefore = true } = before.get(name) ?? {}
      const connectedAfter = await connects(path)
      const mode = statSync(path).mode & 0o777
      const refused = await refusal(on(path))
      seen.set(name, { wasLeft, connectedBefore, connectedAfter, mode, refusal: refused, connectedStill: await connects(path) })
    }
    return { seen, code: await next.stop() }
  } finally {
    await next.kill()
    rmSync(killed.directory, { recursive: true, force: true })
  }
}

/** A server whose sockets are replaced by files while it runs. */
async function replaceSockets(): Promise<number | null> {
  const server = await startServer(everywhere('moved'))
  for (const [name] of SURFACES) {
    const path = join(folder, `${name}.moved`)
    renameSync(path, `${path}.away`)
    writeFileSync(path, 'another')
  }
  return await server.stop()
}

let taken: ReturnType<typeof takeOver> | undefined
let replaced: ReturnType<typeof replaceSockets> | undefined

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

    it(`unix addresses: ${name} takes over the socket of a server that was killed, and removes its own at the end`, async () => {
      taken ??= takeOver()
      const { seen, code } = await taken
      const { refusal: refused, ...others } = seen.get(name) ?? { refusal: '' }
      assert.deepEqual(others, { wasLeft: true, connectedBefore: false, connectedAfter: true, mode: 0o600, connectedStill: true })
      assert.match(refused, /\.left can't be listened on: in use/)
      assert.equal(code, 0)
      assert.equal(existsSync(join(folder, `${name}.left`)), false)
    })

    it(`unix addresses: ${name} keeps what has taken the place of its socket`, async () => {
      replaced ??= replaceSockets()
      assert.equal(await replaced, 0)
      assert.equal(readFileSync(join(folder, `${name}.moved`), 'utf8'), 'another')
    })
  })
