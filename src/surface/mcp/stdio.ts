/**
 * MCP over standard input and output: one message a line, from the client that has started the server.
 * Nothing else is written to standard output; logs go to standard error. Input is not read while the client
 * does not read its answers, or too many requests are in progress. At the end of the input, what was asked is
 * answered, and the server ends. In the thread of MCP.
 */
import { createReadStream, createWriteStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { ANONYMOUS } from '../../access/principal.js'
import { MCP_SESSION_REQUESTS_MAX } from '../../limits/surfaces.js'
import { MIB } from '../../limits/units.js'
import type { Call, Caller } from './protocol/call.js'
import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, type Refusal, UNSUPPORTED_VERSION } from './protocol/codes.js'
import { eraOf, NO_HEADERS } from './protocol/era.js'
import { errorText, idOf, type Message, messageOf, notificationText, type Request, type RequestId, resultText } from './protocol/message.js'
import type { MessageReader } from './protocol/message_reader.js'
import { META_LOG_LEVEL, META_SUBSCRIPTION, metaOf } from './protocol/meta.js'
import type { Methods } from './protocol/methods.js'
import { type Served, SSE_REVISION } from './protocol/revisions.js'
import type { ServerIdentity } from './protocol/server_identity.js'
import { initializeFault, initializeText, revisionOf, takeNotification } from './sessions/handshake.js'
import { Session } from './sessions/session.js'
import { runInSession } from './sessions/session_requests.js'

/** Bytes of one line of standard input: a body of HTTP has the same bound. */
const MCP_LINE_BYTES_MAX = 32 * MIB
/** Bytes of answers that the reader of standard output has not taken. Above it, no input is read. */
const MCP_STDOUT_UNSENT_BYTES_MAX = 4 * MIB

interface StdioParts {
  readonly methods: Methods
  readonly reader: MessageReader
  readonly served: Served
  readonly identity: ServerIdentity
  readonly logLevel: string
  readonly caller: Caller
  /** Resolves when the store is open. Until then only what needs no store is answered. */
  readonly ready: Promise<void>
  /** The input has ended, and everything is answered. */
  readonly onEnd: () => void
}

const NEWLINE = 0x0a

export class Stdio {
  readonly #parts: StdioParts
  readonly #input: Readable
  readonly #output: Writable
  readonly #session: Session
  /** Requests of the stateless era in progress. */
  readonly #running = new Map<RequestId, AbortController>()
  #line: Buffer[] = []
  #lineBytes = 0
  #isSkipping = false
  #underWay = 0
  #hasEnded = false
  #onIdle: (() => void) | null = null

  constructor(parts: StdioParts) {
    this.#parts = parts
    this.#session = new Session('', 'sse', '', SSE_REVISION, parts.logLevel)
    this.#output = writableOf(1)
    this.#output.on('error', () => this.#leave())
    this.#output.on('drain', () => this.#flow())
    this.#input = readableOf(0)
    this.#input.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#input.on('end', () => this.#leave())
    this.#input.on('error', () => this.#leave())
  }

  /** Reads no further requests. @param onIdle called when those in progress are answered */
  drain(onIdle: () => void): void {
    this.#input.pause()
    this.#onIdle = onIdle
    this.#reportEnd()
  }

