/** The definition of the MCP surface. Its thread is src/mcp_thread.ts. */
import type { Config } from '../../config/config.js'
import { mcpConfig } from '../../operations/mcp.js'
import { programPath } from '../../installation.js'
import type { SurfaceDefinition } from '../host.js'
import { SleepingSurface } from '../thread/sleeping_surface.js'
import { loadCustomTools, type CustomTool } from './catalogue/custom_tools.js'
import { openCatalogue } from './catalogue/open_catalogue.js'
import { servedRevisions } from './protocol/revisions.js'
import { configText } from './config_text.js'
import { StdioSurface } from './stdio_surface.js'

/** Of a server, which reads their file once. */
const customTools = new WeakMap<Config, readonly CustomTool[]>()

export const mcpSurface: SurfaceDefinition = {
  name: 'mcp',
  mode: (config) => (config.mcpEnabled ? config.mcpMode : undefined),
  /** @throws ConfigError if the file of custom tools is wrong */
  open: (host) => {
    const { config } = host
    const tools = loadCustomTools(config.mcpConfigFile)
    customTools.set(config, tools)
    const program = programPath('mcp_thread')
    return config.mcpStdio ? new StdioSurface(host, program, tools) : new SleepingSurface(host, config.mcpAddr, program, tools)
  },
  loopHandlers: (config) => [
    [mcpConfig, () => ({ body: configText(config, customTools.get(config) ?? []), contentType: 'text/yaml; charset=utf-8' })],
  ],
  endpoints: (config) => openCatalogue({ config, customTools: customTools.get(config) ?? [] }).tools(config.mcpMode),
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
