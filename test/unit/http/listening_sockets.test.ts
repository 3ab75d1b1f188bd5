/** Sockets that listen before there is a thread that serves them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { closeCopy, ListeningSocket } from '../../../src/engine/listening_sockets.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-listening-'))
after(() => rmSync(folder, { recursive: true }))

/** Accepts on a copy, as the thread of a surface does, and answers each connection with a text. */
async function greet(descriptor: number): Promise<() => void> {
  const server = createServer((socket) => socket.end('hello'))
  server.listen({ fd: descriptor })
  await once(server, 'listening')
  return () => server.close()
}

async function textFrom(where: { readonly port: number } | { readonly path: string }): Promise<string> {
  const socket = connect({ ...where, ...('port' in where ? { host: '127.0.0.1' } : {}) })
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(socket, 'close')
  return text
}

describe('listening sockets', () => {
  it('listening: a connection that came before anybody accepts is served by whoever takes the copy', async () => {
    const listening = new ListeningSocket('127.0.0.1', 0, '')
    const called = new Promise<void>((resolve) => listening.onConnection(resolve))
    const text = textFrom({ port: listening.port })
    await called
    const stop = await greet(listening.copy())
    assert.equal(await text, 'hello')
    stop()
    listening.close()
  })

  it('listening: after the thread of a copy has gone, connections wait for the next one', async () => {
    const listening = new ListeningSocket('', 0, '')
    const stop = await greet(listening.copy())
    assert.equal(await textFrom({ port: listening.port }), 'hello')
    stop()
    const called = new Promise<void>((resolve) => listening.onConnection(resolve))
    const waiting = textFrom({ port: listening.port })
    await called
    const stopNext = await greet(listening.copy())
    assert.equal(await waiting, 'hello')
    stopNext()
    listening.close()
  })

  it('listening: an address in use is refused with the reason, and so is one of another machine', () => {
    const first = new ListeningSocket('127.0.0.1', 0, '')
    assert.throws(() => new ListeningSocket('127.0.0.1', first.port, ''), /Address already in use/)
    first.close()
    new ListeningSocket('127.0.0.1', first.port, '').close()
    assert.throws(() => new ListeningSocket('192.0.2.1', 0, ''), /assign requested address/)
    assert.throws(() => new ListeningSocket('no such host.', 0, ''), /not an address of this machine/)
  })

  it('listening: a unix socket is for its owner only; it replaces one that nobody serves and no other file', async () => {
    const path = join(folder, 'socket')
    const left = new ListeningSocket('', 0, path)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.throws(() => new ListeningSocket('', 0, path), /^Error: in use$/)
    left.close()
    const listening = new ListeningSocket('', 0, path)
    const stop = await greet(listening.copy())
    assert.equal(await textFrom({ path }), 'hello')
    stop()
    listening.close()
    const file = join(folder, 'file')
    writeFileSync(file, 'x')
    assert.throws(() => new ListeningSocket('', 0, file), /no socket/)
  })

  it('listening: a unix socket whose queue of connections is full is in use', async () => {
    const path = join(folder, 'full')
    const listening = new ListeningSocket('', 0, path)
    const clients = Array.from({ length: 600 }, () => connect({ path }))
    const outcomes = await Promise.all(clients.map((client) => new Promise((settle) => client.on('connect', settle).on('error', settle))))
    assert.ok(outcomes.some((failure) => failure instanceof Error))
    assert.throws(() => new ListeningSocket('', 0, path), /^Error: in use$/)
    for (const client of clients) client.destroy()
    listening.close()
  })

  it('listening: a wait ends with its socket, and copies that nobody took are closed', async () => {
    const listening = new ListeningSocket('127.0.0.1', 0, '')
    listening.onConnection(() => assert.fail('a connection after the end'))
    const copy = listening.copy()
    listening.close()
    closeCopy(copy)
    const connected = async (): Promise<string> => {
      const socket = connect({ port: listening.port, host: '127.0.0.1' })
      const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
      return error.code ?? ''
    }
    // The native thread closes its copy a moment later.
    while ((await connected()) !== 'ECONNREFUSED');
  })
})
