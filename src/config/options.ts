/**
 * The table of options: for each field of `Config` its flag, variables, YAML keys, default, parser and one
 * line of help. Everything about an option stands here and nowhere else; loader, help text and the list of
 * known names are derived. Pure data; main thread, at start.
 */
import { ANSWERS_CACHED_DEFAULT, ANSWERS_CACHED_MAX } from '../limits/answers.js'
import { DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { QUEUE_SEARCH_REQUESTS_MAX, SEARCH_QUEUE_MS_DEFAULT } from '../limits/dispatch.js'
import { BODY_BYTES_CEILING, BODY_BYTES_DEFAULT, DOCUMENT_BYTES_MAX } from '../limits/input.js'
import { READ_LANES_MAX } from '../limits/lanes.js'
import { OBJECT_RETENTION_SECONDS_DEFAULT } from '../limits/objects.js'
import { SHUTDOWN_SECONDS_DEFAULT } from '../limits/process.js'
import { BINLOG_BYTES_DEFAULT } from '../limits/store.js'
import { LOG_SLOW_MS_MAX } from '../limits/telemetry.js'
import {
  parseAddress,
  parseBoolean,
  parseBytes,
  parseDestinations,
  parseLanguage,
  parseList,
  parseText,
  parseWhole,
  parseWord,
} from './values.js'
import type { Option } from './option.js'
import type { AllowedDestination } from '../outbound/allowlist.js'
import { LOG_FORMATS, LOG_LEVELS } from '../telemetry/log.js'
import type { LogFormat, LogLevel } from '../telemetry/log.js'
import type { AccessMode, ListenAddress } from './values.js'
import { VECTOR_OPTIONS, type VectorOptionValues } from './vector_options.js'

/** The values that options give, before what `loadConfig` derives from them. */
export interface OptionValues extends VectorOptionValues {
  /** Data directory, created when absent. */
  readonly path: string
  readonly mode: AccessMode
  /** Override of `mode` for HTTP, undefined when it inherits. */
  readonly httpModeOverride: AccessMode | undefined
  /** Always true in a configuration that was loaded: nothing else could be served. */
  readonly httpEnabled: boolean
  readonly httpAddr: ListenAddress
  readonly corsOrigins: readonly string[]
  /** Host names by which clients on this machine may know the server, beside its own. */
  readonly allowedHosts: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly bodyBytesMax: number
  readonly ftsStemming: boolean
  readonly ftsDefaultLang: string
  readonly ftsSynonyms: boolean
  /** Spell correction: its operations, and what collections ask for. */
  readonly spell: boolean
  /** Tracking: histories of documents, leaderboards, histograms of events. */
  readonly temporal: boolean
  readonly searchCacheSize: number
  /** 0: no bound but the lanes. */
  readonly searchesMax: number
  readonly searchQueueMsMax: number
  readonly compressionEnabled: boolean
  /** Contents below are stored as they are. */
  readonly compressionSmallBytes: number
  /** Contents below, and not below the small one, get the light compression, others the strong one. */
  readonly compressionMediumBytes: number
  readonly durability: 'sync' | 'async'
  /** Empty: `backups/` in the data directory. */
  readonly backupDirectory: string
  readonly binlogBytesMax: number
  /** Free space under which writes are refused; 0: by the size of the file system. */
  readonly diskReserveBytes: number
  /** Where outgoing requests may go beside the public internet. */
  readonly outboundAllowlist: readonly AllowedDestination[]
  readonly outboundAllowPrivate: boolean
  /** Seconds for which unreferenced objects stay in their object store. */
  readonly objectRetentionSeconds: number
  readonly metrics: boolean
  readonly logFormat: LogFormat
  readonly logLevel: LogLevel
  /** A line in the log for each request. */
  readonly accessLog: boolean
  /** A line in the log for each request that takes longer; 0: none. */
  readonly logSlowMs: number
  /** 0: one per core, at least two. */
  readonly readLanes: number
  readonly shutdownSecondsMax: number
  readonly supervisor: boolean
  /** Quick failures in a row after which the supervisor gives up; 0: it never does. */
  readonly supervisorRestartsMax: number
  readonly production: boolean
  /** Bytes of the constant that a load test's route answers, 0 for no such route. */
  readonly loadtestConstantBytes: number
}

const MODES = ['read', 'write', 'wr'] as const

export const OPTIONS: { readonly [Name in keyof OptionValues]: Option<OptionValues[Name]> } = {
  path: {
    flag: 'db',
    variables: ['SVC_PATH'],
    yaml: ['database.path', 'path'],
    fallback: 'mddb.db',
    parse: parseText,
    help: 'data directory, created when absent',
  },
  mode: {
    flag: 'mode',
    variables: ['SVC_MODE'],
    yaml: ['database.mode', 'mode'],
    fallback: 'wr',
    parse: parseWord(MODES),
    help: 'access mode: read, write or wr (both)',
  },
  httpModeOverride: {
    flag: 'http-mode',
    variables: ['SVC_API_MODE', 'SVC_HTTP_MODE'],
    yaml: ['http.mode'],
    fallback: undefined,
    parse: parseWord(MODES),
    help: 'access mode of HTTP alone; inherits --mode',
  },
  httpEnabled: {
    flag: 'http-enabled',
    variables: ['SVC_HTTP_ENABLED'],
    yaml: ['http.enabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'serve HTTP',
  },
  httpAddr: {
    flag: 'http-addr',
    variables: ['SVC_ADDR', 'SVC_HTTP_ADDR', 'SVC_HTTP_PORT'],
    yaml: ['http.addr', 'http.port'],
    fallback: { kind: 'tcp', host: '', port: 11023 },
    parse: parseAddress,
    help: 'listen address: :port, host:port, [v6]:port or unix:/path',
  },
  corsOrigins: {
    flag: 'cors-origins',
    variables: ['SVC_CORS_ORIGINS', 'SVC_CORS_ORIGIN'],
    yaml: ['http.corsOrigins'],
    fallback: ['*'],
    parse: parseList,
    help: 'origins that browsers may call from, comma separated, or *; where it is set, requests from this machine are not held to local origins and hosts',
  },
  allowedHosts: {
    flag: 'allowed-hosts',
    variables: ['SVC_ALLOWED_HOSTS'],
    yaml: ['http.allowedHosts'],
    fallback: [],
    parse: parseList,
    help: 'host names beside localhost and addresses by which requests from this machine may call the server, comma separated, *.name for those below it, or *',
  },
  trustedProxies: {
    flag: 'trusted-proxies',
    variables: ['SVC_TRUSTED_PROXIES'],
    yaml: ['http.trustedProxies'],
    fallback: [],
    parse: parseList,
    help: 'addresses of proxies in front of the server; today it only says that there is one: requests from this machine are not held to local origins and hosts',
  },
  bodyBytesMax: {
    flag: 'max-body-bytes',
    variables: ['SVC_MAX_BODY_BYTES'],
    yaml: ['http.maxBodyBytes'],
    fallback: BODY_BYTES_DEFAULT,
    parse: parseBytes(1024, BODY_BYTES_CEILING),
    help: 'largest request body',
  },
  ftsStemming: {
    flag: 'fts-stemming',
    variables: ['SVC_FTS_STEMMING'],
    yaml: ['fts.stemmingEnabled', 'fts.stemming'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'stemming in full-text search',
  },
  ftsDefaultLang: {
    flag: 'fts-default-lang',
    variables: ['SVC_FTS_DEFAULT_LANG'],
    yaml: ['fts.defaultLang'],
    fallback: 'en',
    parse: parseLanguage,
    help: 'language of stemming and stop words where none is known',
  },
  ftsSynonyms: {
    flag: 'fts-synonyms',
    variables: ['SVC_FTS_SYNONYMS'],
    yaml: ['fts.synonymsEnabled', 'fts.synonyms'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'synonym expansion in full-text search',
  },
  spell: {
    flag: 'spell',
    variables: ['SVC_SPELL'],
    yaml: ['spell', 'spell.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'spell correction',
  },
  temporal: {
    flag: 'temporal',
    variables: ['SVC_TEMPORAL'],
    yaml: ['temporal', 'temporal.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'tracking of what documents go through: histories, most read documents, histograms',
  },
  searchCacheSize: {
    flag: 'search-cache-size',
    variables: ['SVC_SEARCH_CACHE_SIZE'],
    yaml: ['search.cacheSize'],
    fallback: ANSWERS_CACHED_DEFAULT,
    parse: parseWhole(0, ANSWERS_CACHED_MAX),
    help: 'answers kept for requests with cacheTtl; 0: none',
  },
  searchesMax: {
    flag: 'search-max-concurrent',
    variables: ['SVC_SEARCH_MAX_CONCURRENT'],
    yaml: ['search.maxConcurrent'],
    fallback: 0,
    parse: parseWhole(0, QUEUE_SEARCH_REQUESTS_MAX),
    help: 'searches that the lanes have at once; 0: as many as there are lanes for',
  },
  searchQueueMsMax: {
    flag: 'search-queue-timeout-ms',
    variables: ['SVC_SEARCH_QUEUE_TIMEOUT_MS'],
    yaml: ['search.queueTimeoutMs'],
    fallback: SEARCH_QUEUE_MS_DEFAULT,
    parse: parseWhole(1, DEADLINE_SEARCH_MS),
    help: 'how long a search may wait for a lane before it is answered 503',
  },
  compressionEnabled: {
    flag: 'compression',
    variables: ['SVC_COMPRESSION_ENABLED'],
    yaml: ['compression.enabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'compression of stored contents',
  },
  compressionSmallBytes: {
    flag: 'compression-small-threshold',
    variables: ['SVC_COMPRESSION_SMALL_THRESHOLD'],
    yaml: ['compression.smallThreshold'],
    fallback: 1024,
    parse: parseBytes(0, DOCUMENT_BYTES_MAX),
    help: 'contents from this size on get the light compression',
  },
  compressionMediumBytes: {
    flag: 'compression-medium-threshold',
    variables: ['SVC_COMPRESSION_MEDIUM_THRESHOLD'],
    yaml: ['compression.mediumThreshold'],
    fallback: 10_240,
    parse: parseBytes(0, DOCUMENT_BYTES_MAX),
    help: 'contents from this size on get the strong compression',
  },
  durability: {
    flag: 'durability',
    variables: ['SVC_DURABILITY'],
    yaml: ['database.durability'],
    fallback: 'sync',
    parse: parseWord(['sync', 'async'] as const),
    help: 'sync: writes are acknowledged once flushed to disk; async: once committed, and a power cut can lose the last ones',
  },
  binlogBytesMax: {
    flag: 'binlog-max-size',
    variables: ['SVC_BINLOG_MAX_SIZE'],
    yaml: ['binlog.maxSize', 'replication.binlogMaxSize'],
    fallback: BINLOG_BYTES_DEFAULT,
    parse: parseBytes(2 ** 20, 2 ** 40),
    help: 'binlog kept beyond what consumers need',
  },
  diskReserveBytes: {
    flag: 'disk-reserve',
    variables: ['SVC_DISK_RESERVE'],
    yaml: ['database.diskReserve'],
    fallback: 0,
    fallbackText: 'a 16th of the file system, at most 64MB',
    parse: parseBytes(0, 2 ** 50),
    help: 'free space under which writes are refused, so that reads, deletes and the shutdown go on',
  },
  outboundAllowlist: {
    flag: 'outbound-allowlist',
    variables: ['SVC_OUTBOUND_ALLOWLIST'],
    yaml: ['outbound.allowlist'],
    fallback: [],
    parse: parseDestinations,
    help: 'where outgoing requests may go beside the public internet: names, *.names, addresses, networks, each with or without :port, comma separated',
  },
  outboundAllowPrivate: {
    flag: 'outbound-allow-private',
    variables: ['SVC_OUTBOUND_ALLOW_PRIVATE'],
    yaml: ['outbound.allowPrivate'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'outgoing requests may go to this machine and to private networks',
  },
  objectRetentionSeconds: {
    flag: 's3-retention',
    variables: ['SVC_S3_RETENTION'],
    yaml: ['storage.s3Retention'],
    fallback: OBJECT_RETENTION_SECONDS_DEFAULT,
    parse: parseWhole(0, 2 ** 31),
    help: 'seconds for which an object store keeps what no document refers to any more, so that a backup of before can be restored',
  },
  ...VECTOR_OPTIONS,
  metrics: {
    flag: 'metrics',
    variables: ['SVC_METRICS'],
    yaml: ['metrics', 'metrics.enabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'GET /metrics',
  },
  logFormat: {
    flag: 'log-format',
    variables: ['SVC_LOG_FORMAT'],
    yaml: ['log.format'],
    fallback: 'text',
    parse: parseWord(LOG_FORMATS),
    onSignal: true,
    help: 'lines of the log as text or json',
  },
  logLevel: {
    flag: 'log-level',
    variables: ['SVC_LOG_LEVEL'],
    yaml: ['log.level'],
    fallback: 'info',
    parse: parseWord(LOG_LEVELS),
    onSignal: true,
    help: 'what is logged: debug, info, warn or error, and what is worse',
  },
  accessLog: {
    flag: 'access-log',
    variables: ['SVC_ACCESS_LOG'],
    yaml: ['log.access'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    onSignal: true,
    help: 'a line in the log for each request: method, path, status, bytes, time',
  },
  logSlowMs: {
    flag: 'log-slow-ms',
    variables: ['SVC_LOG_SLOW_MS'],
    yaml: ['log.slowMs'],
    fallback: 0,
    parse: parseWhole(0, LOG_SLOW_MS_MAX),
    onSignal: true,
    help: 'a line in the log for each request that takes more milliseconds; 0: none',
  },
  backupDirectory: {
    flag: 'backup-dir',
    variables: ['SVC_BACKUP_DIR'],
    yaml: ['database.backupDir', 'backupDir'],
    fallback: '',
    parse: parseText,
    help: 'directory of backups; default: backups/ in the data directory',
  },
  readLanes: {
    flag: 'read-lanes',
    variables: ['SVC_READ_LANES'],
    yaml: ['lanes.read'],
    fallback: 0,
    parse: parseWhole(0, READ_LANES_MAX),
    help: 'threads that answer reads; 0 for one per core, at least two',
  },
  shutdownSecondsMax: {
    flag: 'shutdown-timeout-sec',
    variables: ['SVC_SHUTDOWN_TIMEOUT_SEC'],
    yaml: ['shutdownTimeoutSec'],
    fallback: SHUTDOWN_SECONDS_DEFAULT,
    parse: parseWhole(1, 3600),
    help: 'how long a shutdown waits for accepted requests',
  },
  supervisor: {
    flag: 'supervisor',
    variables: ['SVC_SUPERVISOR'],
    yaml: ['supervisor'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'a parent process that restarts the server after a crash',
  },
  supervisorRestartsMax: {
    flag: 'supervisor-restarts-max',
    variables: ['SVC_SUPERVISOR_RESTARTS_MAX'],
    yaml: ['supervisorRestartsMax'],
    fallback: 0,
    parse: parseWhole(0, 1_000_000),
    help: 'quick failures in a row after which the supervisor exits with 1, for a service manager that restarts it; 0: it goes on, with pauses of 1, 2, 4 ... 60 s',
  },
  production: {
    flag: 'production',
    variables: ['SVC_PRODUCTION'],
    yaml: ['production'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'refuse to start unless every guard of a production server is on',
  },
  loadtestConstantBytes: {
    flag: 'loadtest-constant',
    variables: ['SVC_LOADTEST_CONSTANT'],
    yaml: [],
    fallback: 0,
    parse: parseBytes(0, 2 ** 20),
    help: 'for load tests only: size of a constant answer, 0 for none',
  },
}
