/** What the endpoints of MCP's port share. */
import type { Identified, McpRequest } from '../mcp_authenticator.js'
import type { Caller } from '../protocol/call.js'
import type { MessageReader } from '../protocol/message_reader.js'
import type { Methods } from '../protocol/methods.js'
import type { Served } from '../protocol/revisions.js'
import type { ServerIdentity } from '../protocol/server_identity.js'
import type { Sessions } from '../sessions/sessions.js'
import type { Bodies } from './body.js'

export interface EndpointParts {
  readonly methods: Methods
  readonly sessions: Sessions
  readonly served: Served
  readonly identity: ServerIdentity
  readonly bodies: Bodies
  /** Whether the credential of a request is still valid. Never rejects. */
  readonly isStillAdmitted: (request: McpRequest) => Promise<boolean>
  readonly reader: MessageReader
  /** Least level of messages to clients that asked for none. */
  readonly logLevel: string
  /** Notes what a request was, for the log. `tool`: as the client sent it. */
  readonly note: (exchange: object, method: string, tool: unknown) => void
}

/** Who asks: found out before an endpoint gets the request. */
export interface Asker extends Identified {
  readonly caller: Caller
}
