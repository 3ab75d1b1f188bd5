/**
 * The options of the protocols beside HTTP/JSON, a part of the table of options (options.ts): gRPC, GraphQL,
 * MCP. The keys of MCP are not among them (mcp_keys.ts). Pure data; main thread, at start.
 */
import { RATE_REQUESTS_MAX, RATE_WINDOW_MS_MAX, RATE_WINDOW_MS_MIN } from '../../limits/access.js'
import { LOG_LEVELS, type LogLevel } from '../../telemetry/log.js'
import { MCP_REVISIONS } from './mcp_revisions.js'
import type { Option } from './option.js'
import {
  ACCESS_MODES,
  type AccessMode,
  type ListenAddress,
  parseAddress,
  parseBoolean,
  parseDuration,
  parseSeconds,
  parseText,
  parseWhole,
  parseWord,
} from './values.js'

/** Milliseconds for which a key that was looked up is kept; from none to a day. */
const MCP_KEY_CACHE_MS_DEFAULT = 300_000
const MCP_KEY_CACHE_MS_MAX = 86_400_000
/** Requests of one client in a window and further ones in a burst, where nothing is configured. */
const MCP_RATE_REQUESTS_DEFAULT = 100
const MCP_RATE_BURST_DEFAULT = 20
const MCP_RATE_WINDOW_MS_DEFAULT = 60_000

export interface SurfaceOptionValues {
  readonly grpcEnabled: boolean
  /** Undefined: the host of HTTP's address with the port of gRPC. */
  readonly grpcAddrGiven: ListenAddress | undefined
  /** Overrides `mode` for gRPC. Undefined: inherits `mode`. */
  readonly grpcModeOverride: AccessMode | undefined
  /** GraphQL is served on HTTP's address, in HTTP's mode. */
  readonly graphqlEnabled: boolean
  /** Undefined: on, but not in production. */
  readonly graphqlPlaygroundGiven: boolean | undefined
  readonly mcpEnabled: boolean
  /** Undefined: the host of HTTP's address with the port of MCP. */
  readonly mcpAddrGiven: ListenAddress | undefined
  /** Overrides `mode` for MCP. Undefined: inherits `mode`. */
  readonly mcpModeOverride: AccessMode | undefined
  /** MCP over standard input and output, and no other protocol. */
  readonly mcpStdio: boolean
  /** The public host name under which clients reach MCP; empty: as they connect. */
  readonly mcpDomain: string
  /** A YAML file with tools of the operator; empty: none. */
  readonly mcpConfigFile: string
  readonly mcpBuiltinTools: boolean
  readonly mcpServerName: string
  readonly mcpServerDescription: string
  readonly mcpServerVendor: string
  readonly mcpServerHomepage: string
  readonly mcpInstructions: string
  /** Clients of MCP need one of its keys; other credentials are not looked at there. */
  readonly mcpApiKeyEnabled: boolean
  readonly mcpApiKeyCacheMs: number
  readonly mcpRateLimitEnabled: boolean
  readonly mcpRateLimitRequests: number
  readonly mcpRateLimitWindowMs: number
  readonly mcpRateLimitBurst: number
  readonly mcpRateLimitBy: 'ip' | 'api_key' | 'session'
  /** Log a line for each request of MCP. */
  readonly mcpLoggingEnabled: boolean
  readonly mcpLoggingLevel: LogLevel
  /** The only revision that is served; empty: all. */
  readonly mcpProtocolVersion: (typeof MCP_REVISIONS)[number] | ''
}

