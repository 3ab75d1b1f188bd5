import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { isListening } from '../../../src/outbound/listening.js'

const MS_MAX = 5_000

describe('listening', () => {
  it('an address is known to listen as long as its server accepts connections', async () => {
    const server = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    assert.ok(address !== null && typeof address === 'object')
    for (const host of ['127.0.0.1', 'localhost']) assert.equal(await isListening(`http://${host}:${address.port}`, MS_MAX), true, host)
    await new Promise((resolve) => server.close(resolve))
    assert.equal(await isListening(`http://127.0.0.1:${address.port}`, MS_MAX), false)
  })

  it('a host that does not exist listens to nothing', async () => {
    assert.equal(await isListening('http://no-such-host.invalid:11434', MS_MAX), false)
  })
})
