/**
 * One HTTP request and its answer: owns uWS's response. Front-end thread only.
 *
 * uWS kills a response on abort and on a successful end, and touching a dead one ends the process. So the
 * response lives in one field that is nulled in both cases, and every use goes through that field. The states
 * say what may happen: reading -> waiting -> writing -> done, reading -> writing for a request that is
 * refused, and done from everywhere by abort. The head is read by request_head.ts, the body by
 * request_body.ts, the answer is written by answer_writer.ts.
 */
import assert from 'node:assert/strict'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { ErrorCode } from '../../errors.js'
import { BODY_STALL_MS_MAX } from '../../limits/surface.js'
import type { BodyConsumer } from '../../wire/body_streams.js'
import { endAtOnce, sendBody, writeHead, type AnswerChannel, type BodySender } from './answer_writer.js'
import type { ByteBudget } from './byte_budget.js'
import { httpRefusal, type HttpAnswer } from './http_answer.js'
import { isLoopbackAddress } from './local_guard.js'
import type { OpenStreams } from './open_streams.js'
import { leavesTooMuch, RequestBody, type BodyOwner } from './request_body.js'
import { readHead, type RequestHead } from './request_head.js'

/** Receives the events of an exchange. Each is called at most once. */
export interface ExchangeListener {
  /** The body that `readBody` was to read is complete; the exchange now waits for `answer`. */
  onBody(exchange: Exchange, body: Uint8Array | null): void
  /** The client has gone before it was answered. */
  onAborted(exchange: Exchange): void
  /** A programming error while the body was read: the end of this request only. */
  onFault(exchange: Exchange, error: unknown): void
  /** Answered, or given up: the end of every exchange. `status` 0: the client had gone. */
  onDone(exchange: Exchange, status: number, bodyBytes: number): void
}

export class Exchange implements BodyOwner, RequestHead {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly isMisframed: boolean
  readonly origin: string
  readonly host: string
  readonly fetchSite: string
  readonly fetchMode: string
  readonly fetchDest: string
  readonly referer: string
  readonly contentType: string
  readonly acceptsGzip: boolean
  readonly acceptsBrotli: boolean
  readonly ifNoneMatch: string
  readonly declaredBytes: number
  /** Address of the other end in text; empty where nobody asked for it, and for a unix socket. */
  readonly peer: string
  /** Milliseconds, monotonic. */
  readonly acceptedAt = performance.now()
  #response: HttpResponse | null
  #state: 'reading' | 'waiting' | 'writing' | 'done' = 'reading'
  #closes = false
  /** Null where it is not read. */
  #body: RequestBody | null = null
  /** An answer that goes on after its head. */
  #sender: BodySender | null = null

