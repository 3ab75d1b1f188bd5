/**
 * Reads the headers of the audit log's webhook. They may hold a credential, and every process on the machine
 * can read flags, so they come from a variable or the configuration file. Main thread, at start.
 */
import { AUDIT_WEBHOOK_HEADERS_MAX } from '../limits/audit.js'
import { ConfigError } from './sources.js'

export const AUDIT_HEADER_VARIABLE = 'SVC_AUDIT_EXPORT_WEBHOOK_HEADER'
export const AUDIT_HEADER_YAML = 'audit.exportWebhookHeader'

/**
 * The headers of the webhook: `Name: value, Name: value`.
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
