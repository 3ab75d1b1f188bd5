/**
 * A session of the handshake era: one client of one identity, from `initialize` to its end. It has the
 * requests in progress, so that `notifications/cancelled` finds them, and perhaps a stream to the client.
 */
import type { RequestId } from '../protocol/message.js'

/** A stream of server-sent events to the client of a session. */
export interface SessionStream {
  send(text: string): void
  close(): void
}

/** `streamable`: over `/mcp`; `sse`: over `/sse` and `/message`. */
export type Transport = 'streamable' | 'sse'

export class Session {
  /** Milliseconds, monotonic. */
  usedAt = performance.now()
  /** That of the transport until `initialize` agrees on one. */
  revision: string
  /** Least level of messages to the client. */
  logLevel: string
  readonly #running = new Map<RequestId, AbortController>()
  readonly #ended = new AbortController()
  #stream: SessionStream | null = null
  #isDraining = false

  constructor(
    readonly id: string,
    readonly transport: Transport,
    /** Who the session belongs to; nobody else can use it. */
    readonly identity: string,
    revision: string,
    logLevel: string,
  ) {
    this.revision = revision
    this.logLevel = logLevel
  }

  /** Aborts at its end. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  get stream(): SessionStream | null {
    return this.#stream
  }

  /** Whether something of the session is in progress, so that it is not idle. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.#stream !== null
  }

  get running(): number {
    return this.#running.size
  }

  touch(): void {
    this.usedAt = performance.now()
  }

  attach(stream: SessionStream): void {
    this.#stream = stream
    this.touch()
  }

  detach(stream: SessionStream): void {
    if (this.#stream === stream) this.#stream = null
    this.touch()
  }

  /** @returns false if a request with this id is in progress */
  begin(id: RequestId, controller: AbortController): boolean {
    if (this.#running.has(id)) return false
    this.#running.set(id, controller)
    this.touch()
    return true
  }

  finish(id: RequestId): void {
    this.#running.delete(id)
    this.touch()
    // After the response, which is sent in this turn of the event loop.
    if (this.#isDraining) setImmediate(() => this.#closeIfIdle())
  }

  /** Closes the stream: at once, or when the responses that it is for have been sent. */
  drain(): void {
    this.#isDraining = true
    this.#closeIfIdle()
  }

  #closeIfIdle(): void {
    if (this.transport === 'streamable' || this.#running.size === 0) this.#stream?.close()
  }

  cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#running.get(id)?.abort()
  }

  /** Cancels what is in progress, and closes the stream. */
  end(): void {
    this.#ended.abort()
    for (const controller of this.#running.values()) controller.abort()
    this.#stream?.close()
    this.#stream = null
  }
}
