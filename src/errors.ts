/**
 * The catalogue of operating errors. It defines each text that the contract fixes, and its codes in each
 * protocol, once. Every refusal carries its code from its origin to the surface that writes it, across
 * threads. Programming errors are assertions, not entries here.
 */

/** Properties of an error in each protocol, beside its text. */
interface Columns {
  /** The party or condition at fault. */
  readonly kind: 'input' | 'request' | 'rights' | 'absence' | 'conflict' | 'fault' | 'unavailable'
  readonly http: number
  /** Canonical gRPC status. */
  readonly grpc: string
  /** `extensions.code` of a GraphQL error. */
  readonly graphql: string
  /** A JSON-RPC code, or `tool`: the tool call failed, which is a result with `isError`. */
  readonly mcp: number | 'tool'
}

export interface CatalogueEntry extends Columns {
  readonly text: string
  /** Seconds until a retry, if a retry can help. */
  readonly retryAfterSeconds?: number
}

const INVALID = { kind: 'input', http: 400, grpc: 'INVALID_ARGUMENT', graphql: 'BAD_USER_INPUT', mcp: 'tool' } as const satisfies Columns
/** No model can mend these: its client has made them. */
const MALFORMED = { ...INVALID, mcp: -32602 } as const satisfies Columns
const DENIED = { kind: 'rights', http: 403, grpc: 'PERMISSION_DENIED', graphql: 'FORBIDDEN', mcp: 'tool' } as const satisfies Columns
const UNKNOWN = { kind: 'rights', http: 401, grpc: 'UNAUTHENTICATED', graphql: 'UNAUTHENTICATED', mcp: 'tool' } as const satisfies Columns
const ABSENT = { kind: 'absence', http: 404, grpc: 'NOT_FOUND', graphql: 'NOT_FOUND', mcp: 'tool' } as const satisfies Columns
const CONFLICT = { kind: 'conflict', http: 409, grpc: 'ALREADY_EXISTS', graphql: 'CONFLICT', mcp: 'tool' } as const satisfies Columns
const INTERNAL = { kind: 'fault', http: 500, grpc: 'INTERNAL', graphql: 'INTERNAL_SERVER_ERROR', mcp: -32603 } as const satisfies Columns
const UNAVAILABLE = { kind: 'unavailable', http: 503, grpc: 'UNAVAILABLE', graphql: 'UNAVAILABLE', mcp: 'tool' } as const satisfies Columns

