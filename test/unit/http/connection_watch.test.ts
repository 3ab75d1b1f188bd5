/**
 * The watch over connections with real sockets and the kernel's list of them, without a server. The whole is
 * tested by test/contract/http/connections.deep.test.ts, in a copy of the sources, where no mutation reaches
 * it.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { it, type TestContext } from 'node:test'
import { connectionWatch } from '../../../src/surface/http/connections/connection_watch.js'
import { LoopConnections } from '../../../src/surface/http/connections/loop_connections.js'
import { LoopBlock } from '../../../src/wire/loop_block.js'
import { ownTelemetry } from '../../harness/dispatching.js'

const MOST = 4
const ADDRESSES = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
const OWN = ADDRESSES.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const skip = OWN === undefined || process.platform !== 'linux' ? 'no address of this machine beside loopback' : false

/** Opens so many connections from each address; returns the first list of clients that is published. */
async function watched(
  test: TestContext,
  from: Readonly<Record<string, number>>,
  trustedProxies: readonly string[] = [],
): Promise<readonly string[]> {
  const accepted: Socket[] = []
  const server = createServer((socket) => accepted.push(socket)).listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const hosts = Object.entries(from).flatMap(([host, count]) => Array<string>(count).fill(host))
  const sockets = hosts.map((host) => connect({ port, host }))
  test.after(() => {
    for (const socket of [...sockets, ...accepted]) socket.destroy()
    server.close()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  let rounds = 0
  return await new Promise((resolve) => {
    const telemetry = { countRound: () => ++rounds === 2 && resolve([]), setChoreState: () => undefined }
    const chore = connectionWatch({
      config: { connectionsOfAddressMax: MOST, production: true, trustedProxies },
      tools: { role: { role: 'leader' }, telemetry },
      loops: { connections: () => sockets.length, moreConnectionsThan: () => new Promise(() => undefined) },
      port: () => port,
      publish: resolve,
    })
    test.after(() => chore.stop())
    chore.start()
  })
}

it(
  'connections: a client that has reached SVC_MAX_CONN_IP is named to the loops, and they close further ones of it',
  { skip },
  async (test) => {
    const own = OWN ?? ''
    const crowded = await watched(test, { [own]: MOST, '127.0.0.1': MOST + 3 })
    assert.deepEqual(crowded, [own])
    assert.deepEqual(await watched(test, { [own]: MOST - 1, '127.0.0.1': MOST }), [])
    assert.deepEqual(await watched(test, { [own]: MOST + 3 }, [own]), [])

    const loops = LoopBlock.create(2)
    const connections = new LoopConnections(loops, 1, ownTelemetry())
    const opened = (address: string): boolean => connections.opened(() => address)
    assert.equal(opened(own), true)
    connections.refuse(crowded)
    assert.deepEqual([opened(own), opened('203.0.113.1')], [false, true])
    assert.equal(loops.connections(), 3)
    connections.closed()
    assert.equal(loops.connections(), 2)
    connections.refuse([])
    assert.equal(opened(own), true)
  },
)

const onLinux = { skip: process.platform !== 'linux' ? 'the kernel has no list of connections' : false }

it('connections: their watch rests until more are open than one client may have', onLinux, async (test) => {
  const loops = LoopBlock.create(2)
  let rounds = 0
  let counted = (): void => undefined
  const chore = connectionWatch({
    config: { connectionsOfAddressMax: MOST, production: true, trustedProxies: [] },
    tools: { role: { role: 'leader' }, telemetry: { countRound: () => (rounds++, counted()), setChoreState: () => undefined } },
    loops,
    port: () => 0,
    publish: () => undefined,
  })
  // Neither the wait of the watch nor its timer keeps a process alive.
  const alive = setInterval(() => undefined, 1000)
  test.after(async () => {
    clearInterval(alive)
    await chore.stop()
  })
  const round = async (): Promise<void> => await new Promise((resolve) => (counted = resolve))
  const first = round()
  chore.start()
  await first
  for (let open = 0; open < MOST; open++) loops.connectionOpened(open % 2)
  assert.deepEqual([chore.state, rounds], ['idle', 1])
  const second = round()
  loops.connectionOpened(1)
  await second
  assert.equal(chore.state, 'resting')
  loops.connectionClosed(0)
  await round()
  assert.equal(chore.state, 'idle')
})
