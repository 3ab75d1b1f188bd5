/**
 * The program of the thread that serves MCP: over HTTP on a port of its own, or over standard input and
 * output.
 */
import { formatAddress } from '../config/config.js'
import { ANY, scanOf } from '../engine/json_scan.js'
import type { CustomTool } from '../surface/mcp/catalogue/custom_tools.js'
import { openCatalogue } from '../surface/mcp/catalogue/open_catalogue.js'
import { Bodies } from '../surface/mcp/http/body.js'
import { ChangeFeedPath } from '../surface/mcp/http/change_feed_path.js'
import { ClientLimits } from '../surface/mcp/http/client_limits.js'
import { HttpServer } from '../surface/mcp/http/http_server.js'
import { McpAuthenticator } from '../surface/mcp/mcp_authenticator.js'
import { levelOf } from '../surface/mcp/protocol/log_levels.js'
import { MessageReader } from '../surface/mcp/protocol/message_reader.js'
import { Methods } from '../surface/mcp/protocol/methods.js'
import { servedRevisions } from '../surface/mcp/protocol/revisions.js'
import { serverIdentity } from '../surface/mcp/protocol/server_identity.js'
import { RequestLog } from '../surface/mcp/request_log.js'
import type { Transport } from '../surface/mcp/sessions/session.js'
import { Sessions } from '../surface/mcp/sessions/sessions.js'
import { Stdio, stdioCaller } from '../surface/mcp/stdio.js'
import { JSON_BOUNDS } from '../wire/json_bounds.js'
import type { TlsFiles } from '../wire/tls_files.js'
import { openSurfaceThread } from './surface_thread.js'

/** Levels of arrays and objects in a message: 64 of a document's metadata, and those around them. */
const MCP_DEPTH_MAX = 80

/** How often a thread that has started with the server looks whether the store is open. */
const READY_POLL_MS = 10

let onDrain = (): void => port.drained()
let onRenew = (_: TlsFiles): void => undefined

const { config, surface, control, telemetry, authenticator, failures, rateLimit, core, port, descriptor, tls, own } =
  await openSurfaceThread('mcp', { onDrain: () => onDrain(), onRenew: (files) => onRenew(files) })
const served = servedRevisions(config.mcpProtocolVersion)
const identity = serverIdentity(config)
const catalogue = openCatalogue({ config, customTools: own as readonly CustomTool[] })
const methods = new Methods({
  catalogue,
  core,
  surface,
  identity,
  served,
  pageItems: config.limits.MCP_PAGE_ITEMS,
})
const reader = new MessageReader(scanOf(ANY, { ...JSON_BOUNDS, depth: MCP_DEPTH_MAX }))
const logLevel = levelOf(config.mcpLoggingLevel)
const requests = new RequestLog(config)

if (descriptor === null) serveStdio()
else await serveHttp(descriptor)

async function serveHttp(listening: number): Promise<void> {
  const { MCP_SESSIONS_MAX: all, MCP_SESSIONS_OF_IDENTITY_MAX: ofIdentity, MCP_SESSION_IDLE_MS: idleMs } = config.limits
  const onCount = ({ streamable, sse }: Readonly<Record<Transport, number>>): void => {
    telemetry.set('mcp_sessions_streamable', streamable)
    telemetry.set('mcp_sessions_sse', sse)
  }
  const sessions = new Sessions(onCount, { all, ofIdentity, idleMs })
  const mcpAuthenticator = new McpAuthenticator({ config, authenticator, control, identify: (asked) => core.identify(asked), failures })
  const note: RequestLog['note'] = (request, method, tool) => requests.note(request, method, tool)
  const isStillAdmitted: McpAuthenticator['isStillAdmitted'] = (request) => mcpAuthenticator.isStillAdmitted(request)
  const bodies = new Bodies(config.bodyBytesMax)
  const endpoints = { methods, sessions, served, identity, bodies, isStillAdmitted, reader, logLevel, note }
  const limits = new ClientLimits(config, rateLimit, telemetry)
  const server = new HttpServer({
    config,
    endpoints,
    authenticator,
    mcpAuthenticator,
    limits,
    feed: config.sseEnabled ? new ChangeFeedPath({ config, core, surface, control }, endpoints) : null,
    isLeaving: () => control.isLeaving,
    tls,
    onDone: (exchange) => requests.done(exchange),
  })
  onRenew = (files) => server.renew(files)
  onDrain = () => {
    sessions.drain()
    server.drain(() => port.drained())
  }
  try {
    const number = await server.listen(listening)
    const { mcpAddr } = config
    port.listening(formatAddress(mcpAddr.kind === 'unix' ? mcpAddr : { ...mcpAddr, port: number }))
  } catch (error) {
    port.refused((error as Error).message)
  }
}

function serveStdio(): void {
  const caller = stdioCaller(config.auth === null ? null : config.authAdminUsername)
  const onEnd = (): void => {
    onDrain = () => port.drained()
    process.kill(process.pid, 'SIGTERM')
  }
  const stdio = new Stdio({ methods, reader, served, identity, logLevel, caller, ready: storeOpened(), onEnd })
  onDrain = () => stdio.drain(() => port.drained())
  port.listening('stdio')
}

async function storeOpened(): Promise<void> {
  while (control.phase === 'warming_up') await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS))
}
