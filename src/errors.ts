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
  invalidOffset: { http: 400, text: 'invalid offset' },
  unsupportedFormat: { http: 400, text: 'unsupported format' },
  nothingToUpdate: { http: 400, text: 'no fields to update' },
  readOnlyMode: { http: 403, text: 'read-only mode' },
  writeOnlyMode: { http: 403, text: 'write-only mode' },
  forbidden: { http: 403, text: 'forbidden' },
  notFound: { http: 404, text: 'not found' },
  methodNotAllowed: { http: 405, text: 'method not allowed' },
  bodyTooLarge: { http: 413, text: 'request body too large' },
  internal: { http: 500, text: 'internal error' },
  overloaded: { http: 503, text: 'server busy, please retry', retryAfterSeconds: 1 },
  deadline: { http: 503, text: 'deadline exceeded, please retry', retryAfterSeconds: 1 },
  warmingUp: { http: 503, text: 'warming up, please retry', retryAfterSeconds: 1 },
  shuttingDown: { http: 503, text: 'shutting down', retryAfterSeconds: 1 },
  unhealthy: { http: 503, text: 'storage failure, writes are refused', retryAfterSeconds: 5 },
  outcomeUnknown: { http: 503, text: 'outcome unknown', retryAfterSeconds: 1 },
} as const satisfies Record<string, CatalogueEntry>

/** An answer that is not a success. Thrown by handlers and domain rules, turned into `{"error": text}` in one place. */
export class ServiceError extends Error {
  constructor(
    readonly http: number,
    text: string,
    readonly retryAfterSeconds?: number,
  ) {
    // No stack: the text says all, nobody logs it, and taking one costs more than a whole point read (7 us).
    const depth = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(text)
    Error.stackTraceLimit = depth
    this.name = 'ServiceError'
  }
}

export function serviceError(code: keyof typeof CATALOGUE): ServiceError {
  const entry: CatalogueEntry = CATALOGUE[code]
  return new ServiceError(entry.http, entry.text, entry.retryAfterSeconds)
}

/** A 400 whose text names what was wrong with the value, e.g. `badRequest('invalid sort: price')`. */
export function badRequest(text: string): ServiceError {
  return new ServiceError(400, text)
}
