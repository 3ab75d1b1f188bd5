/**
 * A bare TCP client for behaviour that an HTTP client does not offer: pipelining, partial requests, resets,
 * silence.
 */
import { connect, type Socket } from 'node:net'

export class RawSocket {
  readonly #socket: Socket
  #chunks: Buffer[] = []
  #length = 0
  #wake: () => void = () => undefined
  #closed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#length += chunk.length
      this.#wake()
    })
    // Tests provoke resets, so a reset is not a failure.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#closed = true
      this.#wake()
    })
  }

  static async open(port: number, host = '127.0.0.1'): Promise<RawSocket> {
    const socket = connect({ port, host })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new RawSocket(socket)
  }

  get isClosed(): boolean {
    return this.#closed
  }

  get text(): string {
    return this.#received().toString('latin1')
  }

  /** Chunks are joined on access: joining with every chunk would take longer than receiving megabytes. */
  #received(): Buffer {
    const joined = Buffer.concat(this.#chunks)
    this.#chunks = [joined]
    return joined
  }

  /** Bytes received so far. */
  get length(): number {
    return this.#length
  }

  /** Bytes written here that the kernel has not accepted, because the peer does not read. */
  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  endsWith(text: string): boolean {
    return this.#received().subarray(-text.length).toString('latin1') === text
  }

  write(data: string | Uint8Array): void {
    this.#socket.write(data)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends with RST instead of FIN. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Settles when the predicate is true for the received text, or the connection is closed. */
  async until(holds: (received: string) => boolean): Promise<string> {
    while (!holds(this.text) && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.text
  }
}

export function rawPost(path: string, body: string, headers = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`
}
