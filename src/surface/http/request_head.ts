/**
 * The head of a request, read from uWS's request object, which is invalid after the handler returns.
 * Detects ambiguous framing: docs/decisions/interfaces/http-connections.md. Front-end thread only.
 */
import type { HttpRequest } from 'uWebSockets.js'
import { AUDIT_USER_AGENT_CHARS_MAX } from '../../limits/process.js'

export class RequestHead {
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
  /** The last event that a browser has seen of a stream of events. */
  readonly lastEventId: string
  readonly authorization: string
  /** `X-API-Key`. */
  readonly apiKey: string
  /** All values of `X-Forwarded-For`, joined by commas. */
  readonly forwardedFor: string
  /** Cut to a bounded length; empty unless audit events need it. */
  readonly agent: string
  /** Content-Length of the body; -1 if it is chunked. */
  readonly declaredBytes: number

  /** @param readsAgent whether audit events need the user agent */
  constructor(request: HttpRequest, readsAgent: boolean) {
    const { first, isMisframed } = readHeaders(request)
    const acceptEncoding = first.get('accept-encoding') ?? ''
    const length = first.get('content-length') ?? ''
    this.method = request.getCaseSensitiveMethod()
    this.path = request.getUrl()
    this.query = request.getQuery() ?? ''
    this.isMisframed = isMisframed
    this.origin = first.get('origin') ?? ''
    this.host = first.get('host') ?? ''
    this.fetchSite = first.get('sec-fetch-site') ?? ''
    this.fetchMode = first.get('sec-fetch-mode') ?? ''
    this.fetchDest = first.get('sec-fetch-dest') ?? ''
    this.referer = first.get('referer') ?? ''
    this.contentType = first.get('content-type') ?? ''
    this.acceptsGzip = takes('gzip', acceptEncoding)
    this.acceptsBrotli = takes('br', acceptEncoding)
    this.ifNoneMatch = first.get('if-none-match') ?? ''
    this.lastEventId = first.get('last-event-id') ?? ''
    this.authorization = first.get('authorization') ?? ''
    this.apiKey = first.get('x-api-key') ?? ''
    this.forwardedFor = first.get('x-forwarded-for') ?? ''
    this.agent = readsAgent ? request.getHeader('user-agent').slice(0, AUDIT_USER_AGENT_CHARS_MAX) : ''
    this.declaredBytes = length === '' ? (first.has('transfer-encoding') ? -1 : 0) : Number(length)
  }
}

interface ReadHeaders {
  /** The first value of each wanted header; all of X-Forwarded-For. */
  readonly first: ReadonlyMap<string, string>
  readonly isMisframed: boolean
}

const WANTED = new Set([
  'origin', 'host', 'content-type', 'content-length', 'transfer-encoding', 'accept-encoding', 'if-none-match', 'last-event-id',
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

/**
 * The query of a request that resumes a stream of events: a browser says by a header what it has seen.
 * @param field that the header sets; undefined: none
 */
export function resumedQuery({ query, lastEventId }: Pick<RequestHead, 'query' | 'lastEventId'>, field: string | undefined): string {
  if (field === undefined || lastEventId === '') return query
  const fields = new URLSearchParams(query)
  fields.set(field, lastEventId)
  return fields.toString()
}
