/**
 * The head of a request, copied out of uWS's request object, which is invalid after the handler returns.
 * Detects ambiguous framing: docs/decisions/http-connections.md. Front-end thread only.
 */
import type { HttpRequest } from 'uWebSockets.js'
import { AUDIT_USER_AGENT_CHARS_MAX } from '../../limits/audit.js'

export interface RequestHead {
  /** Upper case. */
  readonly method: string
  readonly path: string
  /** Raw, without the question mark. */
  readonly query: string
  /** The framing or the host is ambiguous: a proxy may interpret it differently. */
  readonly isMisframed: boolean
  readonly origin: string
  readonly host: string
  /** `Sec-Fetch-Site`, `-Mode` and `-Dest`: a browser's description of the origin of the request. */
  readonly fetchSite: string
  readonly fetchMode: string
  readonly fetchDest: string
  readonly referer: string
  readonly contentType: string
  readonly acceptsGzip: boolean
  readonly acceptsBrotli: boolean
  readonly ifNoneMatch: string
  readonly authorization: string
  /** `X-API-Key`. */
  readonly apiKey: string
  /** All values of `X-Forwarded-For`, joined by commas. */
  readonly forwardedFor: string
  /** Cut to a bounded length; empty unless audit events need it. */
  readonly agent: string
  /** Content-Length of the body; -1 if it is chunked. */
  readonly declaredBytes: number
}

/** @param readsAgent whether audit events need the user agent */
export function readHead(request: HttpRequest, readsAgent: boolean): RequestHead {
  const { first, isMisframed } = readHeaders(request)
  const header = (name: string): string => first.get(name) ?? ''
  const length = header('content-length')
  const acceptEncoding = header('accept-encoding')
  return {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    isMisframed,
    origin: header('origin'),
    host: header('host'),
    fetchSite: header('sec-fetch-site'),
    fetchMode: header('sec-fetch-mode'),
    fetchDest: header('sec-fetch-dest'),
    referer: header('referer'),
    contentType: header('content-type'),
    acceptsGzip: takes('gzip', acceptEncoding),
    acceptsBrotli: takes('br', acceptEncoding),
    ifNoneMatch: header('if-none-match'),
    authorization: header('authorization'),
    apiKey: header('x-api-key'),
    forwardedFor: header('x-forwarded-for'),
    agent: readsAgent ? request.getHeader('user-agent').slice(0, AUDIT_USER_AGENT_CHARS_MAX) : '',
    declaredBytes: length === '' ? (header('transfer-encoding') === '' ? 0 : -1) : Number(length),
  }
}

interface ReadHeaders {
  /** The first value of each wanted header; all of X-Forwarded-For. */
  readonly first: ReadonlyMap<string, string>
  readonly isMisframed: boolean
}

const WANTED = new Set([
  'origin', 'host', 'content-type', 'content-length', 'transfer-encoding', 'accept-encoding', 'if-none-match',
  'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'referer',
  'x-forwarded-for', 'authorization', 'x-api-key',
]) // prettier-ignore

/**
 * Reads all headers in one pass, which takes 1 to 2 us more than asking for eight by name. Asking by name is
 * not sufficient: uWS uses the first of several values and treats every Transfer-Encoding as `chunked`. Two
 * lengths or hosts, or an encoding that is not exactly `chunked`, can smuggle a request past a proxy.
 */
function readHeaders(request: HttpRequest): ReadHeaders {
  const first = new Map<string, string>()
  let isMisframed = false
  request.forEach((name, value) => {
    if (!WANTED.has(name)) return
    const before = first.get(name)
    if (before === undefined) first.set(name, value)
    if (name === 'host') isMisframed ||= before !== undefined
    else if (name === 'content-length') isMisframed ||= value === '' || (before !== undefined && before !== value)
    else if (name === 'transfer-encoding') isMisframed ||= value !== 'chunked' || before !== undefined
    // Each proxy may add a header of its own behind those that it was sent.
    else if (name === 'x-forwarded-for' && before !== undefined) first.set(name, `${before},${value}`)
  })
  return { first, isMisframed: isMisframed || (first.has('content-length') && first.has('transfer-encoding')) }
}

/** A coding is accepted if it is named, or by `*` for gzip, unless its weight is zero. */
const CODINGS = { gzip: codingPattern('gzip|\\*'), br: codingPattern('br') } as const

function codingPattern(names: string): RegExp {
  return new RegExp(`(?:^|[,\\s])(?:${names})\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[\\d.]+\\s*)?(?:,|$)`, 'i')
}

function takes(coding: keyof typeof CODINGS, acceptEncoding: string): boolean {
  return acceptEncoding !== '' && CODINGS[coding].test(acceptEncoding)
}
