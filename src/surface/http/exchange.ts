/**
 * One HTTP request and its answer: the only file that touches HttpResponse and HttpRequest. Front-end thread only.
 *
 * uWS kills a response on abort and on a successful end, and touching a dead one ends the process. So the response lives in one field that is nulled in both places, every
 * use goes through that field, and the states say what may happen: reading -> waiting -> writing -> done, reading -> discarding -> writing for a body that is refused, and
 * done from everywhere by abort. The request object dies when
 * the handler returns, so what is needed of it is copied at once; body chunks die when their callback returns.
 */
import assert from 'node:assert/strict'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { ErrorCode } from '../../errors.js'
import { ANSWER_STREAMED_BYTES_MIN, BODY_FIRST_BYTES, DISCARDED_BYTES_MAX } from '../../limits.js'
import { httpRefusal, type HttpAnswer } from './http_answer.js'
import { BodyParts } from './body_parts.js'
import type { ByteBudget } from './byte_budget.js'
import { isLoopbackAddress } from './local_guard.js'
import { statusLine } from './status_lines.js'

const JSON_TYPE = 'application/json; charset=utf-8'

/** What is told of an exchange. Each is called at most once. */
export interface ExchangeListener {
  /** The body is complete; the exchange now waits for `answer`. */
  onBody(exchange: Exchange, body: Uint8Array | null): void
  /** The client has gone before it was answered. */
  onAborted(exchange: Exchange): void
  /** A programming error while the body was read: the end of this request only. */
  onFault(exchange: Exchange, error: unknown): void
  /** Answered, or given up: the end of every exchange. `status` 0: the client had gone. */
  onDone(exchange: Exchange, status: number, bodyBytes: number): void
}

export class Exchange {
  /** Upper case. */
  readonly method: string
  readonly path: string
  /** Raw, without the question mark. */
  readonly query: string
  /** Its framing or its host is ambiguous: a proxy may read it differently. */
  readonly isMisframed: boolean
  readonly origin: string
  readonly host: string
  /** `Sec-Fetch-Site`, `-Mode` and `-Dest`: what a browser says about who asks. */
  readonly fetchSite: string
  readonly fetchMode: string
  readonly fetchDest: string
  readonly referer: string
  readonly contentType: string
  readonly acceptsGzip: boolean
  readonly acceptsBrotli: boolean
  readonly ifNoneMatch: string
  /** Address of the other end in text; empty where nobody asked for it, and for a unix socket. */
  readonly peer: string
  /** Milliseconds, monotonic. */
  readonly acceptedAt = performance.now()
  #response: HttpResponse | null
  #state: 'reading' | 'discarding' | 'waiting' | 'writing' | 'done' = 'reading'
  #closes = false
  #refused: ErrorCode = 'bodyTooLarge'
  readonly #declaredBytes: number
  #body: Uint8Array | null = null
  #received = 0
  #held = 0
  #unsent = 0
  #parts: BodyParts | null = null

