/**
 * Streamed request bodies over real sockets: order and bytes, backpressure, and every way in which a body
 * ends before its last byte.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { BodyConsumer } from '../../../src/wire/body_streams.js'
import { ExchangeServer, MIB, TestConsumer, textAnswer } from '../../harness/clients/exchange_server.js'
import type { RawSocket } from '../../harness/clients/raw_socket.js'

/**
 * The receive buffer of uWS, which is filled at most ten more times before uWS checks whether the socket is
 * paused.
 */
const KEPT_BYTES_MAX = 11 * 512 * 1024
const BODY_MAX = 64 * MIB

let server: ExchangeServer
before(async () => {
  server = await ExchangeServer.start()
})
after(() => server.close())

/** Bytes that differ from position to position. */
function bodyOf(bytes: number): Buffer {
  const body = Buffer.alloc(bytes)
  for (let at = 0; at + 4 <= bytes; at += 4) body.writeUInt32LE((at * 2654435761) >>> 0, at)
  return body
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function head(path: string, framing: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`
}

/** The body in chunks of `bytes`. */
function chunked(body: Buffer, bytes: number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += bytes) {
    const part = body.subarray(at, at + bytes)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

/** Streams the body received at `path` to the consumer, and answers at its end. */
function stream(path: string, consumer: TestConsumer, bytesMax = BODY_MAX, stallMsMax?: number): TestConsumer {
  server.handlers.set(path, (exchange) => {
    const end = consumer.end.bind(consumer)
    consumer.end = () => {
      end()
      exchange.answer(textAnswer(`${consumer.bytes} bytes`))
    }
    exchange.streamBody(consumer, bytesMax, stallMsMax)
  })
  return consumer
}

async function send(path: string, body: Buffer, framing = `Content-Length: ${body.length}`): Promise<RawSocket> {
  const socket = await server.open()
  socket.write(head(path, framing))
  socket.write(body)
  return socket
}

/** Checks that a stream has released all its resources. */
function assertNothingHeld(): void {
  assert.equal(server.budget.used, 0)
  assert.equal(server.streams.count, 0)
}

describe('streamed request bodies', () => {
  it('a consumer gets the whole body in order, with a length and chunked, and the answer comes after its end', async () => {
    const body = bodyOf(3 * MIB + 7)
    for (const [path, sent, framing] of [
      ['/whole', body, undefined],
      ['/chunked', chunked(body, 50_000), 'Transfer-Encoding: chunked'],
    ] as const) {
      const consumer = stream(path, new TestConsumer())
      const socket = await send(path, sent, framing)
      assert.match(await socket.until((text) => text.includes('bytes')), /^HTTP\/1\.1 200 [^]*3145735 bytes$/)
      assert.equal(await consumer.ended(), 'end')
      assert.equal(hash(Buffer.concat(consumer.chunks)), hash(body))
      assert.deepEqual(server.log(path).events.all, ['done 200'])
      socket.destroy()
    }
    assertNothingHeld()
  })

  it('an empty body ends at once, with a length of 0 and chunked', async () => {
    for (const [path, sent, framing] of [
      ['/empty', '', 'Content-Length: 0'],
      ['/empty_chunked', '0\r\n\r\n', 'Transfer-Encoding: chunked'],
    ] as const) {
      const consumer = stream(path, new TestConsumer())
      const socket = await send(path, Buffer.from(sent), framing)
      await socket.until((text) => text.includes('0 bytes'))
      assert.deepEqual(consumer.events.all, ['begin', 'end'])
      socket.destroy()
    }
    assertNothingHeld()
  })

  it('a full consumer pauses the socket: buffered bytes are bounded and counted, and it gets all of them once it resumes', async () => {
    const body = bodyOf(32 * MIB)
    const consumer = stream('/slow', new TestConsumer(() => false))
    const socket = await send('/slow', body)
    let keptMax = 0
    let writes = 0
    while (consumer.bytes < body.length) {
      await consumer.events.until((events) => events.filter((event) => event === 'write').length > writes)
      writes += 1
      assert.equal(consumer.chunks.length, writes, 'nothing is written to a full consumer')
      assert.ok(server.budget.used >= consumer.chunks.at(-1)!.length, 'what a consumer keeps is counted')
      if (writes <= 3) {
        await server.turns()
        assert.equal(consumer.chunks.length, writes)
        assert.ok(socket.unsentBytes > 16 * MIB, `the client still has ${socket.unsentBytes} bytes to send`)
      }
      keptMax = Math.max(keptMax, server.budget.used)
      consumer.drained()
    }
    assert.ok(keptMax <= KEPT_BYTES_MAX, `${keptMax} bytes kept`)
    await socket.until((text) => text.includes('bytes'))
    assert.equal(hash(Buffer.concat(consumer.chunks)), hash(body))
    socket.destroy()
    assertNothingHeld()
  })

  it('a consumer that says from inside of write that it is through with the chunk goes on', async () => {
    const consumer = new TestConsumer()
    consumer.takes = () => {
      consumer.drained()
      return false
    }
    stream('/inside', consumer)
    const socket = await send('/inside', bodyOf(2 * MIB))
    await socket.until((text) => text.includes(`${2 * MIB} bytes`))
    socket.destroy()
    assertNothingHeld()
  })

  it('a client that goes midway aborts the consumer once', async () => {
    const consumer = stream('/gone', new TestConsumer())
    const socket = await send('/gone', bodyOf(MIB), `Content-Length: ${2 * MIB}`)
    await consumer.events.until((events) => events.includes('write'))
    socket.reset()
    assert.equal(await consumer.ended(), 'abort clientGone')
    await server.log('/gone').events.until((events) => events.includes('done 0'))
    assertNothingHeld()
  })

  it('a client that goes while its socket is paused is noticed when the consumer goes on', async () => {
    const consumer = stream('/gone_paused', new TestConsumer(() => false))
    const socket = await send('/gone_paused', bodyOf(MIB), `Content-Length: ${2 * MIB}`)
    await consumer.events.until((events) => events.includes('write'))
    socket.reset()
    await server.turns(3)
    consumer.takes = () => true
    consumer.drained()
    assert.equal(await consumer.ended(), 'abort clientGone')
    assertNothingHeld()
  })

  it('a body whose announced length is too large is refused with 413 before a byte of it is written', async () => {
    const consumer = stream('/announced', new TestConsumer(), MIB)
    const socket = await send('/announced', bodyOf(MIB + 1))
    assert.match(await socket.until((text) => text.includes('too large')), /^HTTP\/1\.1 413 /)
    assert.deepEqual(consumer.events.all, ['begin', 'abort tooLarge'])
    socket.destroy()
    assertNothingHeld()
  })

  it('a chunked body is aborted at the bound; a client that reads after it has sent all gets 413, and may ask again', async () => {
    const consumer = stream('/too_large', new TestConsumer(), MIB)
    const socket = await send('/too_large', chunked(bodyOf(4 * MIB), 100_000), 'Transfer-Encoding: chunked')
    assert.match(await socket.until((text) => text.includes('too large')), /^HTTP\/1\.1 413 /)
    assert.equal(await consumer.ended(), 'abort tooLarge')
    assert.ok(consumer.bytes <= MIB)
    socket.write(`${head('/again', 'Content-Length: 5')}again`)
    await socket.until((text) => text.endsWith('\r\n\r\n5'))
    socket.destroy()
    assertNothingHeld()
  })

  it('a body that the budget of all bodies has no space for is refused with 503', async () => {
    const others = server.budget.bytesMax - 1000
    assert.ok(server.budget.take(others))
    const consumer = stream('/overloaded', new TestConsumer(() => false))
    const socket = await send('/overloaded', bodyOf(MIB))
    assert.match(await socket.until((text) => text.includes('busy')), /^HTTP\/1\.1 503 /)
    assert.equal(await consumer.ended(), 'abort overloaded')
    assert.equal(server.budget.used, others)
    server.budget.give(others)
    socket.destroy()
    assertNothingHeld()
  })

  it('a consumer that stays full for longer than the limit is aborted, and the client is answered 503', async () => {
    const consumer = stream('/stalled', new TestConsumer(() => false), BODY_MAX, 50)
    const socket = await send('/stalled', bodyOf(8 * MIB))
    assert.equal(await consumer.ended(), 'abort stalled')
    assert.match(await socket.until((text) => text.includes('busy')), /^HTTP\/1\.1 503 /)
    consumer.drained()
    assert.equal(consumer.chunks.length, 1)
    socket.destroy()
    assertNothingHeld()
  })

  it('a consumer that is full for longer than a body may take for its progress gets the whole body', async (test) => {
    const progressMsMax = 100
    const own = await ExchangeServer.start(8 * MIB, undefined, progressMsMax)
    test.after(() => own.close())
    const body = bodyOf(MIB)
    const consumer = new TestConsumer(() => false)
    own.handlers.set('/paused', (exchange) => {
      consumer.end = () => exchange.answer(textAnswer(`${consumer.bytes} bytes`))
      exchange.streamBody(consumer, BODY_MAX)
    })
    const socket = await own.open()
    test.after(() => socket.destroy())
    socket.write(head('/paused', `Content-Length: ${2 * body.length}`))
    socket.write(body)
    await consumer.events.until((events) => events.includes('write'))
    await new Promise((resolve) => setTimeout(resolve, 5 * progressMsMax))
    socket.write(body)
    consumer.takes = () => true
    consumer.drained()
    await socket.until((text) => text.includes(' bytes'))
    assert.match(socket.text, new RegExp(`${2 * body.length} bytes$`))
  })

  it('an answer before the end of the body aborts a full consumer, the rest is dropped, and the next request is read', async () => {
    const consumer = new TestConsumer(() => false)
    server.handlers.set('/early', (exchange) => {
      exchange.streamBody(consumer, BODY_MAX)
      void consumer.events.until((events) => events.includes('write')).then(() => exchange.answer(textAnswer('early')))
    })
    const socket = await send('/early', bodyOf(16 * MIB))
    socket.write(`${head('/after_early', 'Content-Length: 5')}after`)
    await socket.until((text) => text.endsWith('\r\n\r\n5'))
    assert.match(socket.text, /early/)
    assert.equal(await consumer.ended(), 'abort answered')
    socket.destroy()
    assertNothingHeld()
  })

  it('a consumer that throws ends its own request with 500', async () => {
    const throwing: Record<string, Partial<BodyConsumer>> = {
      '/throws_begin': { begin: fail },
      '/throws_write': { write: fail },
      '/throws_end': { end: fail },
    }
    for (const [path, methods] of Object.entries(throwing)) {
      const consumer = Object.assign(new TestConsumer(), methods)
      server.handlers.set(path, (exchange) => exchange.streamBody(consumer, BODY_MAX))
      const socket = await send(path, bodyOf(MIB))
      assert.match(await socket.until((text) => text.includes('fault')), /^HTTP\/1\.1 500 /, path)
      assert.deepEqual(server.log(path).events.all, ['fault', 'done 500'], path)
      socket.destroy()
    }
    assertNothingHeld()
  })

  it('a shutdown aborts open bodies, answers 503 and closes; a body that comes later is refused at once', async () => {
    const own = await ExchangeServer.start()
    const [full, quick, late] = [new TestConsumer(() => false), new TestConsumer(), new TestConsumer()]
    own.handlers.set('/full', (exchange) => exchange.streamBody(full, BODY_MAX))
    own.handlers.set('/quick', (exchange) => exchange.streamBody(quick, BODY_MAX))
    own.handlers.set('/late', (exchange) => exchange.streamBody(late, BODY_MAX))
    const sockets = await Promise.all([own.open(), own.open(), own.open()])
    for (const [at, path] of ['/full', '/quick'].entries()) sockets[at]!.write(head(path, 'Content-Length: 1000') + 'begin')
    for (const consumer of [full, quick]) await consumer.events.until((events) => events.includes('write'))
    own.streams.end()
    sockets[2].write(head('/late', 'Content-Length: 1000') + 'begin')
    for (const [at, consumer] of [full, quick, late].entries()) {
      assert.equal(await consumer.ended(), 'abort shutdown')
      assert.match(await sockets[at]!.until(() => false), /^HTTP\/1\.1 503 [^]*shutting down/)
    }
    assert.equal(own.budget.used, 0)
    assert.equal(own.streams.count, 0)
    own.close()
  })
})

function fail(): never {
  throw new Error('a fault of the consumer')
}
