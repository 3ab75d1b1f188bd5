/**
 * The definition of the MCP surface, over HTTP or over standard input and output. Its thread is
 * src/programs/mcp_thread.ts. Front-end thread.
 */
import { createRequire } from 'node:module'
import { programPath } from '../../base/installation.js'
import type { Config } from '../../config/config.js'
import { formatAddress } from '../../config/config.js'
import type { RunningSurface } from '../../dispatch/surface.js'
import { mcpConfig } from '../../operations/access/mcp.js'
import type { SurfaceDefinition, SurfaceHost } from '../host.js'
import { SleepingSurface } from '../thread/sleeping_surface.js'
import { CounterRow, threadStart } from '../thread/thread_start.js'
import { ThreadSurface } from '../thread/thread_surface.js'
import type { CustomTool } from './catalogue/custom_tools.js'
import { loadCustomTools } from './catalogue/custom_tools.js'
import { openCatalogue } from './catalogue/open_catalogue.js'
import { servedRevisions } from './protocol/revisions.js'

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

/** MCP over standard input and output: a thread that starts with the server, and has no socket. */
class StdioSurface implements RunningSurface {
  readonly #thread: ThreadSurface

  /**
   * @param program path of the thread's code, which begins with `openSurfaceThread`
   * @param own for the thread; must be structured-cloneable
   */
  constructor(host: SurfaceHost, program: string, own: unknown) {
    const row = new CounterRow()
    this.#thread = new ThreadSurface(host, {
      program,
      options: () => threadStart(host, row, null, own),
      asksAdmission: true,
      onEnd: () => {
        const claimed = row.take()
        if (claimed >= 0) host.telemetry.releaseRow(claimed)
      },
    })
    host.dispatcher.served.add(this.#thread)
  }

  listen(): Promise<string> {
    return this.#thread.listen()
  }

  stopListening(): void {
    this.#thread.stopListening()
  }

  idle(): Promise<void> {
    return this.#thread.idle()
  }

  close(): void {
    this.#thread.close()
  }
}

/**
 * The configuration of MCP in force, as YAML in the form of the configuration files, without keys.
 * The parser is loaded on the first use only: it takes 40 ms.
 */
function configText(config: Config, customTools: readonly CustomTool[]): string {
  const { stringify } = createRequire(import.meta.url)('yaml') as typeof import('yaml')
  const mcp = {
    enabled: config.mcpEnabled,
    addr: formatAddress(config.mcpAddr),
    mode: config.mcpMode,
    stdio: config.mcpStdio,
    domain: config.mcpDomain,
    builtinTools: config.mcpBuiltinTools,
    apiKeyEnabled: config.mcpApiKeyEnabled,
    apiKeyCacheTtl: `${config.mcpApiKeyCacheMs}ms`,
    rateLimit: {
      enabled: config.mcpRateLimitEnabled,
      requests: config.mcpRateLimitRequests,
      window: `${config.mcpRateLimitWindowMs}ms`,
      burst: config.mcpRateLimitBurst,
      by: config.mcpRateLimitBy,
    },
    loggingEnabled: config.mcpLoggingEnabled,
    loggingLevel: config.mcpLoggingLevel,
    protocolVersion: config.mcpProtocolVersion,
    serverInfo: {
      name: config.mcpServerName,
      description: config.mcpServerDescription,
      vendor: config.mcpServerVendor,
      homepage: config.mcpServerHomepage,
    },
    instructions: config.mcpInstructions,
  }
  return stringify({ mcp, custom_tools: customTools })
}
