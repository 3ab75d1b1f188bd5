/** What a call rejects with, beside the reason of an aborted signal. */

interface ErrorParts {
  readonly status: number
  readonly hint?: string | undefined
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly isOfServer?: boolean
  readonly cause?: unknown
}

/** The server's refusal, or a failure without an answer (`status` 0). */
export class MdsError extends Error {
  override readonly name: string = 'MdsError'
  /** HTTP status; 0 if there was no answer. */
  readonly status: number
  /** The `error` of the answer. */
  readonly text: string
  /** Which field is wrong, what is expected there, and what came. */
  readonly hint: string | undefined
  /** Of a fault of the server: its log has the same. */
  readonly requestId: string | undefined
  /** When a retry may help. */
  readonly retryAfterSeconds: number | undefined
  /** The server says it, not a proxy in front of it. */
  readonly isOfServer: boolean

  constructor(text: string, parts: ErrorParts) {
    const about = parts.status === 0 ? '' : ` (${parts.status})`
    super(`${text}${about}${parts.hint === undefined ? '' : `: ${parts.hint}`}`, parts.cause === undefined ? {} : { cause: parts.cause })
    this.status = parts.status
    this.text = text
    this.hint = parts.hint
    this.requestId = parts.requestId
    this.retryAfterSeconds = parts.retryAfterSeconds
    this.isOfServer = parts.isOfServer ?? false
  }
}

/** No answer came, or it broke off: `cause` says why. */
export class MdsConnectionError extends MdsError {
  override readonly name = 'MdsConnectionError'

  constructor(cause: unknown) {
    super('no answer', { status: 0, cause })
  }
}

/** The time limit of the call has passed. */
export class MdsTimeoutError extends MdsError {
  override readonly name = 'MdsTimeoutError'

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`, { status: 0 })
  }
}

export interface GraphqlProblem {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly extensions?: { readonly code?: string } & Readonly<Record<string, unknown>>
}

/** An answer of GraphQL with errors; `data` is what could be answered beside them. */
export class MdsGraphqlError extends MdsError {
  override readonly name = 'MdsGraphqlError'
  readonly errors: readonly GraphqlProblem[]
  readonly data: unknown

  constructor(status: number, errors: readonly GraphqlProblem[], data: unknown) {
    super(errors[0]?.message ?? 'GraphQL error', { status })
    this.errors = errors
    this.data = data
  }
}

/** The error of an answer: MDS's own JSON, or what a proxy in front of it wrote. */
export function errorOfAnswer(response: Response, body: string): MdsError {
  const { error = firstMessage(body), hint, requestId, retryAfter } = parsedObject(body)
  const text = typeof error === 'string' ? error : body.slice(0, TEXT_CHARACTERS_MAX).trim() || response.statusText
  return new MdsError(text || 'refused', {
    status: response.status,
    isOfServer: typeof error === 'string',
    hint: typeof hint === 'string' ? hint : undefined,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    retryAfterSeconds: secondsOf(response.headers.get('Retry-After')) ?? (typeof retryAfter === 'number' ? retryAfter : undefined),
  })
}

/** Of an error page that is not JSON. */
const TEXT_CHARACTERS_MAX = 500

function parsedObject(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {} // The answer of a proxy.
  }
}

/** GraphQL has a list of errors, also where its status is not 200. */
function firstMessage(body: string): unknown {
  const { errors } = parsedObject(body) as { readonly errors?: readonly Partial<GraphqlProblem>[] }
  return Array.isArray(errors) ? (errors as readonly Partial<GraphqlProblem>[])[0]?.message : undefined
}

/** `Retry-After` is a number of seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
