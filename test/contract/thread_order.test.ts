/** The order of the threads on a processor that they share: docs/decisions/0247-threads-have-an-order.md. */
import assert from 'node:assert/strict'
import { release } from 'node:os'
import { describe, it } from 'node:test'
import { askGraphql } from '../harness/graphql.js'
import { GrpcClient } from '../harness/grpc.js'
import { McpClient } from '../harness/mcp_client.js'
import { startServer } from '../harness/server.js'
import { niceCounts, threadsOf } from '../harness/threads.js'

const LOOPS = 2
const LANES = 2
const [LANE, SURFACE] = [10, 15]
const SLICE_NS = 100_000

/** The first kernel in which a thread has a slice of its own. */
function hasSlices(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 6 || (major === 6 && minor >= 12)
}

describe('order of threads', { skip: process.platform === 'linux' ? false : 'only Linux has priorities of threads' }, () => {
  it('priorities: event loops of HTTP before lanes, and lanes before the threads of gRPC, GraphQL and MCP', async (test) => {
    const server = await startServer({ env: { SVC_HTTP_LOOPS: String(LOOPS), SVC_READ_LANES: String(LANES) } })
    test.after(() => server.kill())
    const [lanes, before] = niceCounts(server.pid, [LANE, SURFACE])
    assert.equal(threadsOf(server.pid)[0]?.nice, 0, 'the first thread has the first event loop')
    assert.ok(lanes! > LANES, 'the read lanes and the write lane, and what they have started')
    const grpc = GrpcClient.of(server)
    test.after(() => grpc.close())
    await grpc.call('Get', { collection: 'c', key: 'k', lang: 'en' }).catch(() => undefined)
    await askGraphql(server, '{ __typename }')
    await new McpClient(server).stateless('tools/list')
    assert.equal(niceCounts(server.pid, [SURFACE])[0], before! + 3)
  })

  it('slices: an event loop of HTTP, and no other thread, preempts others as soon as it wakes up', async (test) => {
    if (!hasSlices()) return test.skip(`the kernel ${release()} has no slices of threads`)
    const server = await startServer({ env: { SVC_HTTP_LOOPS: String(LOOPS), SVC_READ_LANES: String(LANES) } })
    test.after(() => server.kill())
    await askGraphql(server, '{ __typename }')
    const slices = threadsOf(server.pid).map(({ slice }) => slice)
    if (slices.includes(null)) return test.skip('the kernel does not say the slices of threads')
    assert.equal(slices.filter((slice) => slice === SLICE_NS).length, LOOPS)
    assert.equal(slices[0], SLICE_NS)
  })
})