export const CATALOGUE = {
  /** The actual text names the field. */
  invalid: { ...INVALID, text: 'invalid request' },
  missingFields: { ...INVALID, text: 'missing fields' },
  invalidJson: { ...MALFORMED, text: 'invalid JSON' },
  invalidUtf8: { ...MALFORMED, text: 'invalid UTF-8' },
  invalidLimit: { ...INVALID, text: 'invalid limit' },
  invalidOversample: { ...INVALID, kind: 'request', http: 422, text: 'oversample must be from 1 to 10' },
  invalidOffset: { ...INVALID, text: 'invalid offset' },
  noDocuments: { ...INVALID, text: 'no documents provided' },
  unknownProfile: { ...INVALID, text: 'unknown ingest profile' },
  keyNotDerived: { ...INVALID, text: 'cannot derive key from URL; provide key explicitly' },
  ingestQueueFull: { ...INVALID, text: 'bulk ingest queue is full' },
  ingestStarted: { ...INVALID, grpc: 'FAILED_PRECONDITION', text: 'job cannot be cancelled' },
  backupExists: { ...CONFLICT, text: 'backup already exists' },
  unsupportedFormat: { ...INVALID, text: 'unsupported format' },
  nothingToUpdate: { ...INVALID, text: 'no fields to update' },
  readOnlyMode: { ...DENIED, text: 'read-only mode' },
  writeOnlyMode: { ...DENIED, text: 'write-only mode' },
  forbidden: { ...DENIED, text: 'forbidden' },
  adminRequired: { ...DENIED, text: 'admin access required' },
  notYourKey: { ...DENIED, text: 'forbidden: you can only delete your own api keys' },
  missingAuthentication: { ...UNKNOWN, text: 'missing authentication' },
  invalidToken: { ...UNKNOWN, text: 'invalid token' },
  invalidApiKey: { ...UNKNOWN, text: 'invalid api key' },
  /** An API key where a login is needed. */
  loginRequired: { ...UNKNOWN, text: 'authentication required' },
  invalidCredentials: { ...UNKNOWN, text: 'invalid credentials' },
  tooManyLogins: {
    kind: 'unavailable',
    http: 429,
    grpc: 'RESOURCE_EXHAUSTED',
    graphql: 'UNAVAILABLE',
    mcp: 'tool',
    text: 'too many logins, please retry',
    retryAfterSeconds: 5,
  },
  tooManyStreams: {
    kind: 'unavailable',
    http: 429,
    grpc: 'RESOURCE_EXHAUSTED',
    graphql: 'RATE_LIMITED',
    mcp: 'tool',
    text: 'too many clients of the change feed',
    retryAfterSeconds: 5,
  },
  foreignOrigin: {
    ...DENIED,
    text: 'web pages of other origins may not call a server on their own machine; SVC_CORS_ORIGINS names those that may',
  },
  foreignHost: { ...DENIED, text: 'a server on the same machine is not known by this host name; SVC_ALLOWED_HOSTS names those that are' },
  badFraming: { ...MALFORMED, text: 'invalid Content-Length, Transfer-Encoding or Host' },
  notFound: { ...ABSENT, text: 'not found' },
  /** The actual text names the session. */
  sessionNotFound: { ...ABSENT, text: 'session not found' },
  userNotFound: { ...ABSENT, text: 'user not found' },
  groupNotFound: { ...ABSENT, text: 'group not found' },
  keyNotFound: { ...ABSENT, text: 'api key not found' },
  userExists: { ...CONFLICT, text: 'user already exists' },
  groupExists: { ...INVALID, text: 'group already exists' },
  /** Of a server with itself: a batch of pages that does not begin where its import stands. */
  importMoved: { ...CONFLICT, text: 'the import stands elsewhere' },
  wikiTooLarge: { ...INVALID, kind: 'request', http: 413, text: 'the dump is larger than this server imports' },
  ingestEnded: { ...CONFLICT, text: 'the job has ended' },
  embeddingConfigExists: { ...CONFLICT, text: 'embedding config already exists' },
  embeddingConfigDefault: { ...INVALID, text: 'cannot delete the default embedding config' },
  noEmbeddingProvider: { ...INVALID, text: 'no embedding provider configured' },
  encryptionOff: { ...INVALID, text: 'encryption not configured' },
  auditOff: { ...ABSENT, text: 'audit disabled' },
  noEncryptionJobs: { ...ABSENT, text: 'encryption not configured' },
  /** On surfaces that name operations. */
  unknownOperation: { ...ABSENT, grpc: 'UNIMPLEMENTED', mcp: -32601, text: 'unknown operation' },
  methodNotAllowed: { ...INVALID, kind: 'request', http: 405, grpc: 'UNIMPLEMENTED', mcp: -32601, text: 'method not allowed' },
  bodyTooLarge: { ...INVALID, kind: 'request', http: 413, text: 'request body too large' },
  /** One file of a request. The actual text says how long it is. */
  fileTooLarge: { ...INVALID, kind: 'request', http: 413, text: 'file too large' },
  /** Its client sends too few bytes. */
  bodyTooSlow: { ...INVALID, kind: 'request', http: 408, grpc: 'DEADLINE_EXCEEDED', text: 'request body comes too slowly' },
  restoreFailed: { ...INTERNAL, text: 'restore failed' },
  damaged: { ...INTERNAL, text: 'stored data is damaged' },
  backupFailed: { ...INTERNAL, text: 'backup failed' },
  internal: { ...INTERNAL, text: 'internal error' },
  /** For a batch. */
  allFailed: { ...INVALID, text: 'all documents failed' },
  rateLimited: { ...UNAVAILABLE, http: 429, grpc: 'RESOURCE_EXHAUSTED', graphql: 'RATE_LIMITED', text: 'rate limit exceeded' },
  overloaded: { ...UNAVAILABLE, grpc: 'RESOURCE_EXHAUSTED', text: 'server busy, please retry', retryAfterSeconds: 1 },
  deadline: { ...UNAVAILABLE, grpc: 'DEADLINE_EXCEEDED', text: 'deadline exceeded, please retry', retryAfterSeconds: 1 },
  warmingUp: { ...UNAVAILABLE, text: 'warming up, please retry', retryAfterSeconds: 1 },
  vectorsLoading: { ...UNAVAILABLE, text: 'vector index is loading, please retry', retryAfterSeconds: 1 },
  shuttingDown: { ...UNAVAILABLE, text: 'shutting down', retryAfterSeconds: 1 },
  diskFull: { ...UNAVAILABLE, text: 'disk full, writes are refused until there is space', retryAfterSeconds: 5 },
  auditUnwritable: { ...UNAVAILABLE, text: 'the audit log cannot be written, writes are refused until it can', retryAfterSeconds: 5 },
  unhealthy: { ...UNAVAILABLE, text: 'storage failure, writes are refused', retryAfterSeconds: 5 },
  collectionChanged: { ...UNAVAILABLE, text: 'the collection was changed meanwhile, please retry', retryAfterSeconds: 1 },
  restoring: { ...UNAVAILABLE, text: 'a restore is under way, please retry', retryAfterSeconds: 5 },
  backendUnavailable: { ...UNAVAILABLE, text: 'storage backend unavailable', retryAfterSeconds: 5 },
  memoryFull: { ...UNAVAILABLE, text: 'storage backend memory is full' },
  laneLost: { ...UNAVAILABLE, text: 'the thread of this request has died, please retry', retryAfterSeconds: 1 },
  providerUnavailable: { ...UNAVAILABLE, text: 'embedding provider unavailable', retryAfterSeconds: 1 },
  exportFailed: { ...UNAVAILABLE, text: 'export failed', retryAfterSeconds: 5 },
  notAlive: { ...UNAVAILABLE, text: 'not alive' },
  notReady: { ...UNAVAILABLE, text: 'not ready', retryAfterSeconds: 1 },
  outcomeUnknown: { ...UNAVAILABLE, text: 'outcome unknown', retryAfterSeconds: 1 },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof CATALOGUE

/** In the order of the catalogue: a code crosses threads as its index. */
export const ERROR_CODES = Object.keys(CATALOGUE) as readonly ErrorCode[]

export function entryOf(code: ErrorCode): CatalogueEntry {
  return CATALOGUE[code]
}

/** The server's own fault: a retry does not help. */
export function isFault(code: ErrorCode | null): boolean {
  return code !== null && CATALOGUE[code].kind === 'fault'
}

/** A retry may help. */
export function isUnavailable(code: ErrorCode | null): boolean {
  return code !== null && CATALOGUE[code].kind === 'unavailable'
}

/**
 * An answer that is not a success. Thrown by handlers and domain rules. Converted in one place to
 * `{"error": text}`, with its `hint` if it has one.
 */
export class ServiceError extends Error {
  /**
   * @param text replaces the catalogue's text
   * @param hint for authors of clients: the field, what is expected, and what was sent
   */
  constructor(
    readonly code: ErrorCode,
    text: string = CATALOGUE[code].text,
    readonly hint?: string,
  ) {
    // No stack: the text is complete, nobody logs the stack, and capturing one costs more than a whole point
    // read (7 us).
    const depth = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(text)
    Error.stackTraceLimit = depth
    this.name = 'ServiceError'
  }

  /** The client's input is at fault. */
  get isInvalidInput(): boolean {
    return CATALOGUE[this.code].kind === 'input'
  }
}

/**
 * @param hint needed where the row's schema and the input do not show it, e.g. one of several fields is
 * required
 */
export function serviceError(code: ErrorCode, hint?: string): ServiceError {
  return new ServiceError(code, CATALOGUE[code].text, hint)
}

/** An `invalid` whose text names what was wrong with the value, e.g. `badRequest('invalid sort: price')`. */
export function badRequest(text: string): ServiceError {
  return new ServiceError('invalid', text)
}
