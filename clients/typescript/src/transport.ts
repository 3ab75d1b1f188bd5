/** Sends requests: credentials, time limit, retries, errors. */
import { CallLimit, TIMER_MS_MAX } from './call_limit.js'
import { errorOfAnswer, MdsConnectionError, MdsError } from './errors.js'
import { type CallOptions, type ClientOptions, RETRIES, TIMEOUT_MS } from './options.js'
import { type Input, type Repeat, requestOf, type Route, type RouteRequest } from './route.js'

const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 5000
/** Added to `Retry-After` at random, so that all clients do not return at once. */
const SPREAD_MS = 250
/** The server's text for a write that it may have made. Texts of the interface do not change. */
const OUTCOME_UNKNOWN = 'outcome unknown'

/** An answer whose body is still to be read, within `limit`. */
export interface OpenAnswer {
  readonly response: Response
  readonly limit: CallLimit
}

export class Transport {
  readonly #options: ClientOptions
  readonly #baseUrl: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(options: ClientOptions) {
    this.#options = options
    this.#baseUrl = new URL(options.baseUrl).href.replace(/\/+$/, '')
    this.#headers = {
      ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
      ...(options.apiKey === undefined ? {} : { 'X-API-Key': options.apiKey }),
    }
  }

  /** The body in the form that the route declares. */
  async call(route: Route, input: Input | FormData, options: CallOptions = {}): Promise<unknown> {
    return (await this.callWithHeaders(route, input, options)).body
  }

  async callWithHeaders(
    route: Route,
    input: Input | FormData,
    options: CallOptions = {},
  ): Promise<{ readonly body: unknown; readonly headers: Headers }> {
    const limit = this.#limitOf(options)
    try {
      const read = async (response: Response) => ({ body: await bodyOf(route, response), headers: response.headers })
      return await this.#withRetries(route, input, options, limit, read)
    } finally {
      limit.end()
    }
  }

  /** The head of the answer. The caller reads the body and ends the limit. */
  async open(route: Route, input: Input, options: CallOptions = {}): Promise<OpenAnswer> {
    const limit = this.#limitOf(options)
    try {
      const response = await this.#withRetries(route, input, options, limit, (head) => Promise.resolve(head))
      limit.pause()
      return { response, limit }
    } catch (error) {
      limit.end(false)
      throw error
    }
  }

  #limitOf({ signal, timeoutMs }: CallOptions): CallLimit {
    return new CallLimit(signal, timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS)
  }

  async #withRetries<Answer>(
    route: Route,
    input: Input | FormData,
    options: CallOptions,
    limit: CallLimit,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const request = requestOf(route, input)
    const repeat = options.isRepeatable === true ? 'always' : route.repeat
    const retries = options.retries ?? this.#options.retries ?? RETRIES
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await read(await this.#send(route.method, request, limit.signal))
      } catch (cause) {
        const error = limit.errorFor(cause)
        if (attempt >= retries || !mayRepeat(error, repeat)) throw error
        const pauseMs = pauseAfter(error, attempt)
        // There would be no time left for the answer.
        if (pauseMs >= Math.min(limit.remainingMs, TIMER_MS_MAX)) throw error
        await limit.wait(pauseMs)
      }
    }
  }

  /** @throws MdsError for every status that is not a success */
  async #send(method: string, request: RouteRequest, signal: AbortSignal): Promise<Response> {
    const send = this.#options.fetch ?? globalThis.fetch
    const { path, body } = request
    const response = await send(this.#baseUrl + path, {
      method,
      headers: { ...this.#headers, ...(typeof body === 'string' ? { 'Content-Type': 'application/json' } : {}) },
      ...(body === undefined ? {} : { body }),
      // The server redirects nothing, and credentials must not follow to another origin.
      redirect: 'error',
      signal,
    })
    if (response.ok) return response
    throw errorOfAnswer(response, await response.text())
  }
}

async function bodyOf({ answer }: Route, response: Response): Promise<unknown> {
  if (answer === 'bytes') return new Uint8Array(await response.arrayBuffer())
  const text = await response.text()
  if (answer === 'text') return text
  if (answer === 'nothing') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new MdsError('the answer is not JSON', { status: response.status, cause })
  }
}

/** What is neither of the server nor of the connection: an abort, a time limit, or a fault of the program. */
function mayRepeat(error: unknown, repeat: Repeat): error is MdsError {
  if (error instanceof MdsConnectionError) return repeat === 'always'
  if (!(error instanceof MdsError)) return false
  if (error.status === 429) return true
  if (error.status !== 503) return false
  // A proxy says it about a request that the server may have taken; only the server has both of these.
  const isRefusal = error.isOfServer && error.retryAfterSeconds !== undefined && error.text !== OUTCOME_UNKNOWN
  return repeat === 'always' || (repeat === 'unlessUnknown' && isRefusal)
}

function pauseAfter({ retryAfterSeconds }: MdsError, attempt: number): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000 + Math.random() * SPREAD_MS
  const most = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** attempt)
  return most / 2 + (Math.random() * most) / 2
}
