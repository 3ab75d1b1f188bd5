/** The exporters of the audit log, against receivers on real sockets. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { untilAsked } from '../../harness/process/until.js'
import { addDocuments, auditOf, type EventJson, exportersOf, killStarted, startAudited } from '../../harness/server/audit_log.js'

const closers: (() => void)[] = []
after(async () => {
  await killStarted()
  for (const close of closers) close()
})

/** An HTTP server that keeps what it gets, and answers as it is told. */
class Receiver {
  status = 200
  readonly bodies: { _mddb_event_type: string; count: number; events: EventJson[] }[] = []
  readonly headers: IncomingHttpHeaders[] = []
  readonly #server = createHttpServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (this.status === 200) {
        this.bodies.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof this.bodies)[number])
        this.headers.push(request.headers)
      }
      response.writeHead(this.status).end('thanks')
    })
  })

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    closers.push(() => (this.#server.close(), this.#server.closeAllConnections()))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events?token=hidden`
  }

  get events(): EventJson[] {
    return this.bodies.flatMap(({ events }) => events)
  }
}

const SYSLOG = /^<(\d+)>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (\S+) mds (\d+) (\S+) - (\{.*\})$/

/** @param bytes octet-counted messages */
function unframed(bytes: Buffer): string[] {
  const messages: string[] = []
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const length = Number(bytes.toString('latin1', at, space))
    messages.push(bytes.toString('utf8', space + 1, space + 1 + length))
    at = space + 1 + length
  }
  return messages
}

async function listening(server: NetServer, received: Buffer[], sockets: Socket[] = []): Promise<number> {
  const onSocket = (socket: Socket): void => {
    sockets.push(socket)
    socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => undefined)
  }
  server.on(server.listenerCount('secureConnection') === 0 ? 'connection' : 'secureConnection', onSocket)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closers.push(() => (server.close(), sockets.forEach((socket) => socket.destroy())))
  return (server.address() as AddressInfo).port
}

