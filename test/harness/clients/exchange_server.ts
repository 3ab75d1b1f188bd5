/**
 * A real uWS App on a loopback port. A test registers handlers by path, which receive requests as exchanges
 * with separate budgets, and reads the events of each exchange. Clients are real sockets on the same loop.
 */
import type { us_listen_socket } from 'uWebSockets.js'
import { SpareBuffers } from '../../../src/dispatch/port/spare_buffers.js'
import { BODY_PROGRESS_MS_MAX } from '../../../src/limits/surfaces.js'
import type { HttpAnswer } from '../../../src/surface/http/answer/http_answer.js'
import { BodyWatch } from '../../../src/surface/http/bounds/body_watch.js'
import { ByteBudget } from '../../../src/surface/http/bounds/byte_budget.js'
import { OpenStreams } from '../../../src/surface/http/bounds/open_streams.js'
import { WriteTurns } from '../../../src/surface/http/bounds/write_turns.js'
import { uWS } from '../../../src/surface/http/connections/uws.js'
import { Exchange, type ExchangeListener } from '../../../src/surface/http/exchange.js'
import type { BodyAbortReason, BodyConsumer, BodyPush, DetachReason, PushedBody } from '../../../src/wire/body_streams.js'
import { RawSocket } from './raw_socket.js'

export const MIB = 2 ** 20

/** A list of events and its waiters. Nothing polls. */
export class Events<Event> {
  readonly all: Event[] = []
  readonly #wake: (() => void)[] = []

  push(event: Event): void {
    this.all.push(event)
    for (const wake of this.#wake.splice(0)) wake()
  }

  async until(holds: (all: readonly Event[]) => boolean): Promise<readonly Event[]> {
    while (!holds(this.all)) await new Promise<void>((resolve) => this.#wake.push(resolve))
    return this.all
  }
}

export class Log implements ExchangeListener {
  readonly events = new Events<string>()
  readonly faults: unknown[] = []

  onBody(exchange: Exchange, body: Uint8Array | null): void {
    this.events.push('body')
    exchange.answer(textAnswer(`${body?.length ?? 0}`))
  }
  onAborted(): void {
    this.events.push('aborted')
  }
  onFault(exchange: Exchange, error: unknown): void {
    this.faults.push(error)
    this.events.push('fault')
    if (!exchange.isDone) exchange.answer({ ...textAnswer('fault'), status: 500 })
  }
  onDone(_exchange: Exchange, status: number): void {
    this.events.push(`done ${status}`)
  }
}

export function textAnswer(body: string): HttpAnswer {
  return { status: 200, contentType: 'text/plain', headers: [], gzip: false, body }
}

export function pushedAnswer(push: PushedBody): HttpAnswer {
  return { ...textAnswer(''), push }
}

export class ExchangeServer {
  readonly budget: ByteBudget
  readonly unsent = new ByteBudget(64 * MIB)
  readonly streams = new OpenStreams()
  /** Handlers by path. Other paths read the whole body and answer its length. */
  readonly handlers = new Map<string, (exchange: Exchange) => void>()
  readonly logs = new Map<string, Log>()
  readonly #app = uWS.App()
  port = 0

  private constructor(bodyBytesMax: number, stallMsMax: number, progressMsMax: number) {
    this.budget = new ByteBudget(bodyBytesMax)
    const loop = {
      bodies: this.budget,
      receiving: new BodyWatch(progressMsMax),
      unsent: this.unsent,
      spare: new SpareBuffers(8 * MIB),
      turns: new WriteTurns(),
      streams: this.streams,
      stallMsMax,
      readsAgent: false,
      isLeaving: () => false,
      isBehindGate: false,
    }
    this.#app.any('/*', (response, request) => {
      const log = new Log()
      const exchange = new Exchange(response, request, log, loop, [], false)
      this.logs.set(exchange.path, log)
      const handler = this.handlers.get(exchange.path)
      if (handler === undefined) exchange.readBody(MIB)
      else handler(exchange)
    })
  }

  static async start(bodyBytesMax = 8 * MIB, stallMsMax = 60_000, progressMsMax = BODY_PROGRESS_MS_MAX): Promise<ExchangeServer> {
    const server = new ExchangeServer(bodyBytesMax, stallMsMax, progressMsMax)
    const socket = await new Promise<us_listen_socket | false>((resolve) => server.#app.listen(0, 1, resolve))
    if (socket === false) throw new Error('no port')
    server.port = uWS.us_socket_local_port(socket)
    return server
  }

  open(): Promise<RawSocket> {
    return RawSocket.open(this.port)
  }

  log(path: string): Log {
    return this.logs.get(path)!
  }

  /** Turns of the loop, in which pending work of other sockets also proceeds. */
  async turns(rounds = 20): Promise<void> {
    const socket = await this.open()
    for (let round = 1; round <= rounds; round++) {
      socket.write('GET /turn HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await socket.until((text) => text.split('HTTP/1.1 200').length > round)
    }
    socket.destroy()
  }

  close(): void {
    ;(this.#app as unknown as { close(): void }).close()
  }
}

/** Records its events; reports that it is full according to `takes`. */
export class TestConsumer implements BodyConsumer {
  readonly events = new Events<string>()
  readonly chunks: Uint8Array[] = []
  bytes = 0
  drained: () => void = () => undefined
  reason: BodyAbortReason | null = null

  constructor(public takes: (chunk: Uint8Array) => boolean = () => true) {}

  begin(drained: () => void): void {
    this.drained = drained
    this.events.push('begin')
  }
  write(chunk: Uint8Array): boolean {
    this.chunks.push(new Uint8Array(chunk))
    this.bytes += chunk.length
    const isTaken = this.takes(chunk)
    this.events.push('write')
    return isTaken
  }
  end(): void {
    this.events.push('end')
  }
  abort(reason: BodyAbortReason): void {
    this.reason = reason
    this.events.push(`abort ${reason}`)
  }

  /** The final event: `end`, or `abort` with its reason. It occurs once, and nothing follows it. */
  async ended(): Promise<string> {
    const all = await this.events.until((events) => events.some((event) => event === 'end' || event.startsWith('abort')))
    return all.slice(all.findIndex((event) => event === 'end' || event.startsWith('abort'))).join(', ')
  }
}

/** Its pulses are comments of server-sent events. */
export class TestProducer implements PushedBody {
  readonly pulse = Buffer.from(':\n\n')
  readonly events = new Events<string>()
  push: BodyPush | null = null

  attach(push: BodyPush): void {
    this.push = push
    this.events.push('attach')
  }
  detach(reason: DetachReason): void {
    this.events.push(`detach ${reason}`)
  }
  drained(): void {
    this.events.push('drained')
  }

  async until(event: string): Promise<void> {
    await this.events.until((all) => all.includes(event))
  }
  get detached(): string[] {
    return this.events.all.filter((event) => event.startsWith('detach'))
  }
}

/** The content of a chunked answer so far without pulses, and whether its last chunk has arrived. */
export function pushedText(received: string): { readonly text: string; readonly isComplete: boolean } {
  let at = received.indexOf('\r\n\r\n') + 4
  let text = ''
  while (at > 3) {
    const end = received.indexOf('\r\n', at)
    if (end < 0) break
    const bytes = parseInt(received.slice(at, end), 16)
    if (bytes === 0) return { text: text.replaceAll(':\n\n', ''), isComplete: true }
    if (Number.isNaN(bytes) || end + 2 + bytes > received.length) break
    text += received.slice(end + 2, end + 2 + bytes)
    at = end + 2 + bytes + 2
  }
  return { text: text.replaceAll(':\n\n', ''), isComplete: false }
}
