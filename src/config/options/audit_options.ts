/**
 * The options of the audit log, a part of the table of options (options.ts). The headers of its webhook are
 * not among them (audit.ts). Pure data; main thread, at start.
 */
import { AUDIT_LOG_FILES_MIN } from '../../limits/process.js'
import { GIB, KIB, MIB } from '../../limits/units.js'
import type { Option } from './option.js'
import { BadValue, parseBoolean, parseBytes, parseText, parseWhole, parseWord } from './values.js'

/**
 * Events in memory: those that wait for the file, and the last ones for queries. An event has 250 bytes, so
 * the default takes 16 MB and the longest 260 MB. The default is what 20 000 events/s make in 3 s, which a
 * disk may take to flush.
 */
const AUDIT_RING_DEFAULT = 65_536
const AUDIT_RING_MAX = 1_048_576
/**
 * Bytes of a file before the next one begins. The longest is what `mds audit verify` reads in 20 s.
 */
const AUDIT_FILE_BYTES_DEFAULT = 64 * MIB
const AUDIT_FILE_BYTES_MIN = 4 * KIB
const AUDIT_FILE_BYTES_MAX = 4 * GIB
/**
 * Bytes of all files together; beyond it the oldest are removed, whatever their age. 10 GiB are 40 million
 * events.
 */
const AUDIT_LOG_BYTES_DEFAULT = 10 * GIB
const AUDIT_LOG_BYTES_MIN = AUDIT_LOG_FILES_MIN * AUDIT_FILE_BYTES_MIN
const AUDIT_LOG_BYTES_MAX = 1024 * GIB
/** Days for which files are kept; 0: forever. The longest is a hundred years. */
const AUDIT_RETENTION_DAYS_DEFAULT = 90
const AUDIT_RETENTION_DAYS_MAX = 36_525
/** Events in the queue of an exporter: the default of the contract's fact tables. */
const AUDIT_EXPORT_QUEUE_DEFAULT = 1024
const AUDIT_EXPORT_QUEUE_MAX = 1_048_576

/** Where events go by syslog. */
interface SyslogAddress {
  readonly protocol: 'udp' | 'tcp' | 'tls'
  readonly host: string
  readonly port: number
}

export interface AuditOptionValues {
  readonly auditEnabled: boolean
  /** Empty: `audit/` in the data directory. */
  readonly auditDirectory: string
  readonly auditRingSize: number
  readonly auditFileBytesMax: number
  /** 0: files are kept forever. */
  readonly auditRetentionDays: number
  /** Of all files. */
  readonly auditBytesMax: number
  /** Writes are refused while their events could not be kept. */
  readonly auditStrict: boolean
  /** Empty: none. */
  readonly auditWebhookUrl: string
  readonly auditWebhookInsecureTls: boolean
  readonly auditSyslogAddr: SyslogAddress | null
  /** RFC 5424: 0 to 23. */
  readonly auditSyslogFacility: number
  readonly auditExportQueueMax: number
}

/** In the order of their numbers. */
const FACILITIES = [
  'kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp', 'ntp', 'security', 'console', 'clock',
  'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7',
] as const // prettier-ignore

