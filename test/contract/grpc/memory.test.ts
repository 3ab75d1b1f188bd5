/** The memory of gRPC is bounded, whatever its clients do not send and do not read; others are served. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2'
import { describe, it, type TestContext } from 'node:test'
import { type ServiceError, status } from '@grpc/grpc-js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { untilAsked } from '../../harness/process/until.js'
import { startServer } from '../../harness/server/server.js'

const ID = { collection: 'c', key: 'k', lang: 'en' }
/** A Get of it. */
const GET = Buffer.from('000000000a' + '0a0163' + '12016b' + '1a02656e', 'hex')
const LONG = 100_000
const BOUND = String(10 * LONG)
const CALLS = 30

interface Started {
  readonly client: GrpcClient
  /** Its streams give nothing to read. */
  readonly hostile: ClientHttp2Session
}

async function started(test: TestContext, limit: string): Promise<Started> {
  const server = await startServer({ env: { [`SVC_LIMIT_${limit}`]: BOUND } })
  const client = GrpcClient.of(server)
  const hostile = connect(`http://${server.addressOf('grpc')}`, { settings: { initialWindowSize: 0 } })
  hostile.on('error', () => undefined)
  test.after(async () => {
    hostile.destroy()
    client.close()
    await server.stop()
  })
  return { client, hostile }
}

function request(session: ClientHttp2Session, rpc: string): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': `/mddb.MDDB/${rpc}`, 'content-type': 'application/grpc', te: 'trailers' })
  return stream.on('error', () => undefined)
}

/** The first headers of an answer: with a status, if it is a refusal. */
const headOf = async (stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> =>
  ((await once(stream, 'response')) as [IncomingHttpHeaders])[0]

/** Another client is refused until the connection has been ended for it. */
async function untilServed(hostile: ClientHttp2Session, ask: () => Promise<unknown>): Promise<void> {
  const texts = new Set<string>()
  const text = async (): Promise<string> => {
    try {
      await ask()
      return ''
    } catch (error) {
      return (error as ServiceError).details
    }
  }
  await untilAsked(text, (found) => found === '' || texts.add(found).size < 0)
  assert.deepEqual([...texts], ['server busy, please retry'])
  if (!hostile.destroyed) await once(hostile, 'close')
}

describe('grpc: memory', () => {
  it('grpc: answers that nobody reads are bounded, and the connection that holds the most is ended', async (test) => {
    const { client, hostile } = await started(test, 'GRPC_UNREAD_BYTES_MAX')
    await client.call('Add', { ...ID, content_md: 'x'.repeat(LONG) })
    const heads = await Promise.all(Array.from({ length: CALLS }, async () => await headOf(request(hostile, 'Get').end(GET))))
    const statuses = heads.flatMap((head) => head['grpc-status'] ?? [])
    assert.deepEqual([heads.length - statuses.length, new Set(statuses)], [9, new Set([String(status.RESOURCE_EXHAUSTED)])])
    await untilServed(hostile, async () => await client.call('Get', ID))
  })

  it('grpc: messages that are sent in part are bounded, and the connection that holds the most is ended', async (test) => {
    const { client, hostile } = await started(test, 'GRPC_BODIES_BYTES_MAX')
    const start = Buffer.alloc(5 + LONG)
    start.writeUInt32BE(2 * LONG, 1)
    const streams = Array.from({ length: CALLS }, () => request(hostile, 'Add'))
    const statuses = new Set<string | string[] | undefined>()
    for (const stream of streams) {
      stream.on('response', (head) => statuses.add(head['grpc-status']))
      stream.write(start)
    }
    await untilAsked(
      () => Promise.resolve(statuses.size),
      (count) => count > 0,
    )
    assert.deepEqual(statuses, new Set([String(status.RESOURCE_EXHAUSTED)]))
    await untilServed(hostile, async () => await client.call('Add', { ...ID, content_md: 'x'.repeat(LONG) }))
  })

  it('grpc: what calls have held is given back when they end', async (test) => {
    for (const limit of ['GRPC_UNREAD_BYTES_MAX', 'GRPC_BODIES_BYTES_MAX']) {
      const { client } = await started(test, limit)
      for (let at = 0; at < CALLS; at++) await client.call('Add', { ...ID, content_md: `${at}`.repeat(LONG / 2) })
      for (let at = 0; at < CALLS; at++) assert.equal((await client.call('Get', ID)).key, 'k')
    }
  })
})
