/**
 * The transport of revision 2024-11-05: `GET /sse` opens a stream, whose first event names the path to post
 * messages to; responses come on the stream. The session is as long as the stream.
 */
import { MCP_SESSION_REQUESTS_MAX } from '../../../limits/surfaces.js'
import { INVALID_PARAMS, INVALID_REQUEST, refusal, REFUSED, SESSION_NOT_FOUND } from '../protocol/codes.js'
import { errorText, idOf, messageOf, notificationText, type Request } from '../protocol/message.js'
import { SSE_REVISION } from '../protocol/revisions.js'
import { initializeFault, initializeText, revisionOf, takeNotification } from '../sessions/handshake.js'
import type { Session } from '../sessions/session.js'
import { runInSession } from '../sessions/session_requests.js'
import type { Exchange } from './exchange.js'
import type { Asker, EndpointParts } from './parts.js'
import { openSessionStream } from './session_stream.js'

export class LegacySse {
  readonly #parts: EndpointParts

  constructor(parts: EndpointParts) {
    this.#parts = parts
  }

  open(exchange: Exchange, { identity }: Asker): void {
    const { sessions, logLevel, served } = this.#parts
    if (served.handshake.length === 0) return exchange.refuse(refusal(405, REFUSED, 'Method not allowed: this server has no sessions'))
    const session = sessions.open('sse', identity, SSE_REVISION, logLevel)
    if (session === null) return exchange.refuse(refusal(503, REFUSED, 'too many sessions, please retry'), null, ['Retry-After', '1'])
    const stream = openSessionStream(exchange, session, this.#parts)
    if (stream === null) return sessions.end(session)
    session.attach(stream)
    exchange.onClose(() => sessions.end(session))
    // A client that cannot send headers has to repeat its key. It came in the same way.
    const key = exchange.queryKey === '' ? '' : `&api_key=${encodeURIComponent(exchange.queryKey)}`
    stream.event('endpoint', `/message?sessionId=${session.id}${key}`)
  }

  async post(exchange: Exchange, asker: Asker): Promise<void> {
    const id = exchange.param('sessionId') ?? ''
    const session = this.#parts.sessions.find(id, 'sse', asker.identity)
    if (session === undefined) return exchange.refuse(refusal(404, SESSION_NOT_FOUND, 'Session not found'))
    const body = await exchange.readBody(this.#parts.bodies)
    if (body === null) return
    if (!Buffer.isBuffer(body)) return exchange.refuse(body)
    const parsed = this.#parts.reader.read(body)
    if ('status' in parsed) return exchange.refuse(parsed)
    const message = messageOf(parsed.value)
    if (message === null)
      return exchange.refuse(refusal(400, INVALID_REQUEST, 'Invalid Request: one message of JSON-RPC 2.0 expected'), idOf(parsed.value))
    if (session.running >= MCP_SESSION_REQUESTS_MAX)
      return exchange.refuse(refusal(503, REFUSED, 'too many requests in progress, please retry'), idOf(parsed.value), ['Retry-After', '1'])
    exchange.answerEmpty(202)
    session.touch()
    if (message.kind === 'notification') takeNotification(message.notification, session)
    if (message.kind === 'request') await this.#run(exchange, asker, session, message.request)
  }

  async #run(exchange: Exchange, { caller }: Asker, session: Session, request: Request): Promise<void> {
    const { methods, served, identity, note } = this.#parts
    note(exchange, request.method, request.params['name'])
    if (request.method === 'initialize') {
      const fault = initializeFault(request.params)
      if (fault === null) session.revision = revisionOf(request, served)
      const text =
        fault === null
          ? initializeText(request, session.revision, identity)
          : errorText(request.id, { code: INVALID_PARAMS, message: fault })
      session.stream?.send(text)
      return
    }
    const answered = await runInSession(methods, session, request, {
      caller,
      gone: session.ended,
      notify: (method, params) => session.stream?.send(notificationText(method, params)),
    })
    if (answered !== null) session.stream?.send(answered.text)
  }
}
