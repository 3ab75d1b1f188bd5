/**
 * The endpoint `/mcp`: streamable HTTP of both eras. A message is of the handshake era, with a session, or of
 * the stateless era: the body decides (protocol/era.ts).
 */
import type { Answered } from '../protocol/call.js'
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  type Refusal,
  refusal,
  REFUSED,
  SESSION_NOT_FOUND,
  UNSUPPORTED_VERSION,
} from '../protocol/codes.js'
import { type EraHeaders, eraOf, missingHeader } from '../protocol/era.js'
import { headerText } from '../protocol/header_text.js'
import { idOf, type Message, messageOf, type Request, resultText } from '../protocol/message.js'
import { META_LOG_LEVEL, META_SUBSCRIPTION, metaOf } from '../protocol/meta.js'
import { initializeFault, initializeText, revisionOf, takeNotification } from '../sessions/handshake.js'
import type { Session } from '../sessions/session.js'
import { runInSession } from '../sessions/session_requests.js'
import type { Exchange } from './exchange.js'
import type { Asker, EndpointParts } from './parts.js'
import { PostAnswer } from './post_answer.js'
import { openSessionStream } from './session_stream.js'

/** Messages in one batch of JSON-RPC. They run side by side. */
const MCP_BATCH_MESSAGES_MAX = 100

export const SESSION_HEADER = 'mcp-session-id'
/** Revisions whose clients may post several messages at once. */
const WITH_BATCHES: readonly string[] = ['2025-03-26', '2024-11-05']

const NO_SESSION = refusal(400, REFUSED, 'Bad Request: the header Mcp-Session-Id is required')
const SESSION_UNKNOWN = refusal(404, SESSION_NOT_FOUND, 'Session not found')
const NO_HANDSHAKE = refusal(405, REFUSED, 'Method not allowed: this server has no sessions')

export class Streamable {
  readonly #parts: EndpointParts

  constructor(parts: EndpointParts) {
    this.#parts = parts
  }

