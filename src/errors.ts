/**
 * The catalogue of operating errors: each text that the contract fixes, with its status, once. Programming errors are assertions, not entries here.
 */
export interface CatalogueEntry {
  readonly http: number
  readonly text: string
  /** Seconds for the `Retry-After` header, where a retry can help. */
  readonly retryAfterSeconds?: number
}

export const CATALOGUE = {
  missingFields: { http: 400, text: 'missing fields' },
  invalidJson: { http: 400, text: 'invalid JSON' },
  invalidUtf8: { http: 400, text: 'invalid UTF-8' },
  invalidLimit: { http: 400, text: 'invalid limit' },
  invalidOversample: { http: 422, text: 'oversample must be from 1 to 10' },
  invalidOffset: { http: 400, text: 'invalid offset' },
  noDocuments: { http: 400, text: 'no documents provided' },
  ingestQueueFull: { http: 400, text: 'bulk ingest queue is full' },
  ingestStarted: { http: 400, text: 'job cannot be cancelled' },
  backupExists: { http: 409, text: 'backup is there already' },
  unsupportedFormat: { http: 400, text: 'unsupported format' },
  nothingToUpdate: { http: 400, text: 'no fields to update' },
  readOnlyMode: { http: 403, text: 'read-only mode' },
  writeOnlyMode: { http: 403, text: 'write-only mode' },
  forbidden: { http: 403, text: 'forbidden' },
  foreignOrigin: {
    http: 403,
    text: 'web pages of other origins may not call a server on their own machine; SVC_CORS_ORIGINS names those that may',
  },
  foreignHost: { http: 403, text: 'a server on the same machine is not known by this host name; SVC_ALLOWED_HOSTS names those that are' },
  badFraming: { http: 400, text: 'invalid Content-Length, Transfer-Encoding or Host' },
  notFound: { http: 404, text: 'not found' },
  ingestEnded: { http: 409, text: 'the job has ended' },
  embeddingConfigExists: { http: 409, text: 'embedding config is there already' },
  embeddingConfigDefault: { http: 400, text: 'cannot delete the default embedding config' },
  noEmbeddingProvider: { http: 400, text: 'no embedding provider configured' },
  encryptionOff: { http: 400, text: 'encryption not configured' },
  noEncryptionJobs: { http: 404, text: 'encryption not configured' },
  methodNotAllowed: { http: 405, text: 'method not allowed' },
  bodyTooLarge: { http: 413, text: 'request body too large' },
  restoreFailed: { http: 500, text: 'restore failed' },
  internal: { http: 500, text: 'internal error' },
  overloaded: { http: 503, text: 'server busy, please retry', retryAfterSeconds: 1 },
  deadline: { http: 503, text: 'deadline exceeded, please retry', retryAfterSeconds: 1 },
  warmingUp: { http: 503, text: 'warming up, please retry', retryAfterSeconds: 1 },
  vectorsLoading: { http: 503, text: 'vector index is loading, please retry', retryAfterSeconds: 1 },
  shuttingDown: { http: 503, text: 'shutting down', retryAfterSeconds: 1 },
  diskFull: { http: 503, text: 'disk full, writes are refused until there is space', retryAfterSeconds: 5 },
  unhealthy: { http: 503, text: 'storage failure, writes are refused', retryAfterSeconds: 5 },
  collectionChanged: { http: 503, text: 'the collection was changed meanwhile, please retry', retryAfterSeconds: 1 },
  restoring: { http: 503, text: 'a restore is under way, please retry', retryAfterSeconds: 5 },
  backendUnavailable: { http: 503, text: 'storage backend unavailable', retryAfterSeconds: 5 },
  memoryFull: { http: 503, text: 'storage backend memory is full' },
  laneLost: { http: 503, text: 'the thread of this request has died, please retry', retryAfterSeconds: 1 },
  outcomeUnknown: { http: 503, text: 'outcome unknown', retryAfterSeconds: 1 },
} as const satisfies Record<string, CatalogueEntry>

/**
 * An answer that is not a success. Thrown by handlers and domain rules, turned into `{"error": text}`, with
 * its `hint` where it has one, in one place.
 */
export class ServiceError extends Error {
  constructor(
    readonly http: number,
    text: string,
    readonly retryAfterSeconds?: number,
    /** For authors of clients: the field, what is expected, and what was sent. */
    readonly hint?: string,
  ) {
    // No stack: the text says all, nobody logs it, and taking one costs more than a whole point read (7 us).
    const depth = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(text)
    Error.stackTraceLimit = depth
    this.name = 'ServiceError'
  }
}

/**
 * @param hint needed where the row's schema and the input do not show it, e.g. one of several fields is
 * required
 */
export function serviceError(code: keyof typeof CATALOGUE, hint?: string): ServiceError {
  const entry: CatalogueEntry = CATALOGUE[code]
  return new ServiceError(entry.http, entry.text, entry.retryAfterSeconds, hint)
}

/** A 400 whose text names what was wrong with the value, e.g. `badRequest('invalid sort: price')`. */
export function badRequest(text: string): ServiceError {
  return new ServiceError(400, text)
}
