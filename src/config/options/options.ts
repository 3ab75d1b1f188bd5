/**
 * The table of options: for each field of `Config` its flag, variables, YAML keys, default, parser and one
 * line of help. This is the only definition of an option; loader, help text and the list of known names are
 * derived from it. Pure data; main thread, at start.
 */
import {
  ANSWERS_CACHED_DEFAULT,
  ANSWERS_CACHED_MAX,
  BODY_BYTES_CEILING,
  BODY_BYTES_DEFAULT,
  DOCUMENT_BYTES_MAX,
} from '../../limits/documents.js'
import { DEADLINE_SEARCH_MS, QUEUE_SEARCH_REQUESTS_MAX, READ_LANES_MAX, SEARCH_QUEUE_MS_DEFAULT } from '../../limits/lanes.js'
import { LOG_SLOW_MS_MAX } from '../../limits/process.js'
import { BINLOG_BYTES_DEFAULT, OBJECT_RETENTION_SECONDS_DEFAULT } from '../../limits/store.js'
import { HTTP_LOOPS_MAX } from '../../limits/surfaces.js'
import type { LogFormat, LogLevel } from '../../telemetry/log.js'
import { LOG_FORMATS, LOG_LEVELS } from '../../telemetry/log.js'
import { AUDIT_OPTIONS, type AuditOptionValues } from './audit_options.js'
import { AUTH_OPTIONS, type AuthOptionValues } from './auth_options.js'
import { LIMIT_OPTIONS, type LimitOptionValues } from './limit_options.js'
import { OPERATION_OPTIONS, type OperationOptionValues } from './operation_options.js'
import type { Option } from './option.js'
import { OUTBOUND_OPTIONS, type OutboundOptionValues } from './outbound_options.js'
import { PROCESS_OPTIONS, type ProcessOptionValues } from './process_options.js'
import { SURFACE_OPTIONS, type SurfaceOptionValues } from './surface_options.js'
import { TLS_OPTIONS, type TlsOptionValues } from './tls_options.js'
import type { AccessMode, ListenAddress } from './values.js'
import {
  ACCESS_MODES,
  parseAddress,
  parseBoolean,
  parseBytes,
  parseLanguage,
  parseList,
  parseProxies,
  parseText,
  parseWhole,
  parseWord,
} from './values.js'
import { VECTOR_OPTIONS, type VectorOptionValues } from './vector_options.js'
import { WIKI_OPTIONS, type WikiOptionValues } from './wiki_options.js'

/** The values of the options, before `loadConfig` derives further values from them. */
export interface OptionValues
  extends
    VectorOptionValues,
    OperationOptionValues,
    AuthOptionValues,
    LimitOptionValues,
    TlsOptionValues,
    ProcessOptionValues,
    AuditOptionValues,
    SurfaceOptionValues,
    OutboundOptionValues,
    WikiOptionValues {
  /** Data directory, created if it does not exist. */
  readonly path: string
  readonly mode: AccessMode
  /** Overrides `mode` for HTTP. Undefined: inherits `mode`. */
  readonly httpModeOverride: AccessMode | undefined
  readonly httpEnabled: boolean
  readonly httpAddr: ListenAddress
  readonly corsOrigins: readonly string[]
  /** Host names by which clients on this machine may call the server, in addition to its own. */
  readonly allowedHosts: readonly string[]
  /** Peers whose `X-Forwarded-For` is believed: addresses, networks, `unix`. */
  readonly trustedProxies: readonly string[]
  readonly bodyBytesMax: number
  readonly ftsStemming: boolean
  readonly ftsDefaultLang: string
  readonly ftsSynonyms: boolean
  /** Spell correction: its operations, and the correction that collections enable. */
  readonly spell: boolean
  /** Tracking: histories of documents, leaderboards, histograms of events. */
  readonly temporal: boolean
  readonly searchCacheSize: number
  /** 0: limited only by the number of lanes. */
  readonly searchesMax: number
  readonly searchQueueMsMax: number
  readonly compressionEnabled: boolean
  /** Smaller contents are stored uncompressed. */
  readonly compressionSmallBytes: number
  /**
   * Contents below this size, down to the small threshold, get the light compression. Larger ones get the
   * strong compression.
   */
  readonly compressionMediumBytes: number
  readonly durability: 'sync' | 'async'
  /** Empty: `backups/` in the data directory. */
  readonly backupDirectory: string
  readonly binlogBytesMax: number
  /** Minimum free space for writes. 0: derived from the size of the file system. */
  readonly diskReserveBytes: number
  /** Seconds for which unreferenced objects are kept in their object store. */
  readonly objectRetentionSeconds: number
  readonly metrics: boolean
  readonly logFormat: LogFormat
  readonly logLevel: LogLevel
  /** Log a line for each request. */
  readonly accessLog: boolean
  /** Log a line for each request that takes longer. 0: off. */
  readonly logSlowMs: number
  /** 0: one per core, at least two. */
  readonly readLanes: number
  readonly httpLoops: number
  readonly production: boolean
  /** Size in bytes of the constant response of the load-test route. 0: no such route. */
  readonly loadtestConstantBytes: number
}

