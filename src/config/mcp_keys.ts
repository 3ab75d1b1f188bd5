/**
 * The keys of MCP that the operator configures. They come from a variable or the configuration file, never
 * from a flag. Error messages do not contain them. Main thread, at start.
 */
import { MCP_KEY_CHARS_MAX, MCP_KEYS_CONFIGURED_MAX } from '../limits/mcp.js'
import { ConfigError } from './sources.js'

export interface McpKey {
  readonly key: string
  /** Of the client that has it; for logs and audit events. */
  readonly name: string
}

export const MCP_KEYS_VARIABLE = 'SVC_MCP_API_KEYS'
export const MCP_KEYS_YAML = 'mcp.apiKeys'

/**
 * Reads `key1:name1,key2:name2`. A key without a name has an empty one.
 * @throws ConfigError
 */
export function readMcpKeys(env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>): readonly McpKey[] {
  const items = (env[MCP_KEYS_VARIABLE] || yaml.get(MCP_KEYS_YAML) || '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  if (items.length > MCP_KEYS_CONFIGURED_MAX)
    throw new ConfigError(`${MCP_KEYS_VARIABLE}: at most ${MCP_KEYS_CONFIGURED_MAX} keys expected`)
  const keys = items.map((item) => {
    const [, key = '', name = ''] = /^([\x21-\x7e]+?)(?::(.*))?$/.exec(item) ?? []
    if (key === '' || key.length > MCP_KEY_CHARS_MAX || name.length > MCP_KEY_CHARS_MAX || /[\0-\x1f\x7f]/.test(name))
      throw new ConfigError(`${MCP_KEYS_VARIABLE}: key:name, comma separated, expected; at most ${MCP_KEY_CHARS_MAX} characters each`)
    return { key, name: name.trim() }
  })
  if (new Set(keys.map(({ key }) => key)).size < keys.length) throw new ConfigError(`${MCP_KEYS_VARIABLE}: a key is there twice`)
  return keys
}
