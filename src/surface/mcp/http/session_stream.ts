/**
 * The stream of a session to its client. A stream shows no credential after its beginning, so each pulse asks
 * whether that one is still valid; if not, the session ends.
 */
import type { Session } from '../sessions/session.js'
import type { EventStream } from './event_stream.js'
import type { Exchange } from './exchange.js'
import type { EndpointParts } from './parts.js'

type Parts = Pick<EndpointParts, 'sessions' | 'isStillAdmitted'>

/** @returns null if the client has gone */
export function openSessionStream(
  exchange: Exchange,
  session: Session,
  { sessions, isStillAdmitted }: Parts,
  headers: readonly string[] = [],
): EventStream | null {
  const stream = exchange.openStream(headers, () => {
    void isStillAdmitted(exchange).then((isStill) => {
      // A client with a newer credential may have opened another one meanwhile.
      if (!isStill && session.stream === stream) sessions.end(session)
    })
  })
  return stream
}
