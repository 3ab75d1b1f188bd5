/** The configuration of MCP in force, as YAML in the form of the configuration files, without keys. */
import { createRequire } from 'node:module'
import { formatAddress, type Config } from '../../config/config.js'
import type { CustomTool } from './catalogue/custom_tools.js'

/** The parser is loaded on the first use only: it takes 40 ms. */
export function configText(config: Config, customTools: readonly CustomTool[]): string {
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