  constructor(
    response: HttpResponse,
    request: HttpRequest,
    readonly listener: ExchangeListener,
    readonly budget: ByteBudget,
    /** Of what clients have not taken yet of their answers. */
    readonly unsent: ByteBudget,
    /** Headers of every answer: name, value ... Set by the surface before it answers. */
    public commonHeaders: readonly string[],
    /** How long a client may take nothing of an answer that comes in parts. */
    readonly stallMsMax: number,
    readsPeer: boolean,
  ) {
    this.#response = response
    // First of all: a handler that returns without an abort handler ends the process.
    response.onAborted(() => this.#abort())
    this.method = request.getCaseSensitiveMethod()
    this.path = request.getUrl()
    this.query = request.getQuery() ?? ''
    const { first, isMisframed } = readHeaders(request)
    const header = (name: string): string => first.get(name) ?? ''
    this.isMisframed = isMisframed
    this.origin = header('origin')
    this.host = header('host')
    this.fetchSite = header('sec-fetch-site')
    this.fetchMode = header('sec-fetch-mode')
    this.fetchDest = header('sec-fetch-dest')
    this.referer = header('referer')
    this.contentType = header('content-type')
    this.peer = readsPeer ? this.peerText() : ''
    this.acceptsGzip = takes('gzip', header('accept-encoding'))
    this.acceptsBrotli = takes('br', header('accept-encoding'))
    this.ifNoneMatch = header('if-none-match')
    const length = header('content-length')
    this.#declaredBytes = length === '' ? (header('transfer-encoding') === '' ? 0 : -1) : Number(length)
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** Collects the body and calls `onBody`, or answers 413 or 503 itself. Must be called in the turn in which the exchange was made. */
  readBody(bytesMax: number): void {
    assert(this.#state === 'reading' && this.#response !== null, 'a body is read once')
    if (this.#declaredBytes === 0) {
      this.#bodyComplete(null)
      return
    }
    if (this.#declaredBytes > bytesMax) {
      this.answer(httpRefusal('bodyTooLarge'))
      return
    }
    this.#response.onData((chunk, isLast) => {
      try {
        if (this.#state === 'reading') this.#append(new Uint8Array(chunk), isLast, bytesMax)
        else if (this.#state === 'discarding') this.#discard(chunk.byteLength, isLast)
      } catch (error) {
        this.listener.onFault(this, error)
      }
    })
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
    const closes = this.#closes || (this.#state !== 'waiting' && this.#leavesTooMuch())
    this.#state = 'writing'
    this.#releaseBody()
    response.cork(() => {
      response.writeStatus(statusLine(answer.status))
      if (answer.status !== 204 && answer.status !== 304) response.writeHeader('Content-Type', answer.contentType ?? JSON_TYPE)
      if (answer.gzip) response.writeHeader('Content-Encoding', 'gzip').writeHeader('Vary', 'Accept-Encoding')
      writeHeaders(response, this.commonHeaders)
      writeHeaders(response, answer.headers)
      this.#writeBody(response, answer, closes)
    })
  }

  #writeBody(response: HttpResponse, answer: HttpAnswer, closes: boolean): void {
    const bytes = typeof answer.body === 'string' ? Buffer.byteLength(answer.body) : answer.body.length
    if (answer.status === 204 || answer.status === 304) {
      // No argument at all: uWS takes an undefined one for a number.
      response.endWithoutBody()
      this.#finish(answer.status, 0)
      return
    }
    if (this.method === 'HEAD') {
      // The length is that of the body that GET would get. Given to endWithoutBody, uWS would wait for that
      // body: it would answer nothing more on the connection, and not close it either.
      if (closes) response.end('', true)
      else response.writeHeader('Content-Length', String(bytes)).endWithoutBody()
      this.#finish(answer.status, 0)
      return
    }
    if (answer.rest !== undefined) {
      this.#sendParts(response, answer)
      return
    }
    if (closes || bytes < ANSWER_STREAMED_BYTES_MIN) {
      response.end(answer.body, closes)
      this.#finish(answer.status, bytes)
      return
    }
    this.#stream(response, typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body, answer.status)
  }

  /**
   * A large answer is sent as fast as the client reads it. What the socket does not accept at once is copied
   * if it is in memory shared with a lane, because that memory is returned when this function returns.
   */
  #stream(response: HttpResponse, body: Uint8Array, status: number): void {
    const [, done] = response.tryEnd(body, body.length)
    if (done) {
      this.#finish(status, body.length)
      return
    }
    const sent = response.getWriteOffset()
    if (!this.unsent.take(body.length - sent)) {
      // Clients that ask for much and read nothing: this one's connection ends, as at any other end of a bound that comes after the status line.
      response.close()
      return
    }
    this.#unsent = body.length - sent
    const left = body.subarray(sent)
    const rest = body.buffer instanceof SharedArrayBuffer ? new Uint8Array(left) : left
    response.onWritable((offset) => {
      const live = this.#response
      if (live === null) return true
      // Whether it ended or not: uWS corks this callback itself.
      const [ok, ended] = live.tryEnd(rest.subarray(offset - sent), body.length)
      if (ended) this.#finish(status, body.length)
      return ok
    })
  }

  /** Chunked, because nobody knows yet how long it will be. */
  #sendParts(response: HttpResponse, first: HttpAnswer): void {
    const parts = new BodyParts(
      {
        corked: (send) => void this.#response?.cork(send),
        write: (bytes) => this.#response?.write(bytes) ?? false,
        end: () => {
          this.#response?.end()
          this.#finish(first.status, parts.bytes)
        },
        close: () => void this.#response?.close(),
      },
      this.unsent,
      this.stallMsMax,
    )
    this.#parts = parts
    response.onWritable(() => {
      parts.onWritable()
      return true
    })
    parts.begin(first.body, first.rest)
  }

  #append(chunk: Uint8Array, isLast: boolean, bytesMax: number): void {
    const bytes = this.#received + chunk.length
    if (bytes > bytesMax || !this.budget.take(chunk.length)) {
      this.#refused = bytes > bytesMax ? 'bodyTooLarge' : 'overloaded'
      this.#state = 'discarding'
      this.#releaseBody()
      this.#discard(chunk.length, isLast)
      return
    }
    this.#held += chunk.length
    if (isLast && this.#received === 0) {
      // The usual case: one chunk, one copy (it is neutered when this callback returns).
      this.#received = bytes
      this.#bodyComplete(chunk.length === 0 ? null : new Uint8Array(chunk))
      return
    }
    const body = this.#reserve(bytes, bytesMax)
    body.set(chunk, this.#received)
    this.#received = bytes
    if (isLast) this.#bodyComplete(bytes === 0 ? null : body.subarray(0, bytes))
  }

