/** The end of the server, as clients of gRPC see it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Stream, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { credentials, type ServiceError, status } from '@grpc/grpc-js'
import { CertificateAuthority, LACKS_OPENSSL } from '../../harness/clients/certificates.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { FRAME, frame, PREFACE } from '../../harness/clients/http2_frames.js'
import { untilHolds } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const ID = { collection: 'c', key: 'k', lang: 'en' }
const GET = Buffer.from('000000000a' + '0a0163' + '12016b' + '1a02656e', 'hex')
const EXPORT = Buffer.from('0000000003' + '0a0163', 'hex')
/** Longer than the windows of a stream and the buffers of a socket together. */
const LONG_BYTES = 15_000_000
/** What the server says when it waits for its clients no longer. */
const IMPATIENT = /connections with requests are ended/
const PATIENT = { SVC_SHUTDOWN_TIMEOUT_SEC: '20' }

const port = (server: Server): number => Number(server.addressOf('grpc').split(':').at(-1))

/** A get, as frames of HEADERS and DATA. Its names and values are literals without an index. */
function getFrames(stream: number): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  const headers = { ':method': 'POST', ':scheme': 'http', ':path': '/mddb.MDDB/Get', ':authority': 'a', 'content-type': 'application/grpc' }
  const fields = Object.entries(headers).map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)]))
  return Buffer.concat([frame(FRAME.headers, 4, stream, Buffer.concat(fields)), frame(FRAME.data, 1, stream, GET)])
}

/** Begins a call whose answer is not read. Resolves when the answer has begun. */
async function begin(server: Server, path: string, message: Buffer): Promise<ClientHttp2Stream> {
  const session = connectHttp2(`http://127.0.0.1:${port(server)}`)
  session.on('error', () => undefined)
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' })
  stream.on('error', () => undefined)
  stream.end(message)
  await once(stream, 'response')
  return stream
}

