/**
 * One keep-alive HTTP/1.1 connection for load. Requests are encoded before the clock starts, and answers are
 * delimited by Content-Length alone. This is much cheaper than a general client; on a small machine the
 * client's cost is part of the measured time. One request in flight per connection; loopback only.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'

const HEAD_END = Buffer.from('\r\n\r\n')
/** A page of 1 000 search results with their documents stays below this. */
const ANSWER_BYTES_MAX = 256 << 20

export interface RawAnswer {
  readonly status: number
  readonly body: Buffer
}

export class Connection {
  readonly #socket: Socket
  #chunks: Buffer[] = []
  #bytes = 0
  /** Size of the whole answer, head included; 0 while the head is not complete. */
  #wanted = 0
  #headBytes = 0
  #settle: { readonly resolve: (answer: RawAnswer) => void; readonly reject: (cause: Error) => void } | null = null

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', (cause) => this.#fail(cause))
    socket.on('close', () => this.#fail(new Error('connection closed')))
  }

  /** @param tls of a server with TLS */
  static async open(port: number, tls?: ConnectionOptions): Promise<Connection> {
    const target = { host: '127.0.0.1', port }
    const socket = tls === undefined ? connect(target) : connectTls({ ...target, ...tls })
    await once(socket, tls === undefined ? 'connect' : 'secureConnect')
    return new Connection(socket)
  }

  send(request: Buffer): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#settle !== null) throw new Error('a request is in flight')
      this.#settle = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#wanted === 0) this.#readHead()
    if (this.#wanted === 0 || this.#bytes < this.#wanted) return
    const whole = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const answer = { status: Number(whole.toString('latin1', 9, 12)), body: whole.subarray(this.#headBytes, this.#wanted) }
    this.#chunks = []
    this.#bytes = 0
    this.#wanted = 0
    const settle = this.#settle
    this.#settle = null
    settle?.resolve(answer)
  }

  #readHead(): void {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)]
    const head = this.#chunks[0]!
    const end = head.indexOf(HEAD_END)
    if (end < 0) return
    const length = /\r\ncontent-length: *(\d+)/iu.exec(head.toString('latin1', 0, end))?.[1]
    if (length === undefined) throw new Error('an answer without Content-Length')
    this.#headBytes = end + HEAD_END.length
    this.#wanted = this.#headBytes + Number(length)
    if (this.#wanted > ANSWER_BYTES_MAX) throw new Error(`an answer of ${this.#wanted} bytes`)
  }

  #fail(cause: Error): void {
    this.#settle?.reject(cause)
    this.#settle = null
  }
}

/** Returns the wire bytes of a POST with a JSON body. */
export function postBytes(path: string, json: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more.join('')}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(json)])
}

/** Returns the wire bytes of a GET. */
export function getBytes(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
}