export const SURFACE_OPTIONS: { readonly [Name in keyof SurfaceOptionValues]: Option<SurfaceOptionValues[Name]> } = {
  grpcEnabled: {
    flag: 'grpc-enabled',
    variables: ['SVC_GRPC_ENABLED'],
    yaml: ['grpc.enabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'serve gRPC',
  },
  grpcAddrGiven: {
    flag: 'grpc-addr',
    variables: ['SVC_GRPC_ADDR', 'SVC_GRPC_PORT'],
    yaml: ['grpc.addr', 'grpc.port'],
    fallback: undefined,
    fallbackText: ':11024',
    parse: parseAddress,
    help: 'listen address of gRPC; default: the host of HTTP with port 11024',
  },
  grpcModeOverride: {
    flag: 'grpc-mode',
    variables: ['SVC_GRPC_MODE'],
    yaml: ['grpc.mode'],
    fallback: undefined,
    parse: parseWord(ACCESS_MODES),
    help: 'access mode of gRPC; default: inherits --mode',
  },
  graphqlEnabled: {
    flag: 'graphql',
    variables: ['SVC_GRAPHQL_ENABLED'],
    yaml: ['graphql.enabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'serve GraphQL: POST /graphql on the address of HTTP',
  },
  graphqlPlaygroundGiven: {
    flag: 'graphql-playground',
    variables: ['SVC_GRAPHQL_PLAYGROUND'],
    yaml: ['graphql.playground'],
    fallback: undefined,
    fallbackText: 'true, false with --production',
    parse: parseBoolean,
    boolean: true,
    help: 'serve a page to try GraphQL with: GET /playground',
  },
  mcpEnabled: {
    flag: 'mcp-enabled',
    variables: ['SVC_MCP_ENABLED'],
    yaml: ['mcp.enabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'serve MCP, the protocol of tools for language models',
  },
  mcpAddrGiven: {
    flag: 'mcp-addr',
    variables: ['SVC_MCP_ADDR', 'SVC_MCP_PORT'],
    yaml: ['mcp.addr', 'mcp.port'],
    fallback: undefined,
    fallbackText: ':9000',
    parse: parseAddress,
    help: 'listen address of MCP; default: the host of HTTP with port 9000',
  },
  mcpModeOverride: {
    flag: 'mcp-mode',
    variables: ['SVC_MCP_MODE'],
    yaml: ['mcp.mode'],
    fallback: undefined,
    parse: parseWord(ACCESS_MODES),
    help: 'access mode of MCP; default: inherits --mode',
  },
  mcpStdio: {
    flag: 'mcp-stdio',
    variables: ['SVC_MCP_STDIO'],
    yaml: ['mcp.stdio'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'serve MCP over standard input and output, and nothing else',
  },
  mcpDomain: {
    flag: 'mcp-domain',
    variables: ['SVC_MCP_DOMAIN'],
    yaml: ['mcp.domain'],
    fallback: '',
    parse: parseText,
    help: 'host name under which clients reach MCP, as their requests and pages name it',
  },
  mcpConfigFile: {
    flag: 'mcp-config',
    variables: ['SVC_MCP_CONFIG'],
    yaml: ['mcp.config'],
    fallback: '',
    parse: parseText,
    help: 'YAML file with further tools of MCP (custom_tools)',
  },
  mcpBuiltinTools: {
    flag: 'mcp-builtin-tools',
    variables: ['SVC_MCP_BUILTIN_TOOLS'],
    yaml: ['mcp.builtinTools'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'offer the tools of the server; without them, those of --mcp-config only',
  },
  mcpServerName: {
    flag: 'mcp-server-name',
    variables: ['SVC_MCP_SERVER_NAME'],
    yaml: ['mcp.serverInfo.name'],
    fallback: 'mddbd',
    parse: parseText,
    help: 'name by which the server introduces itself to clients of MCP',
  },
  mcpServerDescription: {
    flag: 'mcp-server-description',
    variables: ['SVC_MCP_SERVER_DESCRIPTION'],
    yaml: ['mcp.serverInfo.description'],
    fallback: '',
    parse: parseText,
    help: 'description of the server for clients of MCP',
  },
  mcpServerVendor: {
    flag: 'mcp-server-vendor',
    variables: ['SVC_MCP_SERVER_VENDOR'],
    yaml: ['mcp.serverInfo.vendor'],
    fallback: '',
    parse: parseText,
    help: 'who runs the server, for clients of MCP',
  },
  mcpServerHomepage: {
    flag: 'mcp-server-homepage',
    variables: ['SVC_MCP_SERVER_HOMEPAGE'],
    yaml: ['mcp.serverInfo.homepage'],
    fallback: '',
    parse: parseText,
    help: 'web page of the server for clients of MCP',
  },
  mcpInstructions: {
    flag: 'mcp-instructions',
    variables: ['SVC_MCP_INSTRUCTIONS'],
    yaml: ['mcp.instructions'],
    fallback: '',
    parse: parseText,
    help: 'text that tells language models how to use the server',
  },
  mcpApiKeyEnabled: {
    flag: 'mcp-api-key-enabled',
    variables: ['SVC_MCP_API_KEY_ENABLED'],
    yaml: ['mcp.apiKeyEnabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'clients of MCP need one of its keys (SVC_MCP_API_KEYS, POST /v1/mcp/keys), and no other credential',
  },
  mcpApiKeyCacheMs: {
    flag: 'mcp-api-key-cache-ttl',
    variables: ['SVC_MCP_API_KEY_CACHE_TTL'],
    yaml: ['mcp.apiKeyCacheTtl'],
    fallback: MCP_KEY_CACHE_MS_DEFAULT,
    fallbackText: '5m',
    parse: parseDuration(0, MCP_KEY_CACHE_MS_MAX),
    help: 'how long a key that was looked up is kept; changes of keys and users hold at once',
  },
  mcpRateLimitEnabled: {
    flag: 'mcp-rate-limit',
    variables: ['SVC_MCP_RATE_LIMIT_ENABLED'],
    yaml: ['mcp.rateLimit.enabled', 'mcp.rateLimitEnabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'limit the requests of each client of MCP in a window of time',
  },
  mcpRateLimitRequests: {
    flag: 'mcp-rate-limit-requests',
    variables: ['SVC_MCP_RATE_LIMIT_REQUESTS'],
    yaml: ['mcp.rateLimit.requests', 'mcp.rateLimitRequests'],
    fallback: MCP_RATE_REQUESTS_DEFAULT,
    parse: parseWhole(1, RATE_REQUESTS_MAX),
    help: 'number of requests of one client of MCP in a window, to which the burst is added',
  },
  mcpRateLimitWindowMs: {
    flag: 'mcp-rate-limit-window',
    variables: ['SVC_MCP_RATE_LIMIT_WINDOW'],
    yaml: ['mcp.rateLimit.window', 'mcp.rateLimitWindow'],
    fallback: MCP_RATE_WINDOW_MS_DEFAULT,
    fallbackText: '60s',
    parse: parseSeconds(RATE_WINDOW_MS_MIN, RATE_WINDOW_MS_MAX),
    help: 'length of that window, in seconds or as a duration such as 60s or 1m',
  },
  mcpRateLimitBurst: {
    flag: 'mcp-rate-limit-burst',
    variables: ['SVC_MCP_RATE_LIMIT_BURST'],
    yaml: ['mcp.rateLimit.burst', 'mcp.rateLimitBurst'],
    fallback: MCP_RATE_BURST_DEFAULT,
    parse: parseWhole(0, RATE_REQUESTS_MAX),
    help: 'number of further requests of one client of MCP in a window',
  },
  mcpRateLimitBy: {
    flag: 'mcp-rate-limit-by',
    variables: ['SVC_MCP_RATE_LIMIT_BY'],
    yaml: ['mcp.rateLimit.by', 'mcp.rateLimitBy'],
    fallback: 'ip',
    parse: parseWord(['ip', 'api_key', 'session'] as const),
    help: 'what a client of MCP is counted by: its address, its key, or its session; without the latter two, its address',
  },
  mcpLoggingEnabled: {
    flag: 'mcp-logging',
    variables: ['SVC_MCP_LOGGING_ENABLED'],
    yaml: ['mcp.loggingEnabled', 'mcp.logging.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'log a line for each request of MCP',
  },
  mcpLoggingLevel: {
    flag: 'mcp-logging-level',
    variables: ['SVC_MCP_LOGGING_LEVEL'],
    yaml: ['mcp.loggingLevel', 'mcp.logging.level'],
    fallback: 'info',
    parse: parseWord(LOG_LEVELS),
    help: 'level of those lines, and the least level of messages to clients that asked for none',
  },
  mcpProtocolVersion: {
    flag: 'mcp-protocol-version',
    variables: ['SVC_MCP_PROTOCOL_VERSION'],
    yaml: ['mcp.protocolVersion'],
    fallback: '',
    parse: parseWord(MCP_REVISIONS),
    help: 'the only revision of MCP that is served, such as 2025-11-25; default: all that the server knows',
  },
}
