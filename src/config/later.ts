/**
 * Options of the contract whose features this version lacks. Each set `LATER` option causes a warning.
 * `GUARDS` refuse the start if the server would be less protected than its configuration requests: a server
 * configured to require passwords must not run open. Pure data; main thread, at start. When a feature is
 * implemented, its names are removed here.
 */

/** A trailing `*` matches all variables with that prefix. */
export const LATER_VARIABLES: readonly string[] = [
  'SVC_EXTREME', 'SVC_IMPORT_DIR',
  'SVC_HTTP3_*',
  'SVC_HTTP_POOL_*', 'SVC_WIKI_*',
  'SVC_CODE_MAX_SYMBOLS',
  'SVC_INCIDENT_LAG_*', 'SVC_INCIDENT_DISK_*',
  'SVC_AUTOMATIONS', 'SVC_AUTOMATION_*', 'SVC_TRIGGERS', 'SVC_CRONS', 'SVC_SSE_*', 'SVC_MEMORY_SHARED',
  'SVC_REPLICATION_*', 'SVC_NODE_ID', 'SVC_BINLOG_ENABLED', 'SVC_BINLOG_PATH', 'SVC_BINLOG_MAX_AGE',
] // prettier-ignore

export const LATER_FLAGS: readonly string[] = [
  'http3-enabled', 'http3-addr',
] // prettier-ignore

/** First components of YAML paths. */
export const LATER_YAML: readonly string[] = [
  'http3', 'replication', 'automation',
] // prettier-ignore

/** A protection that must not be ignored silently. */
export interface Guard {
  readonly variable: string
  readonly yaml: string
  /** Whether the value requests the protection. */
  readonly asks: (text: string) => boolean
  readonly feature: string
}

const isAnything = (text: string): boolean => text !== ''

export const GUARDS: readonly Guard[] = [
  { variable: 'SVC_REPLICATION_ROLE', yaml: 'replication.role', asks: isAnything, feature: 'replication' },
]

/** Whether the name belongs to a feature of the contract that a later version implements. */
export function isLaterVariable(name: string): boolean {
  return LATER_VARIABLES.some((known) => (known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known))
}
