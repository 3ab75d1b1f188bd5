/**
 * One HTTP request and its answer. Owns uWS's response. Front-end thread only.
 *
 * uWS invalidates a response on abort and on a successful end, and using an invalid one crashes the process.
 * So the response is stored in one field that is set to null in both cases, and every use goes through that
 * field. The state transitions are: reading -> waiting -> writing -> done, reading -> writing for a request
 * that is refused, and from every state to done by abort. The connection closes behind the answer to a
 * chunked request (docs/decisions/interfaces/http-connections.md), and to each while the server shuts down
 * (0279). The head is read by request_head.ts, the body by request_body.ts, the answer is written by
 * answer_writer.ts.
 */
import assert from 'node:assert/strict'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { addressKey, addressKeyOf } from '../../access/client_key.js'
import type { RequestClient } from '../../dispatch/surface.js'
import type { ErrorCode } from '../../errors.js'
import { ownedBufferOf, releaseAnswer } from '../../wire/answer.js'
import type { BodyConsumer } from '../../wire/body_streams.js'
import { type AnswerChannel, type BodySender, endAtOnce, sendBody, writeHead } from './answer/answer_writer.js'
import { type HttpAnswer, httpRefusal } from './answer/http_answer.js'
import { type BodyOwner, dropBody, leavesTooMuch, RequestBody } from './body/request_body.js'
import type { LoopResources } from './bounds/loop_resources.js'
import { RequestHead } from './request_head.js'
import { thisMachine } from './this_machine.js'
import { TrustedProxies } from './trusted_proxies.js'

/**
 * A consumer that keeps a chunk of a streamed request body for this long ends its request. The client's
 * socket is paused during that time, so no other mechanism would end the request.
 */
const BODY_STALL_MS_MAX = 30_000

const NO_PROXIES = new TrustedProxies([])
const NO_ADDRESS = new Uint8Array(0)

/** Receives the events of an exchange. Each is called at most once. */
export interface ExchangeListener {
  /** The body requested by `readBody` is complete; the exchange now waits for `answer`. */
  onBody(exchange: Exchange, body: Uint8Array | null): void
  /** The client has disconnected before it was answered. */
  onAborted(exchange: Exchange): void
  /** A programming error while the body was read. It ends this request only. */
  onFault(exchange: Exchange, error: unknown): void
  /** The end of every exchange: it was answered or aborted. `status` 0: the client had disconnected. */
  onDone(exchange: Exchange, status: number, bodyBytes: number): void
}

export class Exchange extends RequestHead implements BodyOwner, RequestClient {
  /** Address of the peer as text; empty if it was not requested, and for a unix socket. */
  readonly peer: string
  /** Milliseconds, monotonic. */
  readonly acceptedAt = performance.now()
  /** Set by the surface: the proxies that it trusts. */
  proxies: TrustedProxies | null = null
  #clientAddress: string | null = null
  #response: HttpResponse | null
  #state: 'reading' | 'waiting' | 'writing' | 'done' = 'reading'
  #closes = false
  /** An answer that is written when the body has been read. */
  #kept: HttpAnswer | null = null
  /** Null if the body is not read. */
  #body: RequestBody | null = null
  /** Sends an answer that continues after its head. */
  #sender: BodySender | null = null

