/**
 * Runs the requests of a session of the handshake era, whatever its transport: with an abort controller under
 * the request's id, so that the client can cancel it.
 */
import type { Answered, Caller } from '../protocol/call.js'
import { INVALID_REQUEST } from '../protocol/codes.js'
import { errorText, type Request } from '../protocol/message.js'
import type { Methods } from '../protocol/methods.js'
import { hasStructuredContent } from '../protocol/revisions.js'
import { setLevelText } from './handshake.js'
import type { Session } from './session.js'

interface Channel {
  readonly caller: Caller
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal
  notify(method: string, params: object): void
}

/** @returns null if the request was cancelled: nothing is answered */
export async function runInSession(methods: Methods, session: Session, request: Request, channel: Channel): Promise<Answered | null> {
  if (request.method === 'logging/setLevel') return { text: setLevelText(request, session), status: 200 }
  const controller = new AbortController()
  if (!session.begin(request.id, controller)) {
    const error = { code: INVALID_REQUEST, message: 'Invalid Request: a request with this id is in progress' }
    return { text: errorText(request.id, error), status: 200 }
  }
  const leave = (): void => controller.abort()
  if (channel.gone.aborted) leave()
  else channel.gone.addEventListener('abort', leave, { once: true })
  try {
    return await methods.answer(request, {
      era: 'handshake',
      caller: channel.caller,
      signal: controller.signal,
      logLevel: session.logLevel,
      isStructured: hasStructuredContent(session.revision),
      notify: (method, params) => channel.notify(method, params),
    })
  } catch (error) {
    if (controller.signal.aborted) return null
    throw error
  } finally {
    channel.gone.removeEventListener('abort', leave)
    session.finish(request.id)
  }
}
