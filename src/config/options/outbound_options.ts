/**
 * The options of requests that the server sends, a part of the table of options (options.ts). Pure data; main
 * thread, at start.
 */
import type { AllowedDestination } from '../../outbound/allowlist.js'
import type { Option } from './option.js'
import { parseBoolean, parseDestinations, parseSeconds, parseWhole } from './values.js'

/** Of kept connections, where nothing is configured: those of the contract. */
const POOL_IDLE_DEFAULT = 100
const POOL_PER_HOST_DEFAULT = 10
const POOL_IDLE_MS_DEFAULT = 90_000
/** Each connection is an open file. */
const POOL_IDLE_MAX = 10_000
/** More than a server grants to one client. */
const POOL_PER_HOST_MAX = 1_000
/** A shorter time closes connections between two requests of one job. */
const POOL_IDLE_MS_MIN = 1_000
/** A day: no server keeps one longer. */
const POOL_IDLE_MS_MAX = 86_400_000

/** Deliveries that may wait for one webhook, where nothing is configured, and the highest number: 100 MB. */
const WEBHOOK_BACKLOG_DEFAULT = 100_000
const WEBHOOK_BACKLOG_MAX = 1_000_000

export interface OutboundOptionValues {
  /** Allowed destinations of outgoing requests, in addition to the public internet. */
  readonly outboundAllowlist: readonly AllowedDestination[]
  readonly outboundAllowPrivate: boolean
  /** Of connections that are kept: how many idle, how many one host may have, and how long one idles. */
  readonly httpPoolIdleMax: number
  readonly httpPoolPerHost: number
  readonly httpPoolIdleMs: number
  /** Deliveries that may wait for one webhook before it is suspended. */
  readonly webhookBacklogMax: number
}

export const OUTBOUND_OPTIONS: { readonly [Name in keyof OutboundOptionValues]: Option<OutboundOptionValues[Name]> } = {
  outboundAllowlist: {
    flag: 'outbound-allowlist',
    variables: ['SVC_OUTBOUND_ALLOWLIST'],
    yaml: ['outbound.allowlist'],
    fallback: [],
    parse: parseDestinations,
    help: 'allowed destinations of outgoing requests besides the public internet: names, *.names, addresses or networks, each with or without :port, comma separated',
  },
  outboundAllowPrivate: {
    flag: 'outbound-allow-private',
    variables: ['SVC_OUTBOUND_ALLOW_PRIVATE'],
    yaml: ['outbound.allowPrivate'],
    fallback: false,
    parse: parseBoolean,
    boolean: true,
    help: 'allow outgoing requests to this machine and to private networks',
  },
  httpPoolIdleMax: {
    flag: 'http-pool-max-idle',
    variables: ['SVC_HTTP_POOL_MAX_IDLE'],
    yaml: ['outbound.poolMaxIdle'],
    fallback: POOL_IDLE_DEFAULT,
    parse: parseWhole(0, POOL_IDLE_MAX),
    help: 'number of idle connections that outgoing requests keep, of all hosts; 0 keeps none',
  },
  httpPoolPerHost: {
    flag: 'http-pool-max-per-host',
    variables: ['SVC_HTTP_POOL_MAX_PER_HOST'],
    yaml: ['outbound.poolMaxPerHost'],
    fallback: POOL_PER_HOST_DEFAULT,
    parse: parseWhole(1, POOL_PER_HOST_MAX),
    help: 'number of connections of outgoing requests to one host; further requests wait',
  },
  httpPoolIdleMs: {
    flag: 'http-pool-idle-timeout',
    variables: ['SVC_HTTP_POOL_IDLE_TIMEOUT'],
    yaml: ['outbound.poolIdleTimeout'],
    fallback: POOL_IDLE_MS_DEFAULT,
    fallbackText: '90s',
    parse: parseSeconds(POOL_IDLE_MS_MIN, POOL_IDLE_MS_MAX),
    help: 'time after which an idle connection of outgoing requests is closed, in seconds or as a duration',
  },
  webhookBacklogMax: {
    flag: 'webhook-backlog-max',
    variables: ['SVC_WEBHOOK_BACKLOG_MAX'],
    yaml: ['webhooks.backlogMax'],
    fallback: WEBHOOK_BACKLOG_DEFAULT,
    parse: parseWhole(1, WEBHOOK_BACKLOG_MAX),
    help: 'number of deliveries that may wait for one webhook, ten times as many for all; a webhook with more is suspended',
  },
}
