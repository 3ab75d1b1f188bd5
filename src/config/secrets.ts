/**
 * Secrets of the configuration beside those of access control: the keys of MCP, the token of the metrics, the
 * headers of the audit log's webhook. They come from variables or the configuration file, never from a flag,
 * which every process on the machine can read. Error messages never quote them. Main thread, at start.
 */
import { ConfigError } from './sources.js'

/** Keys in SVC_MCP_API_KEYS. */
const MCP_KEYS_CONFIGURED_MAX = 1_000
/** Characters of one of them, and of its name. */
const MCP_KEY_CHARS_MAX = 256
/**
 * Characters of the token of the metrics. 16 of 64 different ones are 96 bits; a header of 4 096 would fill
 * the head of a request.
 */
const METRICS_TOKEN_CHARS_MIN = 16
const METRICS_TOKEN_CHARS_MAX = 1024
/** Headers of `SVC_AUDIT_EXPORT_WEBHOOK_HEADER`. */
const AUDIT_WEBHOOK_HEADERS_MAX = 16

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

export const METRICS_TOKEN_VARIABLE = 'SVC_METRICS_TOKEN'
export const METRICS_TOKEN_YAML = 'metrics.token'

/**
 * The token that a scraper sends as `Authorization: Bearer`.
 * @returns empty if there is none
 * @throws ConfigError
 */
export function readMetricsToken(env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>): string {
  const token = (env[METRICS_TOKEN_VARIABLE] || yaml.get(METRICS_TOKEN_YAML) || '').trim()
  if (token === '') return ''
  // The characters of a Bearer token (RFC 6750, section 2.1): another one could never be sent.
  const isToken = /^[A-Za-z0-9._~+/-]+=*$/.test(token)
  if (!isToken || token.length < METRICS_TOKEN_CHARS_MIN || token.length > METRICS_TOKEN_CHARS_MAX) {
    throw new ConfigError(
      `${METRICS_TOKEN_VARIABLE}: ${METRICS_TOKEN_CHARS_MIN} to ${METRICS_TOKEN_CHARS_MAX} letters, digits or characters of ._~+/- expected`,
    )
  }
  return token
}

export const AUDIT_HEADER_VARIABLE = 'SVC_AUDIT_EXPORT_WEBHOOK_HEADER'
export const AUDIT_HEADER_YAML = 'audit.exportWebhookHeader'

/**
 * The headers of the audit log's webhook, which may hold a credential: `Name: value, Name: value`.
 * @returns name, value, name, value ...
 * @throws ConfigError without the value, which may be secret
 */
export function readWebhookHeaders(env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>): readonly string[] {
  const text = (env[AUDIT_HEADER_VARIABLE] || yaml.get(AUDIT_HEADER_YAML) || '').trim()
  const items = text === '' ? [] : text.split(',').map((item) => /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([\x20-\x7e]*?)\s*$/.exec(item))
  if (items.includes(null)) throw new ConfigError(`${AUDIT_HEADER_VARIABLE}: "Name: value", comma separated, expected`)
  if (items.length > AUDIT_WEBHOOK_HEADERS_MAX)
    throw new ConfigError(`${AUDIT_HEADER_VARIABLE}: at most ${AUDIT_WEBHOOK_HEADERS_MAX} headers expected`)
  return items.flatMap((item) => [item?.[1] ?? '', item?.[2] ?? ''])
}
