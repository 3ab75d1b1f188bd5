/**
 * The CLI's HTTP client: sends JSON and returns text, over the connections that Node's fetch keeps alive.
 * Distinguishes failures that are worth a retry; the caller decides how often.
 */
import { TimeLimit } from '../base/time_limit.js'
import { ANSWER_BYTES_MAX } from '../limits/documents.js'
import { DEADLINE_HEAVY_MS } from '../limits/lanes.js'
import { credentialHeaders } from './credentials.js'

/** Longer than the deadlines of the cost classes, so that the server answers first. */
const CLIENT_REQUEST_MS_MAX = DEADLINE_HEAVY_MS + 10_000

/**
 * The command usually runs on the server's machine, where compressing responses took half of an export's
 * time.
 */
const PLAIN = { 'accept-encoding': 'identity' }

/** A response, with any status. */
export interface Reply {
  readonly status: number
  readonly text: string
  /** From `Retry-After`, if it contains a number of seconds. */
  readonly retryAfterMs: number | undefined
}

/** No response: the server is unreachable, or the connection broke. */
export class ConnectionError extends Error {}

/** A response with an error status, with the server's own text. */
export class AnswerError extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(text)
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * @param base e.g. `http://127.0.0.1:11023`
 * @param as `anonymous`: without credentials
 * @throws ConnectionError, CommandError
 */
export async function send(base: string, method: Method, path: string, body?: string, as?: 'anonymous'): Promise<Reply> {
  const headers = headersFor(base, body, as)
  const limit = new TimeLimit(CLIENT_REQUEST_MS_MAX)
  try {
    const response = await fetch(new URL(path, base), {
      method,
      headers,
      redirect: 'manual',
      signal: limit.signal,
      ...(body === undefined ? {} : { body }),
    })
    const seconds = Number(response.headers.get('retry-after') ?? 'none')
    return {
      status: response.status,
      text: await readText(response.body),
      retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    }
  } catch (cause) {
    throw new ConnectionError(`no answer from ${base}: ${reasonOf(cause)}`, { cause })
  } finally {
    limit.end()
  }
}

/**
 * Streams a response of any length.
 * @throws AnswerError, ConnectionError
 */
export async function* sendForBytes(base: string, path: string, body: string): AsyncGenerator<Buffer> {
  const headers = headersFor(base, body)
  try {
    const response = await fetch(new URL(path, base), { method: 'POST', headers, redirect: 'manual', body })
    if (response.status >= 300) {
      const text = await readText(response.body)
      throw new AnswerError(response.status, errorText({ status: response.status, text, retryAfterMs: undefined }))
    }
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) yield Buffer.from(chunk)
  } catch (cause) {
    if (cause instanceof AnswerError) throw cause
    throw new ConnectionError(`no answer from ${base}: ${reasonOf(cause)}`, { cause })
  }
}

/**
 * Returns the JSON of the response.
 * @throws AnswerError, ConnectionError
 */
export async function request(base: string, method: Method, path: string, body?: unknown): Promise<unknown> {
  return valueOf(await send(base, method, path, body === undefined ? undefined : JSON.stringify(body)))
}

/**
 * As `request`, without a time limit. `fetch` cannot be used, because it fails if a response has not begun
 * after five minutes.
 * @throws AnswerError, ConnectionError
 */
export async function requestLong(base: string, method: Method, path: string, body?: unknown): Promise<unknown> {
  const { request: ask } = await import('undici')
  const patience = { headersTimeout: 0, bodyTimeout: 0 }
  const text = body === undefined ? undefined : JSON.stringify(body)
  const sent = { headers: headersFor(base, text), ...(text === undefined ? {} : { body: text }) }
  let reply: Reply
  try {
    const { statusCode, body: answer } = await ask(new URL(path, base), { method, ...sent, ...patience })
    reply = { status: statusCode, text: await readText(answer), retryAfterMs: undefined }
  } catch (cause) {
    throw new ConnectionError(`no answer from ${base}: ${reasonOf(cause)}`, { cause })
  }
  return valueOf(reply)
}

/** Redirects are not followed, because credentials must not reach another server. */
function headersFor(base: string, body: string | undefined, as?: 'anonymous'): Record<string, string> {
  const credentials = as === 'anonymous' ? {} : credentialHeaders(base, process.env)
  return { ...PLAIN, ...credentials, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
}

function valueOf(reply: Reply): unknown {
  if (reply.status >= 300) throw new AnswerError(reply.status, errorText(reply))
  return parseJson(reply)
}

const NEXT_STEPS: Readonly<Record<number, string>> = {
  401: ': log in with `mds login`',
  403: ': log in with `mds login` as a user who may, or have the right given by `mds grant`',
}

/** Returns the server's `error` text with its `hint`, or the status if there is none; and the next step. */
export function errorText(reply: Reply): string {
  return reasonOfReply(reply) + (NEXT_STEPS[reply.status] ?? '')
}

function reasonOfReply(reply: Reply): string {
  try {
    const { error, hint } = parseJson(reply) as { error?: unknown; hint?: unknown }
    if (typeof error === 'string') return typeof hint === 'string' ? `${error} (${hint})` : error
  } catch {
    // Not JSON, for example a proxy's page. Only the status can be reported.
  }
  return `status ${reply.status}`
}

function parseJson(reply: Reply): unknown {
  try {
    return JSON.parse(reply.text)
  } catch {
    throw new AnswerError(reply.status, 'the answer is not JSON; is this the right address?')
  }
}

async function readText(body: unknown): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/**
 * fetch only reports `fetch failed`. The reason is in the cause, and for a name with two addresses in the
 * causes of the cause.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error.cause === undefined ? error.message : reasonOf(error.cause)
}
