/** Cross-origin headers on the port of MCP: those of HTTP, with the headers that MCP has. Pure. */
import type { Config } from '../../../config/config.js'
import { corsPolicy } from '../../http/cors.js'

const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'

export const PREFLIGHT: readonly string[] = [
  'Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers',
  'Content-Type, Accept, Authorization, X-API-Key, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID',
  'Access-Control-Max-Age', '86400',
] // prettier-ignore

/** @returns the headers of an answer to a request with this origin: name, value ... */
export function mcpCors(config: Pick<Config, 'corsOrigins' | 'panelMode'>): (origin: string) => readonly string[] {
  const policy = corsPolicy(config)
  return (origin) => {
    if (origin === '') return []
    const headers = policy.headersFor(origin)
    const at = headers.indexOf('Access-Control-Expose-Headers')
    return at < 0 ? headers : [...headers.slice(0, at + 1), EXPOSED, ...headers.slice(at + 2)]
  }
}