  constructor(
    response: HttpResponse,
    request: HttpRequest,
    readonly listener: ExchangeListener,
    readonly budget: ByteBudget,
    /** Of what clients have not taken yet of their answers. */
    readonly unsent: ByteBudget,
    /** Headers of every answer: name, value ... Set by the surface before it answers. */
    public commonHeaders: readonly string[],
    /** How long a client may take nothing of an answer that comes in parts or is pushed. */
    readonly stallMsMax: number,
    readsPeer: boolean,
    /** What the shutdown ends: streamed bodies and pushed answers. */
    readonly streams: OpenStreams,
  ) {
    this.#response = response
    // First of all: a handler that returns without an abort handler ends the process.
    response.onAborted(() => this.#abort())
    const head = readHead(request)
    this.method = head.method
    this.path = head.path
    this.query = head.query
    this.isMisframed = head.isMisframed
    this.origin = head.origin
    this.host = head.host
    this.fetchSite = head.fetchSite
    this.fetchMode = head.fetchMode
    this.fetchDest = head.fetchDest
    this.referer = head.referer
    this.contentType = head.contentType
    this.acceptsGzip = head.acceptsGzip
    this.acceptsBrotli = head.acceptsBrotli
    this.ifNoneMatch = head.ifNoneMatch
    this.declaredBytes = head.declaredBytes
    this.peer = readsPeer ? this.peerText() : ''
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /**
   * Collects the body and calls `onBody`, or answers 413 or 503 itself. Must be called in the turn in which
   * the exchange was made.
   */
  readBody(bytesMax: number): void {
    assert(this.#state === 'reading' && this.#body === null, 'a body is read once')
    if (this.declaredBytes === 0) this.wholeBodyRead(null)
    else this.#newBody()?.readWhole(bytesMax)
  }

  /**
   * Hands the body to `consumer` as it comes, or answers 413 or 503 itself after `consumer.abort`. A full
   * consumer pauses the socket. After `consumer.end` the exchange waits for `answer`; an earlier answer
   * aborts the consumer and drops the rest of the body. Must be called in the turn in which the exchange was
   * made.
   * @param stallMsMax how long the consumer may stay full
   */
  streamBody(consumer: BodyConsumer, bytesMax: number, stallMsMax: number = BODY_STALL_MS_MAX): void {
    assert(this.#state === 'reading' && this.#body === null, 'a body is read once')
    this.#newBody()?.stream(consumer, bytesMax, stallMsMax)
  }

  /** Text; empty for a unix socket. */
  peerText(): string {
    return this.#response === null ? '' : Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1')
  }

  isPeerLoopback(): boolean {
    return this.#response !== null && isLoopbackAddress(new Uint8Array(this.#response.getRemoteAddress()))
  }

  /** Answers, and reads nothing more from the connection. */
  answerAndClose(answer: HttpAnswer): void {
    this.#closes = true
    this.answer(answer)
  }

  answer(answer: HttpAnswer): void {
    const response = this.#response
    if (response === null) return
    assert(this.#state !== 'writing' && this.#state !== 'done', 'an exchange is answered once')
    const closes = this.#closes || (this.#state !== 'waiting' && leavesTooMuch(this.declaredBytes, this.#body?.received ?? 0))
    const given = answer.push !== undefined && this.streams.isEnding ? httpRefusal('shuttingDown') : answer
    this.#state = 'writing'
    this.#body?.release('answered')
    response.cork(() => {
      writeHead(response, given, this.commonHeaders)
      const bytes = endAtOnce(response, given, this.method, closes)
      if (bytes >= 0) this.#finish(given.status, bytes)
      else this.#sender = sendBody(response, given, this.#channel())
    })
    this.#sender?.begin?.()
  }

  #channel(): AnswerChannel {
    return {
      live: () => this.#response,
      finish: (status, bytes) => this.#finish(status, bytes),
      fault: (error) => this.#fault(error),
      unsent: this.unsent,
      streams: this.streams,
      stallMsMax: this.stallMsMax,
    }
  }

  /** Null: the client has gone. */
  #newBody(): RequestBody | null {
    if (this.#response !== null) this.#body = new RequestBody(this, this.#response)
    return this.#body
  }

  /** For request_body.ts, like the three that follow. */
  wholeBodyRead(body: Uint8Array | null): void {
    this.#state = 'waiting'
    this.listener.onBody(this, body)
  }

  bodyStreamed(): void {
    this.#state = 'waiting'
  }

  bodyRefused(code: ErrorCode, closes: boolean): void {
    if (closes) this.answerAndClose(httpRefusal(code))
    else this.answer(httpRefusal(code))
  }

  bodyFault(error: unknown): void {
    this.#fault(error)
  }

  #fault(error: unknown): void {
    // Too late for a status: the client sees that the body stays incomplete.
    if (this.#state === 'writing') this.#response?.close()
    this.listener.onFault(this, error)
  }

  #abort(): void {
    const waited = this.#state === 'waiting'
    const done = this.#state === 'done'
    this.#response = null
    this.#state = 'done'
    this.#body?.release('clientGone')
    this.#sender?.abandon()
    if (done) return
    if (waited) this.listener.onAborted(this)
    this.listener.onDone(this, 0, 0)
  }

  #finish(status: number, bytes: number): void {
    this.#response = null
    this.#state = 'done'
    this.listener.onDone(this, status, bytes)
  }
}