  /** The rest of a refused body is read and dropped up to a bound, so that a client that sends first and reads then gets its answer and not a reset. */
  #discard(chunkBytes: number, isLast: boolean): void {
    this.#received += chunkBytes
    if (isLast || this.#received > DISCARDED_BYTES_MAX) this.answer(httpRefusal(this.#refused))
  }

  /** Whether the connection is to be closed with an answer that comes before the end of the body. A known rest within the bound is dropped by uWS itself. */
  #leavesTooMuch(): boolean {
    return this.#declaredBytes < 0 ? this.#received > DISCARDED_BYTES_MAX : this.#declaredBytes > DISCARDED_BYTES_MAX
  }

  /** The buffer, grown by doubling with what has come, not with what was announced: an announcement costs the client nothing. */
  #reserve(bytes: number, bytesMax: number): Uint8Array {
    if (this.#body !== null && bytes <= this.#body.length) return this.#body
    const announced = this.#declaredBytes > 0 ? this.#declaredBytes : bytesMax
    const grown = new Uint8Array(Math.min(Math.max(bytes, (this.#body?.length ?? 0) * 2, BODY_FIRST_BYTES), Math.max(bytes, announced)))
    if (this.#body !== null) grown.set(this.#body.subarray(0, this.#received))
    this.#body = grown
    return grown
  }

  #bodyComplete(body: Uint8Array | null): void {
    this.#state = 'waiting'
    this.#body = null
    this.listener.onBody(this, body)
  }

  #abort(): void {
    const waited = this.#state === 'waiting'
    const done = this.#state === 'done'
    this.#response = null
    this.#state = 'done'
    this.#releaseBody()
    this.#releaseUnsent()
    this.#parts?.abandon()
    if (done) return
    if (waited) this.listener.onAborted(this)
    this.listener.onDone(this, 0, 0)
  }

  #finish(status: number, bytes: number): void {
    this.#response = null
    this.#state = 'done'
    this.#releaseUnsent()
    this.listener.onDone(this, status, bytes)
  }

  #releaseUnsent(): void {
    this.unsent.give(this.#unsent)
    this.#unsent = 0
  }

  #releaseBody(): void {
    this.#body = null
    this.budget.give(this.#held)
    this.#held = 0
  }
}

interface ReadHeaders {
  /** The first value of each that is asked for. */
  readonly first: ReadonlyMap<string, string>
  readonly isMisframed: boolean
}

const WANTED = new Set([
  'origin', 'host', 'content-type', 'content-length', 'transfer-encoding', 'accept-encoding', 'if-none-match',
  'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'referer',
]) // prettier-ignore

/**
 * One pass over all, 1 to 2 us more than asking for eight by name, because uWS goes by the first of several
 * and takes every Transfer-Encoding for `chunked`. Two lengths or hosts, or an encoding that is not exactly
 * `chunked`, are what smuggles a request past a proxy.
 */
function readHeaders(request: HttpRequest): ReadHeaders {
  const first = new Map<string, string>()
  let isMisframed = false
  request.forEach((name, value) => {
    if (!WANTED.has(name)) return
    const before = first.get(name)
    if (before === undefined) first.set(name, value)
    if (name === 'host') isMisframed ||= before !== undefined
    else if (name === 'content-length') isMisframed ||= value === '' || (before !== undefined && before !== value)
    else if (name === 'transfer-encoding') isMisframed ||= value !== 'chunked' || before !== undefined
  })
  return { first, isMisframed: isMisframed || (first.has('content-length') && first.has('transfer-encoding')) }
}

function writeHeaders(response: HttpResponse, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) response.writeHeader(headers[i]!, headers[i + 1]!)
}

/** A coding is taken where it is named, or `*` for gzip, unless its weight is zero. */
const CODINGS = { gzip: codingPattern('gzip|\\*'), br: codingPattern('br') } as const

function codingPattern(names: string): RegExp {
  return new RegExp(`(?:^|[,\\s])(?:${names})\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[\\d.]+\\s*)?(?:,|$)`, 'i')
}

function takes(coding: keyof typeof CODINGS, acceptEncoding: string): boolean {
  return acceptEncoding !== '' && CODINGS[coding].test(acceptEncoding)
}
