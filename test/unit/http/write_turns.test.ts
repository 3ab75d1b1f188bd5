/** Large answers share the turns of an event loop, over real sockets; and the rules of turns alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LARGE_FIRST_BYTES, LargeAnswer, type LargeSocket } from '../../../src/surface/http/answer/large_answer.js'
import { ByteBudget } from '../../../src/surface/http/bounds/byte_budget.js'
import { LARGE_WRITES_OF_TURN_BYTES_MAX, WriteTurns } from '../../../src/surface/http/bounds/write_turns.js'
import { ExchangeServer, MIB, textAnswer } from '../../harness/clients/exchange_server.js'

const nextTurn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))

describe('turns of large answers', () => {
  it('a turn grants so many bytes in all, the next one as many again; what a socket refused is granted to others', async () => {
    const turns = new WriteTurns()
    assert.equal(turns.take(LARGE_WRITES_OF_TURN_BYTES_MAX - 10), LARGE_WRITES_OF_TURN_BYTES_MAX - 10)
    assert.equal(turns.take(50), 10)
    assert.equal(turns.take(50), 0)
    turns.give(7)
    assert.equal(turns.take(50), 7)
    await nextTurn()
    assert.equal(turns.take(2 * LARGE_WRITES_OF_TURN_BYTES_MAX), LARGE_WRITES_OF_TURN_BYTES_MAX)
  })

  it('who waits goes on in later turns, the oldest first, and not once it has left', async () => {
    const turns = new WriteTurns()
    const order: string[] = []
    const writer = (name: string, bytes: number) => (): void => {
      order.push(name)
      turns.take(bytes)
    }
    const gone = writer('gone', 1)
    turns.take(LARGE_WRITES_OF_TURN_BYTES_MAX)
    turns.wait(writer('first', LARGE_WRITES_OF_TURN_BYTES_MAX - 1))
    turns.wait(gone)
    turns.wait(writer('second', 1))
    turns.wait(writer('third', 1))
    turns.leave(gone)
    assert.deepEqual(order, [])
    await nextTurn()
    assert.deepEqual(order, ['first', 'second'])
    await nextTurn()
    assert.deepEqual(order, ['first', 'second', 'third'])
  })
})

/** A socket that accepts everything, and counts what it gets in each turn of the event loop. */
class FastSocket implements LargeSocket {
  static pieces: number[] = []
  readonly received: Uint8Array[] = []
  #bytes = 0

  constructor(
    readonly length: number,
    readonly ended: () => void,
  ) {}

  write(piece: Uint8Array): number {
    FastSocket.pieces.push(piece.length)
    this.received.push(new Uint8Array(piece))
    this.#bytes += piece.length
    if (this.#bytes === this.length) this.ended()
    return this.#bytes
  }

  close(): void {
    assert.fail('closed')
  }
}

describe('large answers', () => {
  it('two answers of many megabytes write no more in a turn than the bound, and each arrives whole, also from memory that is used again', async () => {
    const bytes = 3 * LARGE_WRITES_OF_TURN_BYTES_MAX
    const budget = new ByteBudget(4 * bytes)
    const turns = new WriteTurns()
    let ended = 0
    const sockets = [1, 2].map((value) => {
      const shared = new Uint8Array(new SharedArrayBuffer(bytes)).fill(value)
      const socket = new FastSocket(bytes, () => ended++)
      assert.ok(new LargeAnswer(socket, shared, null, budget, turns).begin())
      shared.fill(9)
      return socket
    })
    assert.ok(budget.used > 0)
    while (ended < sockets.length) {
      const written = FastSocket.pieces.splice(0).reduce((sum, piece) => sum + piece, 0)
      assert.ok(written <= LARGE_WRITES_OF_TURN_BYTES_MAX + LARGE_FIRST_BYTES, `${written} bytes in a turn`)
      await nextTurn()
    }
    for (const [at, { received }] of sockets.entries()) assert.ok(Buffer.concat(received).equals(Buffer.alloc(bytes, at + 1)))
    assert.equal(budget.used, 0)
  })

  it('memory of a body that has no other user is free with the end of the answer, and with that of its client', async () => {
    const bytes = 2 * LARGE_WRITES_OF_TURN_BYTES_MAX
    const turns = new WriteTurns()
    const [whole, cutOff, kept] = [1, 2, 3].map((value) => new Uint8Array(bytes).fill(value))
    let ended = 0
    const begun = (body: Uint8Array, owned: ArrayBuffer | null): LargeAnswer => {
      const answer = new LargeAnswer(new FastSocket(bytes, () => ended++), body, owned, new ByteBudget(bytes), turns)
      assert.ok(answer.begin())
      return answer
    }
    begun(whole!, whole!.buffer)
    const gone = begun(cutOff!, cutOff!.buffer)
    begun(kept!, null)
    assert.equal(whole!.length, bytes)
    gone.abandon()
    assert.equal(cutOff!.length, 0)
    while (ended < 2) await nextTurn()
    assert.equal(whole!.length, 0)
    assert.equal(kept!.length, bytes)
  })

  it('over real sockets: eight at once arrive whole, and nothing stays counted', async () => {
    const body = `${'x'.repeat(4 * MIB)}#end`
    const server = await ExchangeServer.start()
    server.handlers.set('/large', (exchange) => exchange.answer(textAnswer(body)))
    const sockets = await Promise.all(Array.from({ length: 8 }, async () => await server.open()))
    for (const socket of sockets) socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n')
    for (const socket of sockets) {
      await socket.until(() => socket.endsWith('#end'))
      assert.ok(socket.text.endsWith(`\r\n\r\n${body}`))
    }
    assert.equal(server.unsent.used, 0)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
})