export const OPTIONS: { readonly [Name in keyof OptionValues]: Option<OptionValues[Name]> } = {
  path: {
    flag: 'db',
    variables: ['SVC_PATH'],
    yaml: ['database.path', 'path'],
    fallback: 'mddb.db',
    parse: parseText,
    help: 'data directory, created if it does not exist',
  },
  mode: {
    flag: 'mode',
    variables: ['SVC_MODE'],
    yaml: ['database.mode', 'mode'],
    fallback: 'wr',
    parse: parseWord(ACCESS_MODES),
    help: 'access mode: read, write or wr (both)',
  },
  httpModeOverride: {
    flag: 'http-mode',
    variables: ['SVC_API_MODE', 'SVC_HTTP_MODE'],
    yaml: ['http.mode'],
    fallback: undefined,
    parse: parseWord(ACCESS_MODES),
    help: 'access mode of HTTP; default: inherits --mode',
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
    help: 'allowed CORS origins, comma separated, or *; if set, requests from this machine are not restricted to local origins and hosts',
  },
  allowedHosts: {
    flag: 'allowed-hosts',
    variables: ['SVC_ALLOWED_HOSTS'],
    yaml: ['http.allowedHosts'],
    fallback: [],
    parse: parseList,
    help: 'host names, besides localhost and addresses, that requests from this machine may use, comma separated; *.name allows all names below it, * allows all',
  },
  trustedProxies: {
    flag: 'trusted-proxies',
    variables: ['SVC_TRUSTED_PROXIES'],
    yaml: ['http.trustedProxies'],
    fallback: [],
    parse: parseProxies,
    help: 'addresses and networks of the proxies in front of the server, or unix for those on a unix socket, comma separated: from these, X-Forwarded-For says who the client is; if set, requests from this machine are not restricted to local origins and hosts',
  },
  bodyBytesMax: {
    flag: 'max-body-bytes',
    variables: ['SVC_MAX_BODY_BYTES'],
    yaml: ['http.maxBodyBytes'],
    fallback: BODY_BYTES_DEFAULT,
    parse: parseBytes(1024, BODY_BYTES_CEILING),
    help: 'maximum size of a request body',
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
    help: 'language of stemming and stop words if the language is unknown',
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
    help: 'tracking of documents: histories, most read documents, histograms of events',
  },
  searchCacheSize: {
    flag: 'search-cache-size',
    variables: ['SVC_SEARCH_CACHE_SIZE'],
    yaml: ['search.cacheSize'],
    fallback: ANSWERS_CACHED_DEFAULT,
    parse: parseWhole(0, ANSWERS_CACHED_MAX),
    help: 'maximum number of cached responses to requests with cacheTtl; 0: no cache',
  },
  searchesMax: {
    flag: 'search-max-concurrent',
    variables: ['SVC_SEARCH_MAX_CONCURRENT'],
    yaml: ['search.maxConcurrent'],
    fallback: 0,
    parse: parseWhole(0, QUEUE_SEARCH_REQUESTS_MAX),
    help: 'maximum number of concurrent searches in the lanes; 0: limited only by the number of lanes',
  },
  searchQueueMsMax: {
    flag: 'search-queue-timeout-ms',
    variables: ['SVC_SEARCH_QUEUE_TIMEOUT_MS'],
    yaml: ['search.queueTimeoutMs'],
    fallback: SEARCH_QUEUE_MS_DEFAULT,
    parse: parseWhole(1, DEADLINE_SEARCH_MS),
    help: 'maximum time in milliseconds that a search waits for a lane before it is answered with 503',
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
    help: 'minimum size of contents that get the light compression',
  },
  compressionMediumBytes: {
    flag: 'compression-medium-threshold',
    variables: ['SVC_COMPRESSION_MEDIUM_THRESHOLD'],
    yaml: ['compression.mediumThreshold'],
    fallback: 10_240,
    parse: parseBytes(0, DOCUMENT_BYTES_MAX),
    help: 'minimum size of contents that get the strong compression',
  },
  durability: {
    flag: 'durability',
    variables: ['SVC_DURABILITY'],
    yaml: ['database.durability'],
    fallback: 'sync',
    parse: parseWord(['sync', 'async'] as const),
    help: 'sync: writes are acknowledged after the flush to disk; async: after the commit, so that a power failure can lose the last writes',
  },
  binlogBytesMax: {
    flag: 'binlog-max-size',
    variables: ['SVC_BINLOG_MAX_SIZE'],
    yaml: ['binlog.maxSize', 'replication.binlogMaxSize'],
    fallback: BINLOG_BYTES_DEFAULT,
    parse: parseBytes(2 ** 20, 2 ** 40),
    help: 'size of the binlog that is kept in addition to what consumers need',
  },
  diskReserveBytes: {
    flag: 'disk-reserve',
    variables: ['SVC_DISK_RESERVE'],
    yaml: ['database.diskReserve'],
    fallback: 0,
    fallbackText: 'a 16th of the file system, at most 64MB',
    parse: parseBytes(0, 2 ** 50),
    help: 'minimum free disk space for writes; below it writes are refused, while reads, deletes and the shutdown still work',
  },
  objectRetentionSeconds: {
    flag: 's3-retention',
    variables: ['SVC_S3_RETENTION'],
    yaml: ['storage.s3Retention'],
    fallback: OBJECT_RETENTION_SECONDS_DEFAULT,
    parse: parseWhole(0, 2 ** 31),
    help: 'seconds for which unreferenced objects stay in their object store, so that an older backup can be restored',
  },
  ...VECTOR_OPTIONS,
  ...LIMIT_OPTIONS,
  ...OUTBOUND_OPTIONS,
  ...WIKI_OPTIONS,
  ...AUTH_OPTIONS,
  ...TLS_OPTIONS,
  ...AUDIT_OPTIONS,
  ...SURFACE_OPTIONS,
  ...OPERATION_OPTIONS,
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
    help: 'format of log lines: text or json',
  },
  logLevel: {
    flag: 'log-level',
    variables: ['SVC_LOG_LEVEL'],
    yaml: ['log.level'],
    fallback: 'info',
    parse: parseWord(LOG_LEVELS),
    onSignal: true,
    help: 'minimum level of logged events: debug, info, warn or error',
  },
  accessLog: {
    flag: 'access-log',
    variables: ['SVC_ACCESS_LOG'],
    yaml: ['log.access'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    onSignal: true,
    help: 'log a line for each request: method, path, status, bytes, time',
  },
  logSlowMs: {
    flag: 'log-slow-ms',
    variables: ['SVC_LOG_SLOW_MS'],
    yaml: ['log.slowMs'],
    fallback: 0,
    parse: parseWhole(0, LOG_SLOW_MS_MAX),
    onSignal: true,
    help: 'log a line for each request that takes more than this number of milliseconds; 0: off',
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
    help: 'number of threads for reads, at least two; 0: one per core',
  },
  httpLoops: {
    flag: 'http-loops',
    variables: ['SVC_HTTP_LOOPS'],
    yaml: ['http.loops'],
    fallback: 0,
    parse: parseWhole(0, HTTP_LOOPS_MAX),
    help: 'number of event loops that serve HTTP; 0: one for two cores; a unix socket is served by one',
  },
  ...PROCESS_OPTIONS,
  production: {
    flag: 'production',
    variables: ['SVC_PRODUCTION'],
    yaml: ['production'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'refuse to start unless all guards of a production server are enabled',
  },
  loadtestConstantBytes: {
    flag: 'loadtest-constant',
    variables: ['SVC_LOADTEST_CONSTANT'],
    yaml: [],
    fallback: 0,
    parse: parseBytes(0, 2 ** 20),
    help: 'for load tests only: size of the constant response; 0: none',
  },
}
