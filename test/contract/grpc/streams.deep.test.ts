/** gRPC under load and under bad clients: streams, deadlines, cancellations, long messages, hostile bytes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type ServiceError, status } from '@grpc/grpc-js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const ID = { collection: 'c', key: 'k', lang: 'en' }
const DOCUMENTS = 2_000

let server: Server
let client: GrpcClient

before(async () => {
  server = await startServer()
  client = GrpcClient.of(server)
  const documents = Array.from({ length: DOCUMENTS }, (_, at) => ({ key: `k${at}`, lang: 'en', content_md: `word ${at} `.repeat(200) }))
  for (let at = 0; at < DOCUMENTS; at += 500)
    assert.equal((await client.call('AddBatch', { collection: 'c', documents: documents.slice(at, at + 500) })).added, 500)
  await client.call('Add', { ...ID, content_md: 'x' })
})
after(async () => {
  client.close()
  assert.equal(await server.stop(), 0)
})

const port = (): number => Number(server.addressOf('grpc').split(':').at(-1))
const works = async (): Promise<void> => assert.equal((await client.call('Get', ID)).key, 'k')

async function metric(name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await server.get('/metrics')).text)?.[1])
}

const slots = (): Promise<number> => metric('mddb_slots_used')

describe('grpc: streams and bad clients', () => {
  it('grpc: Export streams every document in chunks, and the last says so', async () => {
    const chunks: { readonly data: Buffer; readonly is_last: boolean }[] = []
    for await (const chunk of client.stream('Export', { collection: 'c' })) chunks.push(chunk as (typeof chunks)[number])
    const lines = Buffer.concat(chunks.map(({ data }) => data))
      .toString()
      .trim()
      .split('\n')
    assert.equal(lines.length, DOCUMENTS + 1)
    assert.deepEqual(chunks.map(({ is_last }) => is_last).filter(Boolean), [true])
    assert.equal(chunks.at(-1)?.is_last, true)
    assert.ok(chunks.every(({ data }) => data.length <= 512 * 1024))
    const zip: Buffer[] = []
    for await (const chunk of client.stream('Export', { collection: 'c', format: 'zip' })) zip.push(chunk.data as Buffer)
    assert.equal(Buffer.concat(zip).subarray(0, 2).toString(), 'PK')
    await assert.rejects(async () => {
      for await (const _ of client.stream('Export', {})) assert.fail('a chunk')
    }, /missing collection/)
  })

  it('grpc: Export of a collection that is not there is NOT_FOUND, before any chunk', async () => {
    await assert.rejects(
      async () => {
        for await (const _ of client.stream('Export', { collection: 'nowhere' })) assert.fail('a chunk')
      },
      { code: status.NOT_FOUND },
    )
  })

  it('grpc: an export waits for its reader, and one that is cancelled leaves nothing behind', async () => {
    const stalled = Array.from({ length: 3 }, () => client.stream('Export', { collection: 'c' }))
    for (const stream of stalled) {
      const first = stream[Symbol.asyncIterator]()
      assert.ok(((await first.next()).value as { readonly data: Buffer }).data.length > 0)
    }
    await works()
    for (const stream of stalled) stream.cancel()
    await untilAsked(slots, (used) => used <= 1)
    const chunks: Buffer[] = []
    for await (const chunk of client.stream('Export', { collection: 'c' })) chunks.push(chunk.data as Buffer)
    assert.equal(Buffer.concat(chunks).toString().trim().split('\n').length, DOCUMENTS + 1)
  })

  it('grpc: exports whose clients do not read stay open, so that further ones are refused', async (test) => {
    const session = connectHttp2(`http://127.0.0.1:${port()}`)
    test.after(() => session.destroy())
    const message = Buffer.from('00000000030a0163', 'hex')
    const refused = await new Promise<number>((resolve) => {
      for (let at = 0; at < 60; at++) {
        const stream = session.request({
          ':method': 'POST',
          ':path': '/mddb.MDDB/Export',
          'content-type': 'application/grpc',
          te: 'trailers',
        })
        stream.on('error', () => undefined)
        stream.on('response', (headers) => {
          if (headers['grpc-status'] !== undefined) resolve(Number(headers['grpc-status']))
        })
        stream.end(message)
      }
    })
    assert.equal(refused, status.RESOURCE_EXHAUSTED)
    await works()
    // Time enough to make all of them, if they did not wait for their clients.
    for (let at = 0; at < 200; at++) await client.call('FTS', { collection: 'c', query: `word ${at}` })
    const another = client.stream('Export', { collection: 'c' })
    await assert.rejects(another[Symbol.asyncIterator]().next(), { code: status.RESOURCE_EXHAUSTED })
    session.destroy()
    await untilAsked(slots, (used) => used <= 1)
  })

  it('grpc: a deadline reaches the lane, and a cancellation frees its place', async () => {
    assert.equal((await client.call('Get', ID, { deadlineMs: 10_000 })).key, 'k')
    assert.equal((await client.call('FTSReindex', { collection: 'c' }, { deadlineMs: 60_000 })).status, 'ok')
    assert.equal((await client.refusal('FTSReindex', { collection: 'c' }, { deadlineMs: 1 }))[0], status.DEADLINE_EXCEEDED)
    const before = await metric('mddb_aborted_requests_total')
    const begun: { cancel(): void }[] = []
    const reindexes = Array.from(
      { length: 20 },
      async () => await new Promise<ServiceError | null>((resolve) => begun.push(client.begin('FTSReindex', { collection: 'c' }, resolve))),
    )
    await untilAsked(slots, (used) => used >= 3)
    for (const call of begun) call.cancel()
    for (const error of await Promise.all(reindexes)) assert.ok(error === null || error.code === status.CANCELLED)
    await untilAsked(slots, (used) => used <= 1)
    assert.ok((await metric('mddb_aborted_requests_total')) > before)
    await works()
  })

  it('grpc: messages of up to 32 MiB pass in both directions, longer ones are refused', async () => {
    const documents = Array.from({ length: 16 }, (_, at) => ({ key: `m${at}`, lang: 'en', content_md: 'y'.repeat(1_900_000) }))
    assert.equal((await client.call('AddBatch', { collection: 'long', documents })).added, 16)
    const all = await client.call<{ readonly documents: readonly unknown[] }>('Search', { collection: 'long' })
    assert.equal(all.documents.length, 16)
    const more = [...documents, ...documents]
    assert.equal((await client.refusal('AddBatch', { collection: 'long', documents: more }))[0], status.RESOURCE_EXHAUSTED)
    await works()
  })

  it('grpc: a message that is none, text that is not UTF-8, and millions of empty values are refused', async () => {
    const session = connectHttp2(`http://127.0.0.1:${port()}`)
    const send = async (path: string, message: Buffer): Promise<readonly [code: number, details: string]> => {
      const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' })
      const head = Buffer.alloc(5)
      head.writeUInt32BE(message.length, 1)
      stream.end(Buffer.concat([head, message]))
      let [code, details] = ['', '']
      const take = (headers: IncomingHttpHeaders): void => {
        code = headers['grpc-status']?.toString() ?? code
        details = headers['grpc-message']?.toString() ?? details
      }
      stream.on('response', take).on('trailers', take).resume()
      await once(stream, 'close')
      return [Number(code), decodeURIComponent(details)]
    }
    assert.deepEqual(await send('/mddb.MDDB/Get', Buffer.from([0xff, 0xff, 0xff])), [status.INVALID_ARGUMENT, 'invalid message'])
    const text = (field: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([(field << 3) | 2, bytes.length]), bytes])
    const names = [text(1, Buffer.from('c')), text(2, Buffer.from('bad')), text(3, Buffer.from('en'))]
    const invalid = Buffer.concat([...names, text(5, Buffer.from([0x61, 0xff, 0x62]))])
    assert.deepEqual(await send('/mddb.MDDB/Add', invalid), [status.INVALID_ARGUMENT, 'invalid UTF-8'])
    const replacement = Buffer.concat([...names, text(5, Buffer.from('a\ufffdb'))])
    assert.equal((await send('/mddb.MDDB/Add', replacement))[0], status.OK)
    const many = Buffer.concat([text(1, Buffer.from('c')), Buffer.alloc(20_000_000, Buffer.from([0x12, 0x00]))])
    assert.deepEqual(await send('/mddb.MDDB/AddBatch', many), [status.INVALID_ARGUMENT, 'invalid message'])
    assert.equal((await send('/mddb.MDDB/Nothing', Buffer.alloc(0)))[0], status.UNIMPLEMENTED)
    session.close()
    await works()
  })

  it('grpc: connections that say nothing, garbage, or a part of the preface are closed, and others go on', async () => {
    const silent = connect(port(), '127.0.0.1')
    const half = connect(port(), '127.0.0.1', () => half.write('PRI * HTTP/2.0\r\n'))
    const garbage = connect(port(), '127.0.0.1', () => garbage.write(Buffer.alloc(4_096, 0x41)))
    for (const socket of [silent, half, garbage]) socket.on('error', () => undefined).resume()
    for (const socket of [silent, half, garbage]) if (!socket.destroyed) await once(socket, 'close')
    await works()
  })

  it('grpc: a client that pings more often than every ten seconds is told so and closed', async () => {
    const session = connectHttp2(`http://127.0.0.1:${port()}`)
    const gone = once(session, 'goaway') as Promise<[code: number, last: number, data: Buffer]>
    session.on('error', () => undefined)
    let answered = 0
    const all = new Promise<never>((_, reject) => {
      session.once('connect', () => {
        for (let at = 0; at < 5; at++)
          session.ping((error) => {
            if (error === null && ++answered === 5) reject(new Error('every ping was answered'))
          })
      })
    })
    const [code, , data] = await Promise.race([gone, all]).finally(() => session.destroy())
    assert.deepEqual([code, data.toString()], [constants.NGHTTP2_ENHANCE_YOUR_CALM, 'too_many_pings'])
    await works()
  })

  it('grpc: a connection has at most 100 calls at a time', async () => {
    const session = connectHttp2(`http://127.0.0.1:${port()}`)
    const [settings] = (await once(session, 'remoteSettings')) as [{ readonly maxConcurrentStreams?: number }]
    assert.equal(settings.maxConcurrentStreams, 100)
    session.close()
  })

  it('grpc: a client that does not read its answers is not answered without end, and the others are served', async () => {
    const session = connectHttp2(`http://127.0.0.1:${port()}`, { settings: { initialWindowSize: 0 } })
    session.on('error', () => undefined)
    const message = Buffer.from('0000000006' + '0a046c6f6e67', 'hex')
    for (let at = 0; at < 50; at++) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/mddb.MDDB/Search',
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      stream.on('error', () => undefined)
      stream.end(message)
    }
    for (let at = 0; at < 20; at++) await works()
    session.destroy()
    await untilAsked(slots, (used) => used <= 1)
    await works()
  })
})
