/** Rows about the server: health, configuration, endpoints, metrics. Pure data. */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, required, shape, wholeNumber } from '../row/schema.js'

const checksumOf = Type.String({ description: 'As in /v1/checksum.' })
const nothing = Type.Object({})
const onLoop = {
  effect: 'system',
  collections: SERVER,
  cost: 'loop',
  input: nothing,
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
  group: 'System',
} as const

export const health = operation({
  ...onLoop,
  name: 'health',
  client: 'server.health',
  protocols: { grpc: null, graphql: null, mcp: 'mddb://health' },
  description:
    'Whether the server can be used. Answers 503 while it warms up, shuts down or cannot write. With `mode=read`, a server that refuses writes because the disk is full counts as healthy. While access control is on, only administrators see more than status and mode.',
  permission: 'public',
  knowsCaller: true,
  input: Type.Object({
    mode: Type.Optional(
      Type.String({
        examples: ['read'],
        description: '`read`: checks only whether the server can be read, for load balancers of readers.',
      }),
    ),
  }),
  http: {
    routes: [
      { method: 'GET', path: '/health' },
      { method: 'GET', path: '/v1/health' },
    ],
  },
  output: shape('A healthy server.', {
    status: Type.String({
      examples: ['healthy'],
      description:
        '`healthy`; with 503 `warming_up`, `unhealthy`, `shutting_down`, or `degraded` while the disk is full: reads continue, writes are refused.',
    }),
    mode: Type.String({ examples: ['wr'] }),
    persistence: Type.Optional(
      shape('Where the data is stored.', {
        path: Type.String(),
        filesystem: Type.String({ examples: ['ext4'] }),
        ephemeral: Type.Boolean({ description: 'True on a file system that does not survive a restart of the machine.' }),
        writable: Type.Boolean(),
        freeBytes: wholeNumber('Free space of the file system in bytes.'),
        warnings: Type.Array(Type.Object({ code: Type.String(), detail: Type.String() })),
      }),
    ),
    durable: Type.Optional(Type.Boolean({ description: 'True if an acknowledged write survives a power failure.' })),
    mcpSessions: Type.Optional(
      shape('Open sessions of MCP, by transport.', { sse: wholeNumber('Over /sse.'), streamable: wholeNumber('Over /mcp.') }),
    ),
    update: Type.Optional(
      Type.Object(
        {
          current: Type.String({ examples: ['0.1.0'] }),
          latest: Type.String({ examples: ['0.2.0'] }),
          available: Type.Boolean({ description: 'True if the latest version is newer.' }),
          url: Type.Optional(Type.String()),
          checkedAt: Type.Integer({ description: 'Unix seconds.' }),
        },
        { description: 'Present once the address in SVC_UPDATE_URL has answered.' },
      ),
    ),
  }),
  errors: ['warmingUp', 'unhealthy', 'diskFull', 'auditUnwritable'],
})

export const livez = operation({
  ...onLoop,
  name: 'livez',
  client: 'server.livez',
  protocols: HTTP_ONLY,
  description:
    'Reports whether the process works. 503 means that only a restart helps; warm-up, shutdown, load and a full disk do not cause it.',
  permission: 'public',
  http: { routes: [{ method: 'GET', path: '/livez' }] },
  output: shape('The process works.', {
    status: Type.String({ examples: ['alive'], description: '`alive`; with 503 `failed` or `stuck`.' }),
  }),
  errors: ['unhealthy'],
})

export const readyz = operation({
  ...onLoop,
  name: 'readyz',
  client: 'server.readyz',
  protocols: HTTP_ONLY,
  description: 'Reports whether the server is ready for requests: 503 while it warms up, shuts down, or lacks what its access mode needs.',
  permission: 'public',
  http: { routes: [{ method: 'GET', path: '/readyz' }] },
  input: Type.Object({
    mode: Type.Optional(
      Type.String({
        examples: ['read'],
        description: 'Access to check for: `read`, `write` or `wr`. Default: the access mode of the server.',
      }),
    ),
  }),
  output: shape('The server is ready.', {
    status: Type.String({ examples: ['ready'], description: '`ready`; with 503 `not_ready`, and a `reason`.' }),
    mode: Type.String({ examples: ['wr'] }),
  }),
  errors: ['warmingUp', 'unhealthy'],
})

export const config = operation({
  ...onLoop,
  name: 'config',
  client: 'admin.config',
  protocols: HTTP_ONLY,
  description: 'Returns the version and the configuration of the server',
  permission: 'read',
  http: { routes: [{ method: 'GET', path: '/v1/config' }] },
  output: shape('Configuration without secrets.', {
    version: Type.String({ examples: ['2.9.17'] }),
    databasePath: Type.String(),
    mode: Type.String({ examples: ['wr'] }),
    protocols: Type.Unsafe<Readonly<Record<string, { enabled: boolean; addr: string }>>>({
      type: 'object',
      additionalProperties: { type: 'object', properties: { enabled: { type: 'boolean' }, addr: { type: 'string' } } },
      examples: [{ http: { enabled: true, addr: ':11023' } }],
    }),
    authEnabled: Type.Boolean(),
    metricsEnabled: Type.Boolean(),
    vectorConfig: Type.Object({
      enabled: Type.Boolean(),
      provider: Type.String(),
      model: Type.String(),
      dimensions: Type.Integer(),
      apiUrl: Type.String(),
    }),
    chunkConfig: Type.Object({ enabled: Type.Boolean(), chunkSize: Type.Integer() }),
    automationsEnabled: Type.Boolean(),
    automationLogsEnabled: Type.Boolean(),
    searchStatsEnabled: Type.Boolean(),
    graphql_enabled: Type.Boolean(),
    panelMode: Type.String(),
    replicationRole: Type.String(),
    exposed: Type.Boolean({ description: 'True if access control is off and the server listens on addresses beyond this machine.' }),
    warnings: Type.Array(Type.String(), { description: 'Warnings reported at start.' }),
  }),
})