  async post(exchange: Exchange, asker: Asker): Promise<void> {
    const contentType = exchange.header('content-type') ?? ''
    if (!/^application\/json(?:$|[\s;])/i.test(contentType.trim()))
      return exchange.refuse(refusal(415, REFUSED, 'Unsupported Media Type: Content-Type must be application/json'))
    if (!exchange.accepts('application/json') && !exchange.accepts('text/event-stream'))
      return exchange.refuse(refusal(406, REFUSED, 'Not Acceptable: accept application/json and text/event-stream'))
    const body = await exchange.readBody(this.#parts.bodies)
    if (body === null) return
    if (!Buffer.isBuffer(body)) return exchange.refuse(body)
    const parsed = this.#parts.reader.read(body)
    if ('status' in parsed) return exchange.refuse(parsed)
    const { value } = parsed
    if (Array.isArray(value)) return await this.#batch(exchange, asker, value)
    const message = messageOf(value)
    if (message === null)
      return exchange.refuse(refusal(400, INVALID_REQUEST, 'Invalid Request: one message of JSON-RPC 2.0 expected'), idOf(value))
    if (message.kind === 'response') return exchange.answerEmpty(202)
    const headers = headersOf(exchange)
    const era = eraOf(message, headers, this.#parts.served)
    if (typeof era === 'object') return exchange.refuse(era, idOf(value))
    if (era === 'stateless') return await this.#stateless(exchange, asker, message, headers)
    return await this.#handshake(exchange, asker, message, headers)
  }

  /** A stream to the client of a session. A further one replaces it. */
  get(exchange: Exchange, asker: Asker): void {
    if (!exchange.accepts('text/event-stream')) return exchange.refuse(refusal(406, REFUSED, 'Not Acceptable: accept text/event-stream'))
    const session = this.#sessionOf(exchange, asker, headersOf(exchange))
    if (!('transport' in session)) return exchange.refuse(session, null, session.status === 405 ? ['Allow', 'POST'] : [])
    const stream = openSessionStream(exchange, session, this.#parts, ['Mcp-Session-Id', session.id])
    if (stream === null) return
    session.stream?.close()
    session.attach(stream)
    exchange.onClose(() => session.detach(stream))
  }

  delete(exchange: Exchange, asker: Asker): void {
    const session = this.#sessionOf(exchange, asker, headersOf(exchange))
    if (!('transport' in session)) return exchange.refuse(session, null, session.status === 405 ? ['Allow', 'POST'] : [])
    this.#parts.sessions.end(session)
    exchange.answerEmpty(204)
  }

  async #stateless(exchange: Exchange, asker: Asker, message: Message, headers: EraHeaders): Promise<void> {
    // Requests over HTTP are cancelled by closing their connection.
    if (message.kind !== 'request') return exchange.answerEmpty(202)
    const { request } = message
    const { id, method, params } = request
    const missing = missingHeader(headers, method, params)
    if (missing !== null) return exchange.refuse(missing, id)
    this.#note(exchange, request)
    const answer = new PostAnswer(exchange, [])
    if (method === 'subscriptions/listen') return this.#listen(exchange, request, answer)
    const level = metaOf(params)?.[META_LOG_LEVEL]
    answer.finish(
      await this.#answered(exchange, () =>
        this.#parts.methods.answer(request, {
          era: 'stateless',
          caller: asker.caller,
          signal: exchange.gone,
          logLevel: typeof level === 'string' ? level : null,
          isStructured: true,
          notify: (name, sent) => answer.notify(name, sent),
        }),
      ),
    )
  }

  /** Nothing of what may be asked for is notified, which the acknowledgement says. */
  #listen(exchange: Exchange, { id, params }: Request, answer: PostAnswer): void {
    const wanted = params['notifications']
    if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
      return exchange.refuse(refusal(200, INVALID_PARAMS, 'Invalid params: notifications must be an object'), id)
    const meta = { [META_SUBSCRIPTION]: id }
    answer.notify('notifications/subscriptions/acknowledged', { notifications: {}, _meta: meta })
    answer.finish({ text: resultText(id, this.#parts.methods.subscriptionEnd(id)), status: 200 })
  }

  async #handshake(exchange: Exchange, asker: Asker, message: Message, headers: EraHeaders): Promise<void> {
    if (message.kind === 'request' && message.request.method === 'initialize') return this.#initialize(exchange, asker, message.request)
    const session = this.#sessionOf(exchange, asker, headers)
    if (!('transport' in session)) return exchange.refuse(session, message.kind === 'request' ? message.request.id : null)
    session.touch()
    if (message.kind === 'notification') takeNotification(message.notification, session)
    if (message.kind !== 'request') return exchange.answerEmpty(202)
    this.#note(exchange, message.request)
    const answer = new PostAnswer(exchange, [])
    answer.finish(await this.#run(exchange, asker, session, message.request, answer))
  }

  #initialize(exchange: Exchange, { identity }: Asker, request: Request): void {
    const { served, sessions, logLevel } = this.#parts
    if (served.handshake.length === 0) return exchange.refuse(this.#statelessOnly(request), request.id)
    const fault = initializeFault(request.params)
    if (fault !== null) return exchange.refuse(refusal(200, INVALID_PARAMS, fault), request.id)
    const revision = revisionOf(request, served)
    const session = sessions.open('streamable', identity, revision, logLevel)
    if (session === null) return exchange.refuse(refusal(503, REFUSED, 'too many sessions, please retry'), request.id, ['Retry-After', '1'])
    this.#note(exchange, request)
    const text = initializeText(request, revision, this.#parts.identity)
    new PostAnswer(exchange, ['Mcp-Session-Id', session.id]).finish({ text, status: 200 })
  }

  #statelessOnly({ params }: Request): Refusal {
    const requested = params['protocolVersion']
    const { listed } = this.#parts.served
    return {
      ...refusal(400, UNSUPPORTED_VERSION, `Unsupported protocol version: ${typeof requested === 'string' ? requested : 'none'}`),
      data: { supported: listed, ...(typeof requested === 'string' ? { requested } : {}) },
    }
  }

  async #batch(exchange: Exchange, asker: Asker, values: readonly unknown[]): Promise<void> {
    const bad = (text: string): void => exchange.refuse(refusal(400, INVALID_REQUEST, `Invalid Request: ${text}`))
    if (values.length === 0 || values.length > MCP_BATCH_MESSAGES_MAX) return bad(`a batch has 1 to ${MCP_BATCH_MESSAGES_MAX} messages`)
    const headers = headersOf(exchange)
    const session = this.#sessionOf(exchange, asker, headers)
    if (!('transport' in session)) return exchange.refuse(session)
    if (!WITH_BATCHES.includes(session.revision)) return bad(`revision ${session.revision} has no batches`)
    const messages = values.map(messageOf)
    const requests: Request[] = []
    for (const message of messages) {
      if (message === null || (message.kind === 'request' && message.request.method === 'initialize'))
        return bad('a message of the batch is invalid')
      if (message.kind === 'request') requests.push(message.request)
    }
    session.touch()
    for (const message of messages) if (message?.kind === 'notification') takeNotification(message.notification, session)
    if (requests.length === 0) return exchange.answerEmpty(202)
    for (const request of requests) this.#note(exchange, request)
    const answer = new PostAnswer(exchange, [])
    const answered = await Promise.all(requests.map((request) => this.#run(exchange, asker, session, request, answer)))
    answer.finishAll(answered.filter((each) => each !== null))
  }

  async #run(exchange: Exchange, asker: Asker, session: Session, request: Request, answer: PostAnswer): Promise<Answered | null> {
    return await this.#answered(exchange, () =>
      runInSession(this.#parts.methods, session, request, {
        caller: asker.caller,
        gone: exchange.gone,
        notify: (method, params) => answer.notify(method, params),
      }),
    )
  }

  /** @returns null if the client has gone */
  async #answered(exchange: Exchange, run: () => Promise<Answered | null>): Promise<Answered | null> {
    try {
      return await run()
    } catch (error) {
      if (exchange.gone.aborted) return null
      throw error
    }
  }

  #sessionOf(exchange: Exchange, { identity }: Asker, headers: EraHeaders): Session | Refusal {
    const { sessions, served } = this.#parts
    if (served.handshake.length === 0) return NO_HANDSHAKE
    if (headers.version !== undefined && !served.handshake.includes(headers.version))
      return refusal(400, REFUSED, `Bad Request: unsupported protocol version (supported: ${served.handshake.join(', ')})`)
    const id = exchange.header(SESSION_HEADER)
    if (id === undefined) return NO_SESSION
    return sessions.find(id, 'streamable', identity) ?? SESSION_UNKNOWN
  }

  #note(exchange: Exchange, { method, params }: Request): void {
    this.#parts.note(exchange, method, params['name'])
  }
}

function headersOf(exchange: Exchange): EraHeaders {
  return {
    version: headerText(exchange.header('mcp-protocol-version')),
    method: headerText(exchange.header('mcp-method')),
    name: headerText(exchange.header('mcp-name')),
  }
}
