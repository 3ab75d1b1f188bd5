/** Rows of the keys of MCP, and of its configuration. Pure data; rules in src/domain/access/mcp_keys.ts. */
import { DEADLINE_POINT_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape, text, unixSeconds, wholeNumber } from '../row/schema.js'

/** For administrators of the server. */
const common = { group: 'Access', feature: 'mcpEnabled', collections: SERVER, permission: 'admin', protocols: HTTP_ONLY } as const
const changes = { ...common, effect: 'write', cost: 'write', deadlineMs: DEADLINE_WRITE_MS } as const

const expiresAt = optional(wholeNumber('Unix seconds until which the key is valid. 0: without end.', { default: 0 }))
const name = optional(Type.String({ description: 'What the key is for; at most 256 bytes.', examples: ['assistant'] }))
const key = text('The key itself, its SHA-256, or its fingerprint as it is listed.', '0123456789abcdef')

export const createMcpKey = operation({
  ...changes,
  name: 'createMcpKey',
  client: 'mcpKeys.create',
  boundedBy: ['MCP_KEYS_MAX'],
  description: "Creates a key for clients of MCP with the caller's rights; it is shown once",
  http: { routes: [{ method: 'POST', path: '/v1/mcp/keys' }] },
  input: Type.Object({ name, expiresAt }),
  output: shape('Send the key as `X-API-Key: <key>`, `Authorization: Bearer <key>` or `?api_key=<key>` to the port of MCP.', {
    key: Type.String({ examples: ['mcp_0123456789abcdef0123456789abcdef0123456789abcdef'] }),
    name: Type.String(),
    createdAt: unixSeconds('When it was created.'),
    expiresAt: unixSeconds('Until when it is valid; 0: without end.'),
  }),
  audit: 'write./v1/mcp/keys',
})

export const listMcpKeys = operation({
  ...common,
  name: 'listMcpKeys',
  client: 'mcpKeys.list',
  boundedBy: ['MCP_KEYS_MAX'],
  description: 'Lists the keys for clients of MCP, without those that the operator configures',
  effect: 'system',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  http: { routes: [{ method: 'GET', path: '/v1/mcp/keys' }] },
  input: Type.Object({}),
  output: shape('In order of creation.', {
    keys: Type.Array(
      Type.Object(
        {
          keyPrefix: Type.String({ description: 'Its first characters.', examples: ['mcp_01234567'] }),
          fingerprint: Type.String({ description: 'The first digits of its SHA-256.', examples: ['0123456789abcdef'] }),
          name: Type.String(),
          createdAt: unixSeconds('When it was created.'),
          expiresAt: unixSeconds('Until when it is valid; 0: without end.'),
          disabled: Type.Boolean(),
        },
        { title: 'McpKey' },
      ),
    ),
    total: Type.Integer(),
  }),
  audit: null,
})

export const deleteMcpKey = operation({
  ...changes,
  name: 'deleteMcpKey',
  client: 'mcpKeys.delete',
  boundedBy: ['MCP_KEYS_MAX'],
  freesSpace: true,
  description: 'Deletes a key for clients of MCP, which is invalid from the next request on',
  http: { routes: [{ method: 'DELETE', path: '/v1/mcp/keys' }] },
  input: Type.Object({ key }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }) }),
  errors: ['keyNotFound'],
  audit: 'write./v1/mcp/keys',
})

export const disableMcpKey = operation({
  ...changes,
  name: 'disableMcpKey',
  client: 'mcpKeys.disable',
  boundedBy: ['MCP_KEYS_MAX'],
  description: 'Disables a key for clients of MCP, which stays in the list',
  http: { routes: [{ method: 'POST', path: '/v1/mcp/keys/disable' }] },
  input: Type.Object({ key }),
  output: shape('Done.', { status: Type.String({ examples: ['disabled'] }) }),
  errors: ['keyNotFound'],
  audit: 'write./v1/mcp/keys/disable',
})

export const mcpConfig = operation({
  ...common,
  name: 'mcpConfig',
  client: 'mcpKeys.config',
  description: 'Returns the configuration of MCP as YAML, without its keys: options, and the tools of the operator',
  effect: 'system',
  cost: 'loop',
  deadlineMs: DEADLINE_POINT_MS,
  http: { routes: [{ method: 'GET', path: '/v1/mcp/config' }] },
  input: Type.Object({}),
  // OpenAPI describes what the YAML holds, not its text.
  output: Type.Unsafe<string>({
    type: 'object',
    description: 'YAML: `mcp` as in the configuration file of the server, `custom_tools` as in that of MCP.',
  }),
  contentType: 'text/yaml; charset=utf-8',
  audit: null,
})

export const mcpKeyOperations = [createMcpKey, listMcpKeys, deleteMcpKey, disableMcpKey, mcpConfig] as const
