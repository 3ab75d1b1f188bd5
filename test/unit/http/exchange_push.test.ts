/**
 * Pushed answers over real sockets: chunks are sent as they are produced, unsent bytes are bounded, and every
 * way in which an answer ends.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { PUSH_UNPROBED_BYTES_MAX, PUSH_UNSENT_BYTES_MAX } from '../../../src/surface/http/answer/pushed_answer.js'
import {
  ExchangeServer,
  MIB,
  pushedAnswer,
  pushedText,
  TestConsumer,
  TestProducer,
  textAnswer,
} from '../../harness/clients/exchange_server.js'
import type { RawSocket } from '../../harness/clients/raw_socket.js'

let server: ExchangeServer
before(async () => {
  server = await ExchangeServer.start()
})
after(() => server.close())

const PIECE = Buffer.alloc(64 * 1024, 'x')

/** Requests `path`, which the producer answers. */
async function ask(path: string, producer: TestProducer, method = 'GET', on = server): Promise<RawSocket> {
  on.handlers.set(path, (exchange) => exchange.answer(pushedAnswer(producer)))
  const socket = await on.open()
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  return socket
}

const hasText = (text: string) => (received: string) => pushedText(received).text === text
const isComplete = (received: string): boolean => pushedText(received).isComplete

/** Pushes until the socket is full; returns the number of chunks sent. */
function fill(producer: TestProducer): number {
  let pieces = 1
  while (producer.push!.write(PIECE)) pieces += 1
  return pieces
}

function assertNothingHeld(): void {
  assert.equal(server.unsent.used, 0)
  assert.equal(server.streams.count, 0)
}