describe('grpc: the end of the server', () => {
  it('grpc: clients that ask without a pause are answered or told that the server is not there, and it ends cleanly', async (context) => {
    const server = await startServer({ env: PATIENT })
    context.after(() => server.kill())
    const clients = Array.from({ length: 8 }, () => GrpcClient.of(server))
    await clients[0]!.call('Add', { ...ID, content_md: 'x'.repeat(1_000) })
    let answered = 0
    let isBusy = (): void => undefined
    const busy = new Promise<void>((resolve) => (isBusy = resolve))
    const askUntilRefused = async (client: GrpcClient): Promise<ServiceError> => {
      try {
        for (;;) {
          assert.equal((await client.call('Get', ID)).key, 'k')
          if (++answered === 2_000) isBusy()
        }
      } catch (error) {
        return error as ServiceError
      }
    }
    const asking = clients.flatMap((client) => Array.from({ length: 20 }, () => askUntilRefused(client)))
    await busy
    assert.equal(await server.stop(), 0, server.output())
    assert.doesNotMatch(server.output(), IMPATIENT)
    for (const refusal of await Promise.all(asking)) assert.equal(refusal.code, status.UNAVAILABLE, refusal.message)
    for (const client of clients) client.close()
  })

  it('grpc: an answer that is being read arrives whole when the server ends', async (context) => {
    const server = await startServer({ env: PATIENT })
    context.after(() => server.kill())
    const client = GrpcClient.of(server)
    await client.call('Add', { ...ID, content_md: 'x'.repeat(LONG_BYTES) })
    client.close()
    const stream = await begin(server, '/mddb.MDDB/Get', GET)
    const ending = server.stop()
    await untilHolds(
      () => server.output().includes('shutting down'),
      () => server.output(),
    )
    const trailers = once(stream, 'trailers') as Promise<[IncomingHttpHeaders]>
    let bytes = 0
    for await (const chunk of stream) bytes += (chunk as Buffer).length
    assert.ok(bytes > LONG_BYTES, `${bytes} bytes`)
    assert.equal((await trailers)[0]['grpc-status'], '0')
    assert.equal(await ending, 0)
    assert.doesNotMatch(server.output(), IMPATIENT)
  })

  it('grpc: clients that watch the health, say nothing, or never end their connection do not hold up the end', async (context) => {
    const server = await startServer({ env: PATIENT })
    context.after(() => server.kill())
    const watch = await begin(server, '/grpc.health.v1.Health/Watch', Buffer.alloc(5))
    const open = { port: port(server), host: '127.0.0.1', allowHalfOpen: true }
    const silent = connect(open)
    const half = connect(open, () => half.write('PRI * HTTP/2.0\r\n'))
    const idle = connect(open, () => idle.write(PREFACE))
    for (const socket of [silent, half, idle]) socket.on('error', () => undefined)
    await once(idle, 'data')
    assert.equal(await server.stop(), 0)
    assert.doesNotMatch(server.output(), IMPATIENT)
    watch.session?.destroy()
    for (const socket of [silent, half, idle]) socket.destroy()
  })

  it('grpc: a client that stops in its handshake of TLS does not hold up the end', { skip: LACKS_OPENSSL }, async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'mds-end-'))
    context.after(() => rm(folder, { recursive: true }))
    const ca = new CertificateAuthority(folder)
    const pair = ca.sign('server')
    // Half of this is over before the time of a handshake is.
    const env = { SVC_SHUTDOWN_TIMEOUT_SEC: '10', SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: pair.cert, SVC_TLS_KEY: pair.key }
    const server = await startServer({ env, tls: ca.trust })
    context.after(() => server.kill())
    // The beginning of a record of 512 bytes, longer than the preface of HTTP/2.
    const stalled = connect(port(server), '127.0.0.1', () =>
      stalled.write(Buffer.concat([Buffer.from('1603010200', 'hex'), Buffer.alloc(64, 1)])),
    )
    stalled.on('error', () => undefined)
    await once(stalled, 'connect')
    // Accepted after it.
    const target = server.addressOf('grpc').replace('127.0.0.1', 'localhost')
    const client = new GrpcClient(target, 'MDDB', credentials.createSsl(readFileSync(ca.cert)))
    await client.call('Add', { ...ID, content_md: 'x' })
    assert.equal(await server.stop(), 0)
    assert.doesNotMatch(server.output(), IMPATIENT)
    client.close()
    stalled.destroy()
  })

  it('grpc: an error in its thread ends the connections of gRPC, not the server, and it is started again', async (context) => {
    const server = await startServer({ env: { MDS_FAIL_POINT: 'grpc.stream:error' } })
    context.after(() => server.kill())
    // The first stream meets the error while the others, which came with it, are not parsed yet.
    const calls = Buffer.concat([PREFACE, ...Array.from({ length: 50 }, (_, at) => getFrames(2 * at + 1))])
    const asking = connect(port(server), '127.0.0.1', () => asking.write(calls))
    asking.on('error', () => undefined).resume()
    let hasEnded = false
    void server.ended.then(() => (hasEnded = true))
    const listensAgain = (): boolean => server.output().includes('surface grpc listens again')
    await untilHolds(
      () => hasEnded || listensAgain(),
      () => server.output(),
    )
    assert.equal(hasEnded, false, server.output())
    assert.equal(asking.closed, true)
    assert.match(server.output(), /failed at grpc\.stream/)
    assert.equal((await server.get('/health')).status, 200)
    assert.equal(await server.stop(), 0, server.output())
  })

  it('grpc: calls that are not read end with half the time of a shutdown, and the store is closed cleanly', async (context) => {
    const server = await startServer({ env: { SVC_SHUTDOWN_TIMEOUT_SEC: '2' } })
    context.after(() => server.kill())
    const client = GrpcClient.of(server)
    const content = 'x'.repeat(1_000_000)
    const documents = Array.from({ length: 20 }, (_, at) => ({ key: `k${at}`, lang: 'en', content_md: content }))
    await client.call('AddBatch', { collection: 'c', documents })
    client.close()
    const stalled = await begin(server, '/mddb.MDDB/Export', EXPORT)
    const ended = once(stalled, 'close')
    assert.equal(await server.stop(), 0)
    assert.match(server.output(), IMPATIENT)
    assert.match(server.output(), /stopped\s*$/)
    await ended
  })
})
