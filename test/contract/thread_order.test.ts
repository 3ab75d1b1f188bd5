/** The order of the threads on a processor that they share: docs/decisions/0247-threads-have-an-order.md. */
import assert from 'node:assert/strict'
import { getPriority, release, setPriority } from 'node:os'
import { describe, it } from 'node:test'
import { askGraphql } from '../harness/graphql.js'
import { GrpcClient } from '../harness/grpc.js'
import { McpClient } from '../harness/mcp_client.js'
import { startServer } from '../harness/server.js'
import { niceCounts, threadsOf } from '../harness/threads.js'

const LOOPS = 2
const [LOOP, SURFACE] = [-10, 5]
const SLICE_NS = 100_000

/** Whether this process may lower the nice value of a thread; it then has its own one again. */
function mayGoFirst(): boolean {
  const own = getPriority()
  try {
    setPriority(LOOP)
  } catch {
    return false
  }
  setPriority(own)
  return true
}

/** The first kernel in which a thread has a slice of its own. */
function hasSlices(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 6 || (major === 6 && minor >= 12)
}

describe('order of threads', { skip: process.platform === 'linux' ? false : 'only Linux has priorities of threads' }, () => {
  it('priorities: event loops of HTTP before all others where the process may, threads of gRPC, GraphQL and MCP after lanes', async (test) => {
    const server = await startServer({ env: { SVC_HTTP_LOOPS: String(LOOPS) } })
    test.after(() => server.kill())
    const grpc = GrpcClient.of(server)
    test.after(() => grpc.close())
    await grpc.call('Get', { collection: 'c', key: 'k', lang: 'en' }).catch(() => undefined)
    await askGraphql(server, '{ __typename }')
    await new McpClient(server).stateless('tools/list')
    assert.deepEqual(niceCounts(server.pid, [LOOP, SURFACE]), [mayGoFirst() ? LOOPS : 0, 3])
  })

  it('slices: an event loop of HTTP, and no other thread, preempts others as soon as it wakes up', async (test) => {
    if (!hasSlices()) return test.skip(`the kernel ${release()} has no slices of threads`)
    const server = await startServer({ env: { SVC_HTTP_LOOPS: String(LOOPS) } })
    test.after(() => server.kill())
    await askGraphql(server, '{ __typename }')
    const slices = threadsOf(server.pid).map(({ slice }) => slice)
    if (slices.includes(null)) return test.skip('the kernel does not say the slices of threads')
    assert.equal(slices.filter((slice) => slice === SLICE_NS).length, LOOPS)
    assert.equal(slices[0], SLICE_NS)
  })
})