describe('pushed answers', () => {
  it('the head leaves at once, every piece as it is pushed, and the end when the producer ends', async () => {
    const producer = new TestProducer()
    const socket = await ask('/pieces', producer)
    assert.match(await socket.until((text) => text.includes(':\n\n')), /^HTTP\/1\.1 200 [^]*Transfer-Encoding: chunked/)
    let text = ''
    for (const piece of ['one', 'two', 'three']) {
      assert.ok(producer.push!.write(Buffer.from(piece)))
      text += piece
      await socket.until(hasText(text))
    }
    producer.push!.write(new Uint8Array(0))
    producer.push!.end()
    await socket.until(isComplete)
    assert.deepEqual(server.log('/pieces').events.all, ['done 200'])
    assert.equal(producer.push!.write(PIECE), false)
    producer.push!.end()
    producer.push!.close()
    // The connection stays open.
    socket.write('GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await socket.until((received) => received.endsWith('\r\n\r\n0'))
    socket.destroy()
    assert.deepEqual(producer.events.all, ['attach'])
    assertNothingHeld()
  })

  it('a client that reads nothing is closed at the bound, its producer is detached once, and its bytes are freed', async () => {
    const producer = new TestProducer()
    const socket = await ask('/slow', producer)
    await producer.until('attach')
    socket.pause()
    fill(producer)
    let unsentMax = 0
    while (producer.detached.length === 0) {
      unsentMax = Math.max(unsentMax, server.unsent.used)
      assert.equal(producer.push!.write(PIECE), false)
    }
    assert.ok(unsentMax > PUSH_UNSENT_BYTES_MAX / 2 && unsentMax <= PUSH_UNSENT_BYTES_MAX, `${unsentMax} bytes`)
    assert.deepEqual(server.log('/slow').events.all, ['done 0'])
    socket.resume()
    assert.equal(pushedText(await socket.until(() => false)).isComplete, false)
    assert.deepEqual(producer.events.all, ['attach', 'detach slowClient'])
    assertNothingHeld()
  })

  it('small pieces are bounded, too: a client that reads none of them is closed, one that reads gets each at once', async () => {
    const small = Buffer.alloc(500, 'y')
    const producer = new TestProducer()
    const socket = await ask('/small', producer)
    await producer.until('attach')
    for (let pieces = 1; pieces * small.length < 2 * PUSH_UNPROBED_BYTES_MAX; pieces++) {
      assert.ok(producer.push!.write(small))
      if (pieces % 100 === 1) await socket.until((received) => pushedText(received).text.length === pieces * small.length)
    }
    assert.ok(socket.length < 1.1 * 2 * PUSH_UNPROBED_BYTES_MAX, 'probes are few')
    socket.pause()
    let bytes = 0
    while (producer.detached.length === 0) {
      producer.push!.write(small)
      bytes += small.length
      assert.ok(server.unsent.used <= PUSH_UNSENT_BYTES_MAX && bytes < 64 * MIB)
    }
    assert.deepEqual(producer.detached, ['detach slowClient'])
    socket.destroy()
    assertNothingHeld()
  })

  it('a client that takes nothing for the stall limit is closed', async () => {
    const own = await ExchangeServer.start(MIB, 50)
    const producer = new TestProducer()
    const socket = await ask('/stalled', producer, 'GET', own)
    await producer.until('attach')
    socket.pause()
    fill(producer)
    await producer.until('detach slowClient')
    assert.equal(own.unsent.used, 0)
    socket.destroy()
    own.close()
  })

  it('a client that was behind gets every byte without a further push, and the producer is notified that it has caught up', async () => {
    const producer = new TestProducer()
    const socket = await ask('/behind', producer)
    await producer.until('attach')
    socket.pause()
    const pieces = fill(producer) + 3
    for (let more = 0; more < 3; more++) assert.equal(producer.push!.write(PIECE), false)
    assert.ok(server.unsent.used >= 4 * PIECE.length)
    socket.resume()
    await producer.until('drained')
    assert.equal(server.unsent.used, 0)
    await socket.until((received) => pushedText(received).text.length === pieces * PIECE.length)
    assert.deepEqual(producer.events.all, ['attach', 'drained'])
    producer.push!.close()
    assert.equal(pushedText(await socket.until(() => false)).isComplete, false)
    assertNothingHeld()
  })

  it('an end waits until the client has read the pushed bytes', async () => {
    const producer = new TestProducer()
    const socket = await ask('/tail', producer)
    await producer.until('attach')
    socket.pause()
    const pieces = fill(producer) + 1
    producer.push!.write(PIECE)
    producer.push!.end()
    assert.deepEqual(server.log('/tail').events.all, [])
    socket.resume()
    assert.equal(pushedText(await socket.until(isComplete)).text.length, pieces * PIECE.length)
    assert.deepEqual(server.log('/tail').events.all, ['done 200'])
    socket.destroy()
    assert.deepEqual(producer.events.all, ['attach'])
    assertNothingHeld()
  })

  it('a client that goes detaches its producer once, in quiet, in the middle of a piece, and after the end not at all', async () => {
    const quiet = new TestProducer()
    const quietSocket = await ask('/quiet', quiet)
    await quiet.until('attach')
    quietSocket.destroy()
    await quiet.until('detach clientGone')

    const full = new TestProducer()
    const fullSocket = await ask('/full', full)
    await full.until('attach')
    fullSocket.pause()
    fill(full)
    fullSocket.reset()
    await full.until('detach clientGone')
    assert.equal(full.push!.write(PIECE), false)

    const ended = new TestProducer()
    const endedSocket = await ask('/ended', ended)
    await ended.until('attach')
    endedSocket.pause()
    fill(ended)
    ended.push!.end()
    endedSocket.reset()
    await server.log('/ended').events.until((events) => events.includes('done 0'))
    assert.deepEqual([quiet, full, ended].map(({ detached }) => detached.length), [1, 1, 0]) // prettier-ignore
    assertNothingHeld()
  })

  it('a shutdown ends pushed answers in order, those of slow clients after they have read, and refuses new ones', async () => {
    const own = await ExchangeServer.start()
    const [quick, slow, late] = [new TestProducer(), new TestProducer(), new TestProducer()]
    const quickSocket = await ask('/quick', quick, 'GET', own)
    const slowSocket = await ask('/slow', slow, 'GET', own)
    await Promise.all([quick.until('attach'), slow.until('attach')])
    quick.push!.write(Buffer.from('last'))
    slowSocket.pause()
    const pieces = fill(slow)
    own.streams.end()
    assert.deepEqual(own.log('/quick').events.all, ['done 200'])
    assert.deepEqual(own.log('/slow').events.all, [])
    assert.equal(pushedText(await quickSocket.until(isComplete)).text, 'last')
    slowSocket.resume()
    assert.equal(pushedText(await slowSocket.until(isComplete)).text.length, pieces * PIECE.length)
    for (const producer of [quick, slow]) assert.deepEqual(producer.events.all, ['attach', 'detach shutdown'])
    assert.deepEqual([own.unsent.used, own.streams.count], [0, 0])
    const lateSocket = await ask('/late', late, 'GET', own)
    assert.match(await lateSocket.until((text) => text.includes('shutting down')), /^HTTP\/1\.1 503 /)
    assert.deepEqual(late.events.all, ['detach shutdown'])
    for (const socket of [quickSocket, slowSocket, lateSocket]) socket.destroy()
    own.close()
  })

  it('HEAD gets the head and attaches nothing', async () => {
    const producer = new TestProducer()
    const socket = await ask('/head', producer, 'HEAD')
    socket.write('GET /after_head HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert.match(await socket.until((text) => text.endsWith('\r\n\r\n0')), /^HTTP\/1\.1 200 OK\r\nContent-Type: text\/plain\r\n/)
    assert.deepEqual(producer.events.all, ['detach clientGone'])
    socket.destroy()
    assertNothingHeld()
  })

  it('a producer that throws ends its own connection', async () => {
    const producer = new TestProducer()
    producer.attach = () => {
      throw new Error('a fault of the producer')
    }
    const socket = await ask('/fault', producer)
    assert.equal(pushedText(await socket.until(() => false)).isComplete, false)
    assert.deepEqual(server.log('/fault').events.all, ['done 0', 'fault'])
    assertNothingHeld()
  })

  it('a quiet answer and a paused body outlive the ten seconds after which uWS gives a silent connection up', async () => {
    const producer = new TestProducer()
    const socket = await ask('/long', producer)
    await producer.until('attach')
    const consumer = new TestConsumer(() => false)
    server.handlers.set('/long_body', (exchange) => {
      consumer.end = () => exchange.answer(textAnswer('taken'))
      exchange.streamBody(consumer, 64 * MIB)
    })
    const sender = await server.open()
    sender.write(`POST /long_body HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${16 * MIB}\r\n\r\n`)
    sender.write(Buffer.alloc(16 * MIB))
    await consumer.events.until((events) => events.includes('write'))
    // One immediately, then one every 3 s: 15 s.
    await socket.until((text) => text.split(':\n\n').length > 6)
    consumer.takes = () => true
    consumer.drained()
    assert.match(await sender.until((text) => text.includes('taken')), /^HTTP\/1\.1 200 /)
    producer.push!.end()
    await socket.until(isComplete)
    socket.destroy()
    sender.destroy()
    assertNothingHeld()
  })
})
