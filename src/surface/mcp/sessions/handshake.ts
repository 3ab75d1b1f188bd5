/**
 * What the handshake era has beside methods: `initialize`, the level of messages to a client, and
 * notifications from it. They are about a session, whatever its transport. Pure, but for the session.
 */
import { INVALID_PARAMS } from '../protocol/codes.js'
import { isLogLevel } from '../protocol/log_levels.js'
import { errorText, isObject, type Notification, type Params, type Request, resultText } from '../protocol/message.js'
import { negotiated, type Served } from '../protocol/revisions.js'
import type { ServerIdentity } from '../protocol/server_identity.js'
import type { Session } from './session.js'

/** @returns what is wrong with the parameters of `initialize`; null: nothing */
export function initializeFault({ protocolVersion, clientInfo }: Params): string | null {
  if (typeof protocolVersion !== 'string') return 'Invalid params: protocolVersion must be a string'
  return clientInfo === undefined || isObject(clientInfo) ? null : 'Invalid params: clientInfo must be an object'
}

export function revisionOf({ params }: Request, served: Served): string {
  return negotiated(served, params['protocolVersion'])
}

export function initializeText({ id }: Request, revision: string, { info, capabilities, instructions }: ServerIdentity): string {
  const told = instructions === undefined ? {} : { instructions }
  return resultText(id, JSON.stringify({ protocolVersion: revision, capabilities, serverInfo: info, ...told }))
}

export function setLevelText({ id, params }: Request, session: Session): string {
  const { level } = params
  if (!isLogLevel(level)) return errorText(id, { code: INVALID_PARAMS, message: 'Invalid params: level must be one of RFC 5424' })
  session.logLevel = level
  return resultText(id, '{}')
}

/** Those that need nothing done are accepted. */
export function takeNotification({ method, params }: Notification, session: Session): void {
  if (method === 'notifications/cancelled') session.cancel(params['requestId'])
}
