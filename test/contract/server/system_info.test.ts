/** GET /v1/system/info of a running server. service-2: System; http.md, section 8. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'

interface Info {
  readonly hostname: string
  readonly numCPU: number
  readonly numGoroutines: number
  readonly memoryTotal: number
  readonly memoryUsed: number
  readonly memorySystem: number
  readonly memoryHeap: number
  readonly network: readonly { readonly name: string; readonly addresses: readonly string[]; readonly flags: readonly string[] }[]
}

describe('system info', () => {
  let server: Server
  let info: Info
  before(async () => {
    server = await startServer()
    info = (await server.get('/v1/system/info')).json<Info>()
  })
  after(() => server.stop())

  it('system info: every interface has a name, its addresses and its flags', () => {
    assert.deepEqual(
      info.network.map(({ name, addresses }) => [name, addresses]),
      Object.entries(networkInterfaces()).map(([name, addresses = []]) => [name, addresses.map(({ cidr, address }) => cidr ?? address)]),
    )
    for (const { name, flags } of info.network) {
      const file = `/sys/class/net/${name}/flags`
      const bits = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
      if (bits === undefined) continue
      assert.equal(flags.includes('up'), (bits & 1) !== 0, name)
      assert.equal(flags.includes('loopback'), (bits & 8) !== 0, name)
      assert.equal(flags.includes('multicast'), (bits & 0x1000) !== 0, name)
    }
  })

  it('system info: memory and threads are those of the process and of its machine or container', () => {
    assert.equal(info.hostname, hostname())
    assert.ok(info.numCPU >= 1)
    assert.ok(info.numGoroutines >= 4, 'the front end and the lanes')
    assert.ok(info.memoryHeap > 1e6 && info.memoryHeap < info.memoryUsed)
    assert.ok(info.memoryUsed < info.memoryTotal)
    assert.ok(info.memorySystem > 0 && info.memorySystem <= info.memoryTotal)
  })
})