export const systemInfo = operation({
  ...onLoop,
  name: 'systemInfo',
  client: 'admin.systemInfo',
  protocols: HTTP_ONLY,
  description: 'Returns information about the machine and the process',
  permission: 'admin',
  http: { routes: [{ method: 'GET', path: '/v1/system/info' }] },
  output: shape('Machine and process.', {
    hostname: Type.String(),
    os: Type.String({ examples: ['linux'] }),
    arch: Type.String({ examples: ['amd64'] }),
    numCPU: Type.Integer({ description: 'Cores that the process may use: those of the machine, or of its share as a container.' }),
    goVersion: Type.String({
      description: 'Runtime. The field name comes from the contract; the value names Node.',
      examples: ['node v20.20.0'],
    }),
    version: Type.String({ examples: ['2.9.17'] }),
    uptimeSeconds: wholeNumber('Seconds since the process started.'),
    memoryTotal: wholeNumber('Memory of the machine in bytes, or the limit of the container.'),
    memoryUsed: wholeNumber('Resident memory of the process in bytes.'),
    memorySystem: wholeNumber('Memory in use on the machine, or in the container with the limit, in bytes.'),
    memoryHeap: wholeNumber('Heap in use of the front end in bytes.'),
    numGoroutines: Type.Integer({ description: 'Number of threads of the process. The field name comes from the contract.' }),
    cpuUsagePercent: Type.Number({ description: 'CPU usage of all cores together, 0 to 100, over the last second or more.' }),
    network: Type.Array(Type.Object({ name: Type.String(), addresses: Type.Array(Type.String()), flags: Type.Array(Type.String()) })),
  }),
})

const named = Type.Array(Type.Object({ name: Type.String(), description: Type.String() }))

export const endpoints = operation({
  ...onLoop,
  name: 'endpoints',
  client: 'server.endpoints',
  protocols: HTTP_ONLY,
  description: 'Lists every operation of every protocol',
  permission: 'read',
  http: { routes: [{ method: 'GET', path: '/v1/endpoints' }] },
  output: shape('Operations by protocol.', {
    http: Type.Array(
      Type.Object({
        method: Type.String({ examples: ['POST'] }),
        path: Type.String({ examples: ['/v1/add'] }),
        description: Type.String(),
        requiresAuth: Type.Boolean(),
      }),
    ),
    grpc: named,
    mcp: named,
  }),
})

export const openapi = operation({
  ...onLoop,
  name: 'openapi',
  client: 'server.openapi',
  protocols: HTTP_ONLY,
  description: 'Returns this interface as an OpenAPI 3.1 document',
  permission: 'public',
  http: { routes: [{ method: 'GET', path: '/openapi.json' }] },
  output: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'An OpenAPI 3.1 document.' }),
})

export const docs = operation({
  ...onLoop,
  name: 'docs',
  client: 'server.docs',
  protocols: HTTP_ONLY,
  description: 'Returns the reference of this interface as an HTML page',
  permission: 'public',
  http: { routes: [{ method: 'GET', path: '/docs' }] },
  output: Type.String({ description: 'HTML.' }),
  contentType: 'text/html; charset=utf-8',
})

export const metrics = operation({
  ...onLoop,
  name: 'metrics',
  client: 'admin.metrics',
  boundedBy: ['METRIC_COLLECTIONS_MAX'],
  protocols: HTTP_ONLY,
  description:
    'Metrics in the Prometheus text format. 404 with SVC_METRICS=false. 401 without `Authorization: Bearer` and the token of SVC_METRICS_TOKEN where one is set.',
  permission: 'public',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/metrics' }] },
  output: Type.String({ description: 'Prometheus text format, version 0.0.4.' }),
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['notFound', 'missingAuthentication', 'invalidToken'],
})

export const stats = operation({
  ...onLoop,
  name: 'stats',
  client: 'admin.stats',
  boundedBy: ['METRIC_COLLECTIONS_MAX'],
  protocols: { grpc: 'Stats', graphql: 'stats', mcp: 'get_stats' },
  description: 'Returns counts and sizes of the database and its collections',
  permission: 'admin',
  cost: 'point',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: {
    routes: [
      { method: 'GET', path: '/v1/stats' },
      { method: 'POST', path: '/v1/stats' },
    ],
  },
  output: shape('Counts and sizes.', {
    databasePath: Type.String(),
    databaseSize: wholeNumber('Size of the database file in bytes.'),
    mode: Type.String({ examples: ['wr'] }),
    collections: Type.Array(
      Type.Object({
        name: Type.String(),
        documentCount: Type.Integer(),
        revisionCount: Type.Integer(),
        metaIndexCount: Type.Integer({ description: 'Number of triples of document, metadata key and value.' }),
        checksum: required(checksumOf, { grpc: 100, graphql: true }),
        checksum64: required(checksumOf, { grpc: 101, graphql: true }),
        type: Type.String({ examples: ['default'] }),
        description: Type.String(),
        icon: Type.String(),
        color: Type.String(),
      }),
      { description: 'Ordered by name.' },
    ),
    totalDocuments: Type.Integer(),
    totalRevisions: Type.Integer(),
    totalMetaIndices: Type.Integer(),
    uptime: Type.String({ examples: ['2h15m30s'] }),
    indexQueue: Type.Object({
      processed: Type.Integer(),
      failed: Type.Integer(),
      fallbacks: Type.Integer(),
      queueLen: Type.Integer(),
    }),
  }),
})

export const healthOperations = [health, livez, readyz, stats, metrics, systemInfo, config, endpoints, openapi, docs] as const
