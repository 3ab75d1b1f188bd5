/**
 * Bounds that a test may lower through the environment; production never sets them. The running value is
 * `config.limits.<NAME>`, set by `SVC_LIMIT_<NAME>`.
 */
import { KEY_USES_GATHERED_MS } from './access.js'
import { CONSUMER_LAG_BYTES_MAX } from './consumers.js'
import { QUEUE_HEAVY_REQUESTS_MAX, QUEUE_POINT_REQUESTS_MAX, QUEUE_SEARCH_REQUESTS_MAX, QUEUE_WRITE_REQUESTS_MAX } from './dispatch.js'
import { GRAPHQL_HEAP_MB_MAX } from './graphql.js'
import { GRPC_BODIES_BYTES_MAX, GRPC_UNREAD_BYTES_MAX } from './grpc.js'
import { UNINDEXED_RETRY_MS } from './indexing.js'
import { INGESTS_QUEUED_MAX, INGEST_BYTES_HELD_MAX } from './jobs.js'
import { LANE_HEAP_MB_MAX } from './lanes.js'
import {
  MCP_HEAD_MS_MAX,
  MCP_PAGE_ITEMS,
  MCP_SESSION_IDLE_MS,
  MCP_SESSIONS_MAX,
  MCP_SESSIONS_OF_IDENTITY_MAX,
  MCP_STALL_MS_MAX,
  MCP_STREAM_PULSE_MS,
} from './mcp_transport.js'
import { SHARED_BODIES_CACHED_BYTES_MAX, SHARED_BODIES_KEPT_BYTES_MAX } from './objects.js'
import { ANSWERS_UNSENT_BYTES_MAX, BODIES_IN_FLIGHT_BYTES_MAX, PART_STALL_MS_MAX } from './surface.js'
import { SCRUB_INTERVAL_MS, SWEEP_DOCUMENTS_MAX } from './upkeep.js'

/** Each name with its production value. */
export const OVERRIDABLE = {
  QUEUE_POINT_REQUESTS_MAX,
  QUEUE_SEARCH_REQUESTS_MAX,
  QUEUE_WRITE_REQUESTS_MAX,
  QUEUE_HEAVY_REQUESTS_MAX,
  BODIES_IN_FLIGHT_BYTES_MAX,
  LANE_HEAP_MB_MAX,
  GRAPHQL_HEAP_MB_MAX,
  ANSWERS_UNSENT_BYTES_MAX,
  GRPC_BODIES_BYTES_MAX,
  GRPC_UNREAD_BYTES_MAX,
  INGESTS_QUEUED_MAX,
  INGEST_BYTES_HELD_MAX,
  PART_STALL_MS_MAX,
  SHARED_BODIES_KEPT_BYTES_MAX,
  SHARED_BODIES_CACHED_BYTES_MAX,
  UNINDEXED_RETRY_MS,
  SWEEP_DOCUMENTS_MAX,
  SCRUB_INTERVAL_MS,
  CONSUMER_LAG_BYTES_MAX,
  KEY_USES_GATHERED_MS,
  MCP_PAGE_ITEMS,
  MCP_SESSIONS_MAX,
  MCP_SESSIONS_OF_IDENTITY_MAX,
  MCP_SESSION_IDLE_MS,
  MCP_HEAD_MS_MAX,
  MCP_STREAM_PULSE_MS,
  MCP_STALL_MS_MAX,
} as const

/** The running values, as in `config.limits`. */
export type OverridableLimits = { readonly [Name in keyof typeof OVERRIDABLE]: number }
