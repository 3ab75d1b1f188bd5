/**
 * The options of limits on clients, a part of the table of options (options.ts): rate limit, connections,
 * events about failed authentication. Pure data; main thread, at start.
 */
import { RATE_REQUESTS_MAX, RATE_WINDOW_MS_MAX, RATE_WINDOW_MS_MIN } from '../../limits/access.js'
import type { Option } from './option.js'
import { parseBoolean, parseSeconds, parseWhole, parseWord } from './values.js'

/** Requests in a window and further ones in a burst, where nothing is configured: those of the contract. */
const RATE_REQUESTS_DEFAULT = 100
const RATE_BURST_DEFAULT = 50
/** A window of the rate limit: a minute. */
const RATE_WINDOW_MS_DEFAULT = 60_000
/** Failures of one actor and address in a window that are an event, where nothing is configured. */
const AUTH_BURST_THRESHOLD_DEFAULT = 10
/** Times of failures are kept up to the threshold: 1 000 for each of the actors. */
const AUTH_BURST_THRESHOLD_MAX = 1_000
/** Seconds of the window, and between two events about one actor and address: as in the contract. */
const AUTH_BURST_WINDOW_SECONDS_DEFAULT = 60
const AUTH_BURST_COOLDOWN_SECONDS_DEFAULT = 300
/** A day. */
const AUTH_BURST_SECONDS_MAX = 86_400
/** Open connections of one address, where nothing is configured, and the highest number to configure. */
const CONNECTIONS_OF_ADDRESS_DEFAULT = 1_024
const CONNECTIONS_OF_ADDRESS_MAX = 1_000_000
/**
 * Clients of the change feed in all, and of one address, where nothing is configured: those of the contract.
 */
const SSE_CLIENTS_DEFAULT = 1_000
const SSE_CLIENTS_OF_ADDRESS_DEFAULT = 5
/** Each client has a connection, and is looked at for each page of changes. */
const SSE_CLIENTS_MAX = 100_000

export interface LimitOptionValues {
  readonly rateLimitEnabled: boolean
  /** Requests of one client in a window, and further ones in a burst. The limit is their sum. */
  readonly rateLimitRequests: number
  readonly rateLimitBurst: number
  readonly rateLimitWindowMs: number
  /** `user`: clients with a name are counted by it, others by their address. */
  readonly rateLimitBy: 'ip' | 'user'
  /** Open connections of one address over HTTP. 0: any number. */
  readonly connectionsOfAddressMax: number
  /** Whether the change feed is offered. */
  readonly sseEnabled: boolean
  /** Clients of the change feed, on all ports together. */
  readonly sseClientsMax: number
  readonly sseClientsOfAddressMax: number
  readonly incidentAuthThreshold: number
  readonly incidentAuthWindowSeconds: number
  readonly incidentAuthCooldownSeconds: number
}

export const LIMIT_OPTIONS: { readonly [Name in keyof LimitOptionValues]: Option<LimitOptionValues[Name]> } = {
  rateLimitEnabled: {
    flag: 'rate-limit',
    variables: ['SVC_RATE_LIMIT_ENABLED'],
    yaml: ['rateLimit.enabled'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'limit the requests of each client in a window of time',
  },
  rateLimitRequests: {
    flag: 'rate-limit-requests',
    variables: ['SVC_RATE_LIMIT_REQUESTS'],
    yaml: ['rateLimit.requests'],
    fallback: RATE_REQUESTS_DEFAULT,
    parse: parseWhole(1, RATE_REQUESTS_MAX),
    help: 'number of requests of one client in a window, to which the burst is added',
  },
  rateLimitWindowMs: {
    flag: 'rate-limit-window',
    variables: ['SVC_RATE_LIMIT_WINDOW'],
    yaml: ['rateLimit.window'],
    fallback: RATE_WINDOW_MS_DEFAULT,
    fallbackText: '60s',
    parse: parseSeconds(RATE_WINDOW_MS_MIN, RATE_WINDOW_MS_MAX),
    help: 'length of the window, in seconds or as a duration such as 60s or 1m',
  },
  rateLimitBurst: {
    flag: 'rate-limit-burst',
    variables: ['SVC_RATE_LIMIT_BURST'],
    yaml: ['rateLimit.burst'],
    fallback: RATE_BURST_DEFAULT,
    parse: parseWhole(0, RATE_REQUESTS_MAX),
    help: 'number of further requests of one client in a window',
  },
  rateLimitBy: {
    flag: 'rate-limit-by',
    variables: ['SVC_RATE_LIMIT_BY'],
    yaml: ['rateLimit.by'],
    fallback: 'ip',
    parse: parseWord(['ip', 'user'] as const),
    help: 'ip: a client is an address, or a network of 64 bits for IPv6; user: clients with a name are counted by it, others by their address',
  },
  connectionsOfAddressMax: {
    flag: 'max-conn-ip',
    variables: ['SVC_MAX_CONN_IP'],
    yaml: ['http.maxConnIp'],
    fallback: CONNECTIONS_OF_ADDRESS_DEFAULT,
    parse: parseWhole(0, CONNECTIONS_OF_ADDRESS_MAX),
    help: 'number of open HTTP connections of one address; with --production, further ones are closed, otherwise a warning is logged; 0: any number',
  },
  sseEnabled: {
    flag: 'sse',
    variables: ['SVC_SSE_ENABLED'],
    yaml: ['sse.enabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'offer the change feed: GET /v1/events',
  },
  sseClientsMax: {
    flag: 'sse-max-clients',
    variables: ['SVC_SSE_MAX_CLIENTS'],
    yaml: ['sse.maxClients'],
    fallback: SSE_CLIENTS_DEFAULT,
    parse: parseWhole(1, SSE_CLIENTS_MAX),
    help: 'number of clients of the change feed, on all ports together',
  },
  sseClientsOfAddressMax: {
    flag: 'sse-max-per-ip',
    variables: ['SVC_SSE_MAX_PER_IP'],
    yaml: ['sse.maxPerIp'],
    fallback: SSE_CLIENTS_OF_ADDRESS_DEFAULT,
    parse: parseWhole(1, SSE_CLIENTS_MAX),
    help: 'number of clients of the change feed that have the same address, or network of 64 bits for IPv6',
  },
  incidentAuthThreshold: {
    flag: 'incident-auth-threshold',
    variables: ['SVC_INCIDENT_AUTH_THRESHOLD'],
    yaml: ['incident.authThreshold'],
    fallback: AUTH_BURST_THRESHOLD_DEFAULT,
    parse: parseWhole(1, AUTH_BURST_THRESHOLD_MAX),
    help: 'number of failed authentications of one actor and address within the window that are an audit event',
  },
  incidentAuthWindowSeconds: {
    flag: 'incident-auth-window-sec',
    variables: ['SVC_INCIDENT_AUTH_WINDOW_SEC'],
    yaml: ['incident.authWindowSec'],
    fallback: AUTH_BURST_WINDOW_SECONDS_DEFAULT,
    parse: parseWhole(1, AUTH_BURST_SECONDS_MAX),
    help: 'length of that window in seconds',
  },
  incidentAuthCooldownSeconds: {
    flag: 'incident-auth-cooldown-sec',
    variables: ['SVC_INCIDENT_AUTH_COOLDOWN_SEC'],
    yaml: ['incident.authCooldownSec'],
    fallback: AUTH_BURST_COOLDOWN_SECONDS_DEFAULT,
    parse: parseWhole(0, AUTH_BURST_SECONDS_MAX),
    help: 'minimum time in seconds between two such events about one actor and address',
  },
}
