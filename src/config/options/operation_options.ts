/**
 * The options of the operation of a server, a part of the table of options (options.ts): access to the
 * metrics, profiles, search statistics, shared memory, the check for updates, the admin panel, the check of
 * names. The token of the metrics is not an option, because every process on the machine can read flags
 * (config/secrets.ts). Pure data; main thread, at start.
 */
import type { Option } from './option.js'
import { parseBoolean, parseUrl, parseWord } from './values.js'

const PANEL_MODES = ['internal', 'external'] as const

export interface OperationOptionValues {
  /** `external`: a proxy in front of the server sends the CORS headers. */
  readonly panelMode: (typeof PANEL_MODES)[number]
  /** False: `/metrics` needs the token or the rights of an administrator. */
  readonly metricsPublic: boolean
  /** Names of collections and users in labels, also while access control is on. */
  readonly metricsDetail: boolean
  /** Searches answer with `searchStats` and are counted for the search advisor. */
  readonly searchStats: boolean
  /** Every user may see and write the sessions of conversational memory of all others. */
  readonly memoryShared: boolean
  /** Offers profiles of the threads. */
  readonly pprofEnabled: boolean
  /** Address of the description of the newest version; empty: not asked. */
  readonly updateUrl: string
  readonly updateCheck: boolean
  /** Unknown names in sections that protect nothing are warnings. */
  readonly configLenient: boolean
}

export const OPERATION_OPTIONS: { readonly [Name in keyof OperationOptionValues]: Option<OperationOptionValues[Name]> } = {
  panelMode: {
    flag: 'panel-mode',
    variables: ['SVC_PANEL_MODE'],
    yaml: ['panel.mode', 'panelMode'],
    fallback: 'internal',
    parse: parseWord(PANEL_MODES),
    help: 'internal: the server sends CORS headers; external: a proxy in front of the admin panel does, and the server sends none',
  },
  metricsPublic: {
    flag: 'metrics-public',
    variables: ['SVC_METRICS_PUBLIC'],
    yaml: ['metrics.public'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'GET /metrics needs no credentials, unless SVC_METRICS_TOKEN is set',
  },
  metricsDetail: {
    flag: 'metrics-detail',
    variables: ['SVC_METRICS_DETAIL'],
    yaml: ['metrics.detail'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'names of collections and users in the labels of metrics even while access control is on; without access control they are always there',
  },
  searchStats: {
    flag: 'search-stats',
    variables: ['SVC_SEARCH_STATS'],
    yaml: ['search.stats'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'searches answer with searchStats and are counted for the search advisor, which shows their texts',
  },
  memoryShared: {
    flag: 'memory-shared',
    variables: ['SVC_MEMORY_SHARED'],
    yaml: ['memory.shared'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'with access control on, users may see and write the sessions of conversational memory of all users, not only their own',
  },
  pprofEnabled: {
    flag: 'pprof',
    variables: ['SVC_PPROF_ENABLED'],
    yaml: ['pprof.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'CPU and heap profiles of the threads of the server under /debug/pprof',
  },
  updateUrl: {
    flag: 'update-url',
    variables: ['SVC_UPDATE_URL'],
    yaml: ['update.url'],
    fallback: '',
    parse: parseUrl,
    help: 'address that describes the newest version as JSON, asked at start and once a day; empty: nothing is asked',
  },
  updateCheck: {
    flag: 'update-check',
    variables: ['SVC_UPDATE_CHECK'],
    yaml: ['update.check'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'check for updates where SVC_UPDATE_URL is set; 0: no check',
  },
  configLenient: {
    flag: 'config-lenient',
    variables: ['SVC_CONFIG_LENIENT'],
    yaml: [],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'start with unknown YAML keys and misspelled variables, which are then warnings; not below auth, tls, encryption, audit, metrics, rateLimit, mcp, replication and production',
  },
}