export const AUDIT_OPTIONS: { readonly [Name in keyof AuditOptionValues]: Option<AuditOptionValues[Name]> } = {
  auditEnabled: {
    flag: 'audit',
    variables: ['SVC_AUDIT_ENABLED'],
    yaml: ['audit.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'keep an audit log of logins, checks of credentials and writes: GET /v1/audit, and files',
  },
  auditDirectory: {
    flag: 'audit-dir',
    variables: ['SVC_AUDIT_DIR'],
    yaml: ['audit.dir'],
    fallback: '',
    parse: parseText,
    help: 'directory of the files of the audit log; default: audit/ in the data directory',
  },
  auditRingSize: {
    flag: 'audit-ring-size',
    variables: ['SVC_AUDIT_RING_SIZE'],
    yaml: ['audit.ringSize'],
    fallback: AUDIT_RING_DEFAULT,
    parse: parseWhole(1, AUDIT_RING_MAX),
    help: 'number of audit events in memory: those that queries find, and at most so many that wait for the file; further ones are dropped',
  },
  auditFileBytesMax: {
    flag: 'audit-file-max-size',
    variables: ['SVC_AUDIT_FILE_MAX_SIZE'],
    yaml: ['audit.fileMaxSize'],
    fallback: AUDIT_FILE_BYTES_DEFAULT,
    fallbackText: '64MB',
    parse: parseBytes(AUDIT_FILE_BYTES_MIN, AUDIT_FILE_BYTES_MAX),
    help: 'size at which the next file of the audit log begins; it also begins after a day',
  },
  auditRetentionDays: {
    flag: 'audit-retention-days',
    variables: ['SVC_AUDIT_RETENTION_DAYS'],
    yaml: ['audit.retentionDays'],
    fallback: AUDIT_RETENTION_DAYS_DEFAULT,
    parse: parseWhole(0, AUDIT_RETENTION_DAYS_MAX),
    help: 'days for which files of the audit log are kept; 0: forever',
  },
  auditBytesMax: {
    flag: 'audit-max-bytes',
    variables: ['SVC_AUDIT_MAX_BYTES'],
    yaml: ['audit.maxBytes'],
    fallback: AUDIT_LOG_BYTES_DEFAULT,
    fallbackText: '10GB',
    parse: parseBytes(AUDIT_LOG_BYTES_MIN, AUDIT_LOG_BYTES_MAX),
    help: 'size of all files of the audit log; beyond it the oldest are removed, whatever their age',
  },
  auditStrict: {
    flag: 'audit-strict',
    variables: ['SVC_AUDIT_STRICT'],
    yaml: ['audit.strict'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'answer writes with 503 while the audit log cannot be written',
  },
  auditWebhookUrl: {
    flag: 'audit-export-webhook-url',
    variables: ['SVC_AUDIT_EXPORT_WEBHOOK_URL'],
    yaml: ['audit.exportWebhookUrl'],
    fallback: '',
    parse: parseWebAddress,
    help: 'http(s) URL to which audit events are sent in batches',
  },
  auditWebhookInsecureTls: {
    flag: 'audit-export-webhook-insecure-tls',
    variables: ['SVC_AUDIT_EXPORT_WEBHOOK_INSECURE_TLS'],
    yaml: ['audit.exportWebhookInsecureTls'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'accept any certificate of that webhook',
  },
  auditSyslogAddr: {
    flag: 'audit-export-syslog-addr',
    variables: ['SVC_AUDIT_EXPORT_SYSLOG_ADDR'],
    yaml: ['audit.exportSyslogAddr'],
    fallback: null,
    fallbackText: 'none',
    parse: parseSyslogAddress,
    help: 'syslog server for audit events (RFC 5424): udp://host:port, tcp://host:port or tls://host:port; without a scheme udp',
  },
  auditSyslogFacility: {
    flag: 'audit-export-syslog-facility',
    variables: ['SVC_AUDIT_EXPORT_SYSLOG_FACILITY'],
    yaml: ['audit.exportSyslogFacility'],
    fallback: FACILITIES.indexOf('local0'),
    fallbackText: 'local0',
    parse: (text) => FACILITIES.indexOf(parseWord(FACILITIES)(text)),
    help: 'syslog facility of audit events: kern, user ... local0 to local7',
  },
  auditExportQueueMax: {
    flag: 'audit-export-buffer',
    variables: ['SVC_AUDIT_EXPORT_BUFFER'],
    yaml: ['audit.exportBuffer'],
    fallback: AUDIT_EXPORT_QUEUE_DEFAULT,
    parse: parseWhole(1, AUDIT_EXPORT_QUEUE_MAX),
    help: 'number of audit events that may wait for each exporter; beyond it the oldest are dropped and counted',
  },
}

function parseWebAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new BadValue('an http:// or https:// URL without credentials expected')
  return text
}

const STANDARD_PORTS = { udp: 514, tcp: 514, tls: 6514 } as const

/** Accepts `udp://host:port`, `tcp://[v6]:port`, `tls://host`, `host:port`. */
function parseSyslogAddress(text: string): SyslogAddress {
  const match = /^(?:(udp|tcp|tls):\/\/)?(?:\[([0-9a-f:.%]+)\]|([^\s:[\]/?#@]+))(?::(\d{1,5}))?\/?$/i.exec(text)
  const protocol = (match?.[1]?.toLowerCase() ?? 'udp') as SyslogAddress['protocol']
  const port = match?.[4] === undefined ? STANDARD_PORTS[protocol] : Number(match[4])
  if (match === null || port < 1 || port > 65_535) throw new BadValue('udp://host:port, tcp://host:port or tls://host:port expected')
  return { protocol, host: match[2] ?? match[3] ?? '', port }
}
