/** The definition of the MCP surface. Its thread is src/mcp_thread.ts. */
import { programPath } from '../../installation.js'
import type { SurfaceDefinition } from '../host.js'
import { SleepingSurface } from '../thread/sleeping_surface.js'
import { servedRevisions } from './protocol/revisions.js'
import { StdioSurface } from './stdio_surface.js'

export const mcpSurface: SurfaceDefinition = {
  name: 'mcp',
  mode: (config) => (config.mcpEnabled ? config.mcpMode : undefined),
  open: (host) => {
    const program = programPath('mcp_thread')
    return host.config.mcpStdio ? new StdioSurface(host, program) : new SleepingSurface(host, host.config.mcpAddr, program)
  },
  described: ({ mcpStdio, mcpProtocolVersion }) => {
    const { handshake, stateless } = servedRevisions(mcpProtocolVersion)
    const supportedRevisions = [...stateless, ...handshake]
    return {
      stdio: mcpStdio,
      revision: supportedRevisions[0] ?? '',
      supportedRevisions,
      revisionPinned: mcpProtocolVersion !== '',
      handshakeRevision: handshake[0] ?? '',
    }
  },
}