  constructor(
    response: HttpResponse,
    request: HttpRequest,
    readonly listener: ExchangeListener,
    readonly loop: LoopResources,
    /** Headers of every answer: name, value ... Set by the surface before it answers. */
    public commonHeaders: readonly string[],
    readsPeer: boolean,
  ) {
    super(request, loop.readsAgent)
    this.#response = response
    // uWS ends the process if a handler returns without having set an abort handler.
    response.onAborted(() => this.#abort())
    this.peer = readsPeer ? this.peerText() : ''
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /**
   * Collects the body and calls `onBody`, or answers 413 or 503 itself. Must be called in the turn of the
   * event loop in which the exchange was created.
   */
  readBody(bytesMax: number): void {
    assert(this.#state === 'reading' && this.#body === null, 'a body is read once')
    if (this.declaredBytes === 0) this.wholeBodyRead(null)
    else this.#newBody()?.readWhole(bytesMax)
  }

  /**
   * Passes the body to `consumer` while it arrives, or answers 413 or 503 itself after `consumer.abort`. A
   * full consumer pauses the socket. After `consumer.end` the exchange waits for `answer`; an earlier answer
   * aborts the consumer and discards the rest of the body. Must be called in the turn of the event loop in
   * which the exchange was created.
   * @param stallMsMax how long the consumer may stay full
   */
  streamBody(consumer: BodyConsumer, bytesMax: number, stallMsMax: number = BODY_STALL_MS_MAX): void {
    assert(this.#state === 'reading' && this.#body === null, 'a body is read once')
    this.#newBody()?.stream(consumer, bytesMax, stallMsMax)
  }

  /** Returns the address of the peer as text; empty for a unix socket. */
  peerText(): string {
    const response = this.#response
    if (response === null) return ''
    return Buffer.from(this.loop.isBehindGate ? response.getProxiedRemoteAddressAsText() : response.getRemoteAddressAsText()).toString(
      'latin1',
    )
  }

  /** Returns the address of the client, which may be behind trusted proxies; empty if it is not known. */
  clientAddress(): string {
    return (this.#clientAddress ??= (this.proxies ?? NO_PROXIES).clientOf(
      this.peer === '' ? this.peerText() : this.peer,
      this.forwardedFor,
    ))
  }

  /** Returns the text under which the address of the client is counted. */
  addressKey(): string {
    if (this.proxies !== null) return addressKey(this.clientAddress())
    return addressKeyOf(this.#peerBytes())
  }

  userAgent(): string {
    return this.agent
  }

  isPeerLocal(): boolean {
    return thisMachine.isPeer(this.peerText())
  }

  #peerBytes(): Uint8Array {
    const response = this.#response
    if (response === null) return NO_ADDRESS
    return new Uint8Array(this.loop.isBehindGate ? response.getProxiedRemoteAddress() : response.getRemoteAddress())
  }

  /** Answers, and reads no further requests from the connection. */
  answerAndClose(answer: HttpAnswer): void {
    this.#closes = true
    this.answer(answer)
  }

  answer(answer: HttpAnswer): void {
    const response = this.#response
    if (response === null) return answer.push?.detach('clientGone')
    assert(this.#state !== 'writing' && this.#state !== 'done', 'an exchange is answered once')
    const isChunked = this.declaredBytes < 0
    const isUnread = this.#state === 'reading' && this.#body === null && this.declaredBytes !== 0
    const isLeaving = this.loop.isLeaving()
    const isLate = !this.#closes && (isChunked || (isLeaving && isUnread))
    this.#closes ||= isChunked || isLeaving || (this.#state !== 'waiting' && leavesTooMuch(this.declaredBytes, this.#body?.received ?? 0))
    const isTooLate = answer.push !== undefined && this.loop.streams.isEnding
    if (isTooLate) answer.push?.detach('shutdown')
    const given = isTooLate ? httpRefusal('shuttingDown') : answer
    this.#state = 'writing'
    this.#body?.release('answered')
    if (isLate) this.#writeBehindBody(response, given, isUnread)
    else this.#write(response, given)
  }

  /**
   * Answers when the bytes of the body have been read, and not while uWS parses them: a request that comes
   * behind the body in the same packet then meets a request without an answer, so uWS closes the connection.
   * If the connection were closed with bytes unread, the client would get a reset instead of the answer.
   */
  #writeBehindBody(response: HttpResponse, answer: HttpAnswer, isUnread: boolean): void {
    this.#kept =
      typeof answer.body !== 'string' && ownedBufferOf(answer) === null ? { ...answer, body: new Uint8Array(answer.body) } : answer
    const write = (): void =>
      void setImmediate(() => {
        const kept = this.#kept
        this.#kept = null
        if (this.#response !== null && kept !== null) this.#write(this.#response, kept)
      })
    if (isUnread) dropBody(response, write)
    else write()
  }

  #write(response: HttpResponse, answer: HttpAnswer): void {
    response.cork(() => {
      writeHead(response, answer, this.method, this.#closes, this.commonHeaders)
      const bytes = endAtOnce(response, answer, this.method, this.#closes)
      if (bytes >= 0) this.#finish(answer.status, bytes)
      else this.#sender = sendBody(response, answer, this.#channel())
    })
    if (this.#sender === null) answer.push?.detach('clientGone')
    this.#sender?.begin?.()
  }

  #channel(): AnswerChannel {
    return {
      live: () => this.#response,
      finish: (status, bytes) => this.#finish(status, bytes),
      fault: (error) => this.#fault(error),
      loop: this.loop,
      closes: this.#closes,
    }
  }

  /** Returns null if the client has disconnected. */
  #newBody(): RequestBody | null {
    if (this.#response !== null) this.#body = new RequestBody(this, this.#response)
    return this.#body
  }

  /** Called by request_body.ts, like the three methods that follow. */
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
    // Too late for a status. The client can detect that the body is incomplete.
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
    this.#dropKept()
    if (done) return
    if (waited) this.listener.onAborted(this)
    this.listener.onDone(this, 0, 0)
  }

  #dropKept(): void {
    if (this.#kept === null) return
    this.#kept.rest?.end()
    this.#kept.push?.detach('clientGone')
    releaseAnswer(this.#kept)
    this.#kept = null
  }

  #finish(status: number, bytes: number): void {
    this.#response = null
    this.#state = 'done'
    this.listener.onDone(this, status, bytes)
  }
}
