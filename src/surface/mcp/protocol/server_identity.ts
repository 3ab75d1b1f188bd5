/** How the server introduces itself to clients: name, version, capabilities, instructions. Pure. */
import { INTERFACE_VERSION } from '../../../base/version.js'
import type { Config } from '../../../config/config.js'

export interface ServerIdentity {
  /** `serverInfo`: an Implementation of MCP; `vendor` and `homepage` beside it. */
  readonly info: object
  /** Undefined: none. */
  readonly instructions: string | undefined
  readonly capabilities: object
}

/** Neither lists nor resources notify of changes: the lists do not change, and no change is watched. */
const CAPABILITIES = {
  tools: { listChanged: false },
  resources: { listChanged: false, subscribe: false },
  prompts: { listChanged: false },
  completions: {},
  logging: {},
} as const

export function serverIdentity(config: Config): ServerIdentity {
  const { mcpServerName, mcpServerDescription, mcpServerVendor, mcpServerHomepage, mcpInstructions } = config
  return {
    info: {
      name: mcpServerName,
      version: INTERFACE_VERSION,
      ...(mcpServerDescription === '' ? {} : { description: mcpServerDescription }),
      ...(mcpServerVendor === '' ? {} : { vendor: mcpServerVendor }),
      ...(mcpServerHomepage === '' ? {} : { homepage: mcpServerHomepage, websiteUrl: mcpServerHomepage }),
    },
    instructions: mcpInstructions === '' ? undefined : mcpInstructions,
    capabilities: CAPABILITIES,
  }
}
