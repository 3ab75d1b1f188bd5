/**
 * What clients of gRPC, GraphQL and MCP can make the server hold of answers is bounded; others are served.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { status as grpcStatus } from '@grpc/grpc-js'
import { askGraphql, type GraphqlError } from '../../harness/clients/graphql.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const SEARCHES = 50
const LONG = 100_000
const BUSY = 'server busy, please retry'
const FIELD = 'search(input: { collection: "c" }) { edges { node { contentMd } } }'
/** A document of many searches, which reach the front end together. */
const DOCUMENT = `{ ${Array.from({ length: SEARCHES }, (_, at) => `a${at}: ${FIELD}`).join(' ')} }`

async function started(test: TestContext, env: Readonly<Record<string, string>>, chars = LONG): Promise<Server> {
  const server = await startServer({ env })
  test.after(async () => await server.stop())
  await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'x'.repeat(chars) })
  return server
}

interface Outcome {
  readonly answered: number
  readonly errors: readonly GraphqlError[]
}

async function askMany(server: Server): Promise<Outcome> {
  const { data, errors } = await askGraphql(server, DOCUMENT)
  return { answered: Object.values(data ?? {}).filter((value) => value !== null).length, errors }
}

/** Some of the searches are refused, and what has been held is given back. */
async function refusesSome(server: Server, { answered, errors }: Outcome): Promise<void> {
  assert.ok(answered > 0)
  assert.equal(answered + errors.length, SEARCHES)
  assert.deepEqual([...new Set(errors.map(({ message, extensions }) => `${extensions?.code} ${message}`))], [`UNAVAILABLE ${BUSY}`])
  for (let at = 0; at < 5; at++) assert.deepEqual((await askGraphql(server, `{ ${FIELD} }`)).errors, [])
}

describe('answers of surfaces are bounded', () => {
  it('surfaces: searches of a thread wait for their turn, so many of them; further ones are refused', async (test) => {
    const server = await started(test, { SVC_LIMIT_SURFACE_PORT_SEARCHES_WAITING_MAX: '1' })
    const outcome = await untilAsked(
      async () => await askMany(server),
      ({ errors }) => errors.length > 0,
    )
    await refusesSome(server, outcome)
  })

  it('surfaces: all searches of a long document have their turn', async (test) => {
    assert.equal((await askMany(await started(test, {}))).answered, SEARCHES)
  })

  it('graphql: what all requests have put together of answers is bounded', async (test) => {
    const server = await started(test, { SVC_LIMIT_GRAPHQL_ANSWERS_HELD_BYTES_MAX: String(1.5 * LONG) })
    const outcome = await askMany(server)
    assert.equal(outcome.answered, 1)
    await refusesSome(server, outcome)
  })

  it('mcp: large answers that nobody reads are bounded, and the connection that holds the most is ended', async (test) => {
    const [chars, most] = [8_000_000, 12_000_000]
    const server = await started(test, { SVC_LIMIT_MCP_UNSENT_BYTES_MAX: String(most) }, chars)
    const mcp = new McpClient(server)
    // Nothing of a document is left out where it is a resource.
    const body = JSON.stringify({ uri: 'mddb://c/k?lang=en' })
    const call = `POST /resources/read HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const hostile = connect(mcp.port, '127.0.0.1')
    test.after(() => hostile.destroy())
    hostile.on('error', () => undefined)
    hostile.write(call)
    // Its answer has begun, and nothing more is read.
    await once(hostile, 'readable')
    const texts = new Set<string>()
    const ask = async (): Promise<number> => {
      const { status, text } = await mcp.send('POST', '/resources/read', body)
      if (status !== 200) texts.add(text)
      return status
    }
    await untilAsked(ask, (status) => status === 503)
    await untilAsked(ask, (status) => status === 200)
    assert.ok([...texts].every((text) => text.includes(BUSY)))
    // The end of the connection comes after what the kernel has of the answer.
    hostile.resume()
    if (!hostile.closed) await once(hostile, 'close')
    assert.ok(hostile.bytesRead < chars)
  })

  it('grpc: a search that finds too many before it is refused, and answered later', async (test) => {
    const server = await started(test, { SVC_LIMIT_SURFACE_PORT_SEARCHES_WAITING_MAX: '1' })
    const client = GrpcClient.of(server)
    test.after(() => client.close())
    const ask = async (): Promise<number> =>
      await client.call('Search', { collection: 'c' }).then(
        () => grpcStatus.OK,
        ({ code }: { readonly code: number }) => code,
      )
    const codes = await untilAsked(
      async () => new Set(await Promise.all(Array.from({ length: SEARCHES }, ask))),
      (found) => found.size > 1,
    )
    assert.deepEqual(codes, new Set([grpcStatus.OK, grpcStatus.RESOURCE_EXHAUSTED]))
    assert.equal(await ask(), grpcStatus.OK)
  })
})
