/** The order of the threads on a processor that they share: docs/decisions/interfaces/surface-threads.md. */
import assert from 'node:assert/strict'
import { getPriority, release, setPriority } from 'node:os'
import { describe, it } from 'node:test'
import { askGraphql } from '../../harness/clients/graphql.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { niceCounts, threadsOf } from '../../harness/process/threads.js'
import { startServer } from '../../harness/server/server.js'

const LOOPS = 2
const [LOOP, SURFACE] = [-10, 5]
const SLICE_NS = 100_000

/** Whether this process has nice 0 and may lower it; it then has it again. */
function mayGoFirst(): boolean {
  const own = getPriority()
  if (own !== 0) return false
  try {
    setPriority(LOOP)
  } catch {
    return false
  }
  setPriority(own)
  return true
}

/** Null: slices of threads can be seen here. They begin with Linux 6.12. */
function whyNoSlices(): string | null {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  if (major < 6 || (major === 6 && minor < 12)) return `Linux ${release()} has no slices of threads`
  return threadsOf(process.pid)[0]?.slice === null ? 'this Linux does not say the slices of threads' : null
}

describe('order of threads', { skip: process.platform === 'linux' ? false : 'only Linux has priorities of threads' }, () => {
  it('priorities: event loops of HTTP before all others where the process may, threads of gRPC, GraphQL and MCP after lanes', async (test) => {
    const server = await startServer({ env: { SVC_HTTP_LOOPS: String(LOOPS) } })
    test.after(() => server.kill())
    const surface = Math.max(getPriority(), SURFACE)
    const [before] = niceCounts(server.pid, [surface])
    const grpc = GrpcClient.of(server)
    test.after(() => grpc.close())
    await grpc.call('Get', { collection: 'c', key: 'k', lang: 'en' }).catch(() => undefined)
    await askGraphql(server, '{ __typename }')
    await new McpClient(server).stateless('tools/list')
    const [loops, after] = niceCounts(server.pid, [LOOP, surface])
    assert.equal(loops, mayGoFirst() ? LOOPS : 0)
    if (surface === SURFACE) assert.equal(after! - before!, 3)
    else
      assert.ok(
        threadsOf(server.pid).every(({ nice }) => nice >= surface),
        'the value of `nice` stays',
      )
  })

  it('slices: an event loop of HTTP, and no other thread, preempts others as soon as it wakes up', async (test) => {
    const reason = whyNoSlices()
    if (reason !== null) return test.skip(reason)
    const server = await startServer({ env: { SVC_HTTP_LOOPS: String(LOOPS) } })
    test.after(() => server.kill())
    await askGraphql(server, '{ __typename }')
    const slices = threadsOf(server.pid).map(({ slice }) => slice)
    assert.equal(slices.filter((slice) => slice === SLICE_NS).length, LOOPS)
    assert.equal(slices[0], SLICE_NS)
  })
})
