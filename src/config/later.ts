/**
 * Options of the contract whose features this version lacks: their variables, and their YAML keys by the rule
 * of the other options. Each that is set causes a warning. `GUARDS` refuse the start if the server would be
 * less protected than its configuration requests: a server configured to require passwords must not run open.
 * Pure data; main thread, at start. When a feature is implemented, its names are removed here.
 */

interface LaterOption {
  readonly variable: string
  readonly yaml: string
}

export const LATER: readonly LaterOption[] = [
  { variable: 'SVC_EXTREME', yaml: 'extreme' },
  { variable: 'SVC_IMPORT_DIR', yaml: 'importDir' },
  { variable: 'SVC_HTTP3_ENABLED', yaml: 'http3.enabled' },
  { variable: 'SVC_HTTP3_ADDR', yaml: 'http3.addr' },
  { variable: 'SVC_HTTP3_PORT', yaml: 'http3.port' },
  { variable: 'SVC_HTTP3_MODE', yaml: 'http3.mode' },
  { variable: 'SVC_HTTP_POOL_MAX_IDLE', yaml: 'httpPool.maxIdle' },
  { variable: 'SVC_HTTP_POOL_MAX_PER_HOST', yaml: 'httpPool.maxPerHost' },
  { variable: 'SVC_HTTP_POOL_IDLE_TIMEOUT', yaml: 'httpPool.idleTimeout' },
  { variable: 'SVC_CODE_MAX_SYMBOLS', yaml: 'code.maxSymbols' },
  { variable: 'SVC_INCIDENT_LAG_THRESHOLD_MS', yaml: 'incident.lagThresholdMs' },
  { variable: 'SVC_INCIDENT_LAG_INTERVAL_SEC', yaml: 'incident.lagIntervalSec' },
  { variable: 'SVC_INCIDENT_LAG_COOLDOWN_SEC', yaml: 'incident.lagCooldownSec' },
  { variable: 'SVC_INCIDENT_DISK_THRESHOLD_PCT', yaml: 'incident.diskThresholdPct' },
  { variable: 'SVC_INCIDENT_DISK_INTERVAL_SEC', yaml: 'incident.diskIntervalSec' },
  { variable: 'SVC_INCIDENT_DISK_COOLDOWN_SEC', yaml: 'incident.diskCooldownSec' },
  { variable: 'SVC_AUTOMATIONS', yaml: 'automations' },
  { variable: 'SVC_AUTOMATION_LOGS', yaml: 'automation.logs' },
  { variable: 'SVC_AUTOMATION_LOGS_TTL', yaml: 'automation.logsTtl' },
  { variable: 'SVC_TRIGGERS', yaml: 'triggers' },
  { variable: 'SVC_CRONS', yaml: 'crons' },
  { variable: 'SVC_REPLICATION_ROLE', yaml: 'replication.role' },
  { variable: 'SVC_REPLICATION_LEADER_ADDR', yaml: 'replication.leaderAddr' },
  { variable: 'SVC_REPLICATION_RETRY_INTERVAL', yaml: 'replication.retryInterval' },
  { variable: 'SVC_REPLICATION_MAX_LAG', yaml: 'replication.maxLag' },
  { variable: 'SVC_REPLICATION_ACK_TIMEOUT_MS', yaml: 'replication.ackTimeoutMs' },
  { variable: 'SVC_REPLICATION_SECRET', yaml: 'replication.secret' },
  { variable: 'SVC_REPLICATION_TOKEN', yaml: 'replication.token' },
  { variable: 'SVC_NODE_ID', yaml: 'replication.nodeId' },
  { variable: 'SVC_BINLOG_ENABLED', yaml: 'binlog.enabled' },
  { variable: 'SVC_BINLOG_PATH', yaml: 'binlog.path' },
  { variable: 'SVC_BINLOG_MAX_AGE', yaml: 'binlog.maxAge' },
]

export const LATER_FLAGS: readonly string[] = [
  'http3-enabled', 'http3-addr',
] // prettier-ignore

/** A protection that must not be ignored silently. */
interface Guard {
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
