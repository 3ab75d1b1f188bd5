/**
 * A stream of server-sent events to one client. A client that reads too slowly is disconnected. Events have
 * no ids: a stream that breaks is not resumed, and a client repeats its request. Comments keep it alive.
 */
import type { ServerResponse } from 'node:http'
import { MCP_COUNTED_BYTES_MIN } from '../../../limits/surfaces.js'
import { KIB } from '../../../limits/units.js'
import type { SessionStream } from '../sessions/session.js'

/**
 * Bytes that a client has not read of a stream when a further event is to be sent. Above it, the client is
 * disconnected. One event may be longer.
 */
const MCP_STREAM_UNSENT_BYTES_MAX = 256 * KIB

const PULSE = ': keep-alive\n\n'
const HEADERS: readonly string[] = [
  'Content-Type', 'text/event-stream',
  'Cache-Control', 'no-cache, no-transform',
  'X-Accel-Buffering', 'no',
] // prettier-ignore

/** Milliseconds: between comments on an idle stream, and that a client may read nothing. */
export interface StreamTimes {
  readonly pulseMs: number
  readonly stallMs: number
}

/** Counts bytes that the client has not read. @returns gives them back, once; null: they are too many */
type CountUnsent = (bytes: number) => (() => void) | null

interface StreamParts {
  readonly times: StreamTimes
  readonly count: CountUnsent
  /** Called with each pulse. */
  readonly onPulse?: (() => void) | undefined
}

export class EventStream implements SessionStream {
  readonly #response: ServerResponse
  readonly #pulse: NodeJS.Timeout
  readonly #stallMs: number
  readonly #count: CountUnsent
  /** Bytes that have left, when the client was last seen reading. */
  #taken = 0
  #takenAt = performance.now()
  /** Called when the client has read what it was behind with. */
  onDrained: (() => void) | undefined

  /**
   * Writes the head.
   * @param headers name, value, name, value ...
   */
  constructor(response: ServerResponse, headers: readonly string[], { times, count, onPulse }: StreamParts) {
    this.#stallMs = times.stallMs
    this.#count = count
    this.#response = response
    response.writeHead(200, [...HEADERS, ...headers])
    response.flushHeaders()
    this.#pulse = setInterval(() => {
      this.#beat()
      onPulse?.()
    }, times.pulseMs).unref()
    response.once('close', () => clearInterval(this.#pulse))
    response.on('drain', () => this.onDrained?.())
  }

  /** @param text one JSON-RPC message, without line breaks */
  send(text: string): void {
    this.event('message', text)
  }

  event(name: string, text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return
    const bytes = Buffer.byteLength(text)
    const give = bytes < MCP_COUNTED_BYTES_MIN ? undefined : this.#count(bytes)
    if (give === null || this.#response.writableLength > MCP_STREAM_UNSENT_BYTES_MAX) this.#response.destroy()
    else this.#response.write(`event: ${name}\ndata: ${text}\n\n`, give)
  }

  /** @param bytes whole events. @returns false: the client is behind, and `onDrained` follows */
  write(bytes: Uint8Array): boolean {
    if (this.#response.writableEnded || this.#response.destroyed) return false
    return this.#response.write(bytes)
  }

  close(): void {
    clearInterval(this.#pulse)
    if (!this.#response.writableEnded) this.#response.end()
  }

  #beat(): void {
    const { socket, writableLength } = this.#response
    const taken = (socket?.bytesWritten ?? 0) - writableLength
    const now = performance.now()
    if (writableLength === 0 || taken > this.#taken) this.#takenAt = now
    this.#taken = taken
    if (now - this.#takenAt >= this.#stallMs) this.#response.destroy()
    else if (writableLength === 0) this.#response.write(PULSE)
  }
}
