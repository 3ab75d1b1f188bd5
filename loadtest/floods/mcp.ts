/** Floods on the port of MCP: connections, sessions, streams, bodies, and answers that nobody reads. */
import type { McpClient } from '../../test/harness/clients/mcp_client.js'
import { type Flood, openSocket, postOf, repeat, type SocketRules, untilEnd } from './flood.js'

const MIB = 1 << 20
const PATH = '/mcp'
const INITIALIZE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
const VALUES = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","pad":[${'0,'.repeat(2_000_000)}0]}}`
const DEEP = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(8 * MIB)}`
const LARGE = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"${'x'.repeat(31 * MIB)}"}}}`
const SEARCH = JSON.stringify({ name: 'search_documents', arguments: { collection: 'large', limit: 10 } })

export function mcpFloods(mcp: McpClient): readonly Flood[] {
  const { port } = mcp
  const sockets = (what: string, count: number, bytes: string | Buffer, rules: SocketRules): Flood => ({
    surface: 'mcp',
    what,
    send: async (end) => {
      for (let n = 0; n < count; n++) openSocket(port, bytes, end, rules)
      await untilEnd(end)
    },
  })
  const repeated = (what: string, times: number, ask: () => Promise<unknown>): Flood => ({
    surface: 'mcp',
    what,
    send: async (end) => await repeat(times, end, ask),
  })
  const posting = (what: string, times: number, body: string): Flood =>
    repeated(what, times, async () => await mcp.send('POST', PATH, body))
  return [
    sockets('1 500 idle connections', 1_500, '', {}),
    sockets('500 heads that never end', 500, 'POST /mcp HTTP/1.1\r\nHost: local', { again: true }),
    sockets('500 bodies that never end', 500, postOf(PATH, INITIALIZE).subarray(0, -5), { again: true }),
    sockets('1 000 streams that nobody reads', 1_000, 'GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n', { reads: false }),
    sockets('500 searches of 1 MB that nobody reads', 500, postOf('/tools/call', SEARCH), { again: true, reads: false }),
    posting('sessions that nobody ends (initialize)', 16, INITIALIZE),
    posting('bodies of two million values', 4, VALUES),
    posting('bodies of eight million brackets', 4, DEEP),
    posting('bodies of 31 MB', 4, LARGE),
    repeated('lists, as fast as they come', 16, async () => await mcp.stateless('tools/list')),
    repeated('searches of 1 MB, as fast as they come', 16, async () => await mcp.send('POST', '/tools/call', SEARCH)),
  ]
}