  #take(chunk: Buffer): void {
    let begin = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      this.#add(chunk.subarray(begin, end))
      this.#finishLine()
      begin = end + 1
    }
    this.#add(chunk.subarray(begin))
    this.#flow()
  }

  #add(piece: Buffer): void {
    this.#lineBytes += piece.length
    if (this.#lineBytes > MCP_LINE_BYTES_MAX) {
      this.#isSkipping = true
      this.#line = []
    } else if (piece.length > 0) this.#line.push(piece)
  }

  #finishLine(): void {
    const line = Buffer.concat(this.#line)
    const isTooLong = this.#isSkipping
    this.#line = []
    this.#lineBytes = 0
    this.#isSkipping = false
    if (isTooLong)
      return this.#send(errorText(null, { code: PARSE_ERROR, message: `Parse error: a line of more than ${MCP_LINE_BYTES_MAX} bytes` }))
    if (line.length === 0 || (line.length === 1 && line[0] === 0x0d)) return
    const parsed = this.#parts.reader.read(line)
    if ('status' in parsed) return this.#send(errorText(null, shown(parsed)))
    const { value } = parsed
    const message = messageOf(value)
    if (message === null)
      this.#send(errorText(idOf(value), { code: INVALID_REQUEST, message: 'Invalid Request: one message of JSON-RPC 2.0 expected' }))
    else if (message.kind !== 'response') this.#route(message)
  }

  #route(message: Exclude<Message, { kind: 'response' }>): void {
    if (message.kind === 'notification' && message.notification.method === 'notifications/cancelled') {
      const { requestId } = message.notification.params
      if (typeof requestId === 'string' || typeof requestId === 'number') this.#running.get(requestId)?.abort()
    }
    const era = eraOf(message, NO_HEADERS, this.#parts.served)
    if (message.kind === 'notification') {
      if (era === 'handshake') takeNotification(message.notification, this.#session)
      return
    }
    const { request } = message
    if (typeof era === 'object') return this.#send(errorText(request.id, shown(era)))
    const answer = era === 'handshake' ? this.#handshake(request) : this.#stateless(request)
    if (typeof answer === 'string') return this.#send(answer)
    this.#underWay += 1
    void answer.then((text) => {
      this.#underWay -= 1
      if (text !== null) this.#send(text)
      this.#flow()
      this.#reportEnd()
    })
  }

  #handshake(request: Request): string | Promise<string | null> {
    const { served, identity, methods, caller } = this.#parts
    if (request.method === 'initialize') {
      const { listed } = served
      if (served.handshake.length === 0)
        return errorText(request.id, { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data: { supported: listed } })
      const fault = initializeFault(request.params)
      if (fault !== null) return errorText(request.id, { code: INVALID_PARAMS, message: fault })
      this.#session.revision = revisionOf(request, served)
      return initializeText(request, this.#session.revision, identity)
    }
    if (served.handshake.length === 0)
      return errorText(request.id, {
        code: UNSUPPORTED_VERSION,
        message: 'Unsupported protocol version',
        data: { supported: served.listed },
      })
    const { ended: gone } = this.#session
    const notify = (method: string, params: object): void => this.#send(notificationText(method, params))
    return this.#parts.ready
      .then(() => runInSession(methods, this.#session, request, { caller, gone, notify }))
      .then((answered) => answered?.text ?? null)
  }

  #stateless(request: Request): string | Promise<string | null> {
    const { id, method, params } = request
    if (method === 'subscriptions/listen') return this.#listen(request)
    if (this.#running.has(id))
      return errorText(id, { code: INVALID_REQUEST, message: 'Invalid Request: a request with this id is in progress' })
    const controller = new AbortController()
    this.#running.set(id, controller)
    const level = metaOf(params)?.[META_LOG_LEVEL]
    const { methods, caller, ready } = this.#parts
    const call: Call = {
      era: 'stateless',
      caller,
      signal: controller.signal,
      logLevel: typeof level === 'string' ? level : null,
      isStructured: true,
      notify: (name, sent) => this.#send(notificationText(name, sent)),
    }
    return ready
      .then(() => methods.answer(request, call))
      .then(
        ({ text }) => text,
        () => null,
      )
      .finally(() => this.#running.delete(id))
  }

  /** As over HTTP: nothing of what may be asked for is notified. */
  #listen({ id, params }: Request): string {
    const wanted = params['notifications']
    if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
      return errorText(id, { code: INVALID_PARAMS, message: 'Invalid params: notifications must be an object' })
    const _meta = { [META_SUBSCRIPTION]: id }
    this.#send(notificationText('notifications/subscriptions/acknowledged', { notifications: {}, _meta }))
    return resultText(id, this.#parts.methods.subscriptionEnd(id))
  }

  #send(text: string): void {
    this.#output.write(`${text}\n`)
  }

  /** Reads on, or waits until answers are taken and requests have ended. */
  #flow(): void {
    const isFull = this.#output.writableLength > MCP_STDOUT_UNSENT_BYTES_MAX || this.#underWay >= MCP_SESSION_REQUESTS_MAX
    if (isFull || this.#onIdle !== null) this.#input.pause()
    else if (this.#input.isPaused()) this.#input.resume()
  }

  #leave(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#reportEnd()
  }

  #reportEnd(): void {
    if (this.#underWay > 0) return
    if (this.#onIdle !== null) return this.#onIdle()
    if (!this.#hasEnded) return
    if (this.#output.destroyed || this.#output.writableLength === 0) this.#parts.onEnd()
    else this.#output.end(() => this.#parts.onEnd())
  }
}

/**
 * The client has started the server, so it is the bootstrap administrator.
 * @param admin its name; null: access control is off
 */
export function stdioCaller(admin: string | null): Caller {
  return { principal: admin === null ? ANONYMOUS : { kind: 'user', name: admin }, address: '', agent: '' }
}

function shown({ code, message, data }: Refusal): { readonly code: number; readonly message: string; readonly data?: unknown } {
  return { code, message, data }
}

function isPipe(descriptor: number): boolean {
  const stat = fstatSync(descriptor)
  return stat.isFIFO() || stat.isSocket()
}

/** A pipe is read by events: a blocking read of it would occupy a thread of the pool. */
function readableOf(descriptor: number): Readable {
  if (isPipe(descriptor)) return new Socket({ fd: descriptor, readable: true, writable: false })
  return createReadStream('', { fd: descriptor, autoClose: false })
}

function writableOf(descriptor: number): Writable {
  if (isPipe(descriptor)) return new Socket({ fd: descriptor, readable: false, writable: true })
  return createWriteStream('', { fd: descriptor, autoClose: false })
}