describe('audit exporters', () => {
  it('audit webhook: batches of events in order, with the headers of the operator, and the counters of the exporter', async () => {
    const receiver = new Receiver()
    const url = await receiver.listen()
    const env = { SVC_AUDIT_EXPORT_WEBHOOK_URL: url, SVC_AUDIT_EXPORT_WEBHOOK_HEADER: 'X-Token: t 1, X-Other: 2' }
    const server = await startAudited({ env })
    await addDocuments(server, 'exported', 30)
    const [state] = await untilAsked(() => exportersOf(server), ([first]) => first?.delivered === 30) // prettier-ignore
    const target = url.slice(0, url.indexOf('?'))
    assert.deepEqual(state, { name: 'webhook', target, queued: 0, delivered: 30, failed: 0, dropped: 0, lastError: '', bufferSize: 1024 })
    assert.deepEqual((await server.get('/v1/audit/exporters')).json<{ count: number }>().count, 1)
    assert.deepEqual(receiver.events, (await auditOf(server)).events.toReversed())
    for (const { _mddb_event_type: type, count, events } of receiver.bodies) assert.deepEqual([type, count], ['audit', events.length])
    assert.deepEqual([receiver.headers[0]?.['x-token'], receiver.headers[0]?.['x-other']], ['t 1', '2'])
    assert.ok(receiver.bodies.length < 30, 'events come in batches')
    await server.stop()
    assert.doesNotMatch(server.output(), /hidden|t 1/)
  })

  it('audit webhook: while it is down the queue is bounded and the oldest are lost; then the others arrive in order', async () => {
    const receiver = new Receiver()
    const env = { SVC_AUDIT_EXPORT_WEBHOOK_URL: await receiver.listen(), SVC_AUDIT_EXPORT_BUFFER: '10' }
    const server = await startAudited({ env })
    receiver.status = 503
    await addDocuments(server, 'lost', 1)
    // Events of a delivery under way are kept, so the others come in the pause behind the fifth one: 4 s.
    await untilAsked(() => exportersOf(server), ([first]) => (first?.failed ?? 0) >= 5) // prettier-ignore
    await addDocuments(server, 'lost', 39)
    const [down] = await untilAsked(() => exportersOf(server), ([first]) => (first?.dropped ?? 0) >= 30 && (first?.failed ?? 0) > 0) // prettier-ignore
    assert.ok(down !== undefined)
    assert.deepEqual([down.queued, down.dropped, down.bufferSize, down.lastError], [10, 30, 10, 'the webhook answered 503'])
    assert.match(server.output(), /warn audit events are not delivered/)
    assert.equal((await auditOf(server)).dropped, 0)
    receiver.status = 200
    const [up] = await untilAsked(() => exportersOf(server), ([first]) => first?.delivered === 10) // prettier-ignore
    assert.deepEqual([up?.queued, up?.lastError], [0, ''])
    assert.deepEqual(receiver.events, (await auditOf(server, 'limit=10')).events.toReversed())
    await server.stop()
  })

  it('audit webhook: a shutdown delivers what waits', async () => {
    const receiver = new Receiver()
    const server = await startAudited({ env: { SVC_AUDIT_EXPORT_WEBHOOK_URL: await receiver.listen() } })
    await addDocuments(server, 'last', 20)
    await server.stop()
    assert.equal(receiver.events.length, 20)
  })

  it('audit syslog: RFC 5424 in one datagram an event, with facility and severity', async () => {
    const received: string[] = []
    const socket = createSocket('udp4', (message) => received.push(message.toString()))
    await once(socket.bind(0, '127.0.0.1'), 'listening')
    closers.push(() => socket.close())
    const address = `udp://127.0.0.1:${socket.address().port}`
    const env = { SVC_AUDIT_EXPORT_SYSLOG_ADDR: address, SVC_AUDIT_EXPORT_SYSLOG_FACILITY: 'local4' }
    const server = await startAudited({ env })
    await addDocuments(server, 'logged', 3)
    await server.post('/v1/delete', { collection: 'logged', key: 'nobody', lang: 'en' })
    await untilAsked(() => Promise.resolve(received.length), (count) => count === 4) // prettier-ignore
    const { events } = await auditOf(server)
    for (const [at, event] of events.toReversed().entries()) {
      const [, priority, time = '', , pid, id, text = ''] = SYSLOG.exec(received[at] ?? '') ?? assert.fail(received[at])
      assert.deepEqual([priority, pid, id], [event.result === 'ok' ? '166' : '164', String(server.pid), event.action])
      assert.deepEqual(JSON.parse(text), event)
      // The last digits of the time are lost in a number.
      assert.ok(Math.abs(Date.parse(time) - event.ts / 1e6) <= 1)
    }
    const [state] = await exportersOf(server)
    assert.deepEqual([state?.name, state?.target, state?.delivered], ['syslog', address, 4])
    await server.stop()
  })

  it('audit syslog: octet counting over TCP, and a connection that was closed is opened again', async () => {
    const received: Buffer[] = []
    const sockets: Socket[] = []
    const port = await listening(createServer(), received, sockets)
    const server = await startAudited({ env: { SVC_AUDIT_EXPORT_SYSLOG_ADDR: `tcp://127.0.0.1:${port}` } })
    await addDocuments(server, 'a', 10)
    await untilAsked(() => exportersOf(server), ([first]) => first?.delivered === 10) // prettier-ignore
    await untilAsked(() => Promise.resolve(unframed(Buffer.concat(received)).length), (count) => count === 10) // prettier-ignore
    for (const socket of sockets) socket.destroy()
    await addDocuments(server, 'b', 10)
    await untilAsked(() => exportersOf(server), ([first]) => first?.delivered === 20) // prettier-ignore
    await addDocuments(server, 'c', 1)
    await untilAsked(() => Promise.resolve(Buffer.concat(received).includes('"resource":"c"')), (found) => found) // prettier-ignore
    assert.ok(unframed(Buffer.concat(received)).every((message) => SYSLOG.test(message)))
    assert.ok(sockets.length >= 2)
    await server.stop()
  })

  it('audit syslog: over TLS, the certificate of the server is checked', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mds-audit-tls-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', ...names], { stdio: 'ignore' }) // prettier-ignore
    const received: Buffer[] = []
    const port = await listening(
      createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, () => undefined),
      received,
    )
    const env = { SVC_AUDIT_EXPORT_SYSLOG_ADDR: `tls://localhost:${port}` }
    const trusting = await startAudited({ env: { ...env, NODE_EXTRA_CA_CERTS: cert } })
    await addDocuments(trusting, 'a', 5)
    await untilAsked(() => exportersOf(trusting), ([first]) => first?.delivered === 5) // prettier-ignore
    await trusting.stop()
    assert.equal(unframed(Buffer.concat(received)).length, 5)
    const doubting = await startAudited({ env })
    await addDocuments(doubting, 'a', 1)
    const [refused] = await untilAsked(() => exportersOf(doubting), ([first]) => (first?.failed ?? 0) > 0) // prettier-ignore
    assert.match(refused?.lastError ?? '', /self.signed certificate/)
    await doubting.stop()
  })
})
