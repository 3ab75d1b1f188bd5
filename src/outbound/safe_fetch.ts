/**
 * `safeFetch`: the only client for requests that this server sends. Destinations are checked (destination.ts)
 * and pinned (connector.ts). Each redirect passes the same checks. The response is bounded in size after
 * decompression, and the whole request in time. Front-end thread: no lane awaits the network.
 */
import type { Dispatcher } from 'undici'
import { TimeLimit } from '../base/time_limit.js'
import { KIB, MIB } from '../limits/units.js'
import type { Resolver } from './connector.js'
import { guardedConnector, systemResolver } from './connector.js'
import type { OutboundPolicy } from './destination.js'
import { checkUrl, OutboundRefused } from './destination.js'
import { type KeptConnectionBounds, KeptConnections } from './kept_connections.js'
import { loadUndici } from './packages.js'
import { discard, readReceived } from './received_body.js'

/** Default time from the name look-up to the last byte of the answer, redirects included. */
const OUTBOUND_MS_MAX = 10_000
/** Default bytes of an answer after decompression. */
const OUTBOUND_BYTES_MAX = 10 * MIB
/** Bytes of the headers of an answer. */
const OUTBOUND_HEADER_BYTES_MAX = 16 * KIB
/** Redirects that one request follows. */
const OUTBOUND_REDIRECTS_MAX = 5

interface OutboundRequest {
  readonly url: string
  /** Default GET. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** From the first name resolution to the last byte, including redirects. */
  readonly msMax?: number
  /** After decompression. */
  readonly bytesMax?: number
  /** Truncate a larger response instead of refusing it, for callers that ignore the rest. */
  readonly cut?: boolean
  /** 0: redirects are not followed; the redirect itself is returned. */
  readonly redirectsMax?: number
  readonly signal?: AbortSignal
  /**
   * Connections to reuse (`Outbound.connections`). Default: those that are kept for all of the server where
   * the request may be repeated, otherwise one of its own, closed at the end.
   */
  readonly connections?: Dispatcher
}

export interface OutboundAnswer {
  readonly status: number
  /** Names in lower case. Of a repeated header, the first value. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The URL after the last redirect. */
  readonly url: string
}

/**
 * Methods whose requests use kept connections. The other side may close one while the request is on its way,
 * and then the request is sent again.
 */
const REPEATABLE = new Set(['GET', 'HEAD'])
/** Codes of an error of a connection that was closed before the answer. */
const CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Headers that are not forwarded to another origin. */
const PERSONAL_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key'])

/** The connections that a request uses. */
interface HeldConnections {
  to: (origin: string) => Dispatcher
  /** Another request may have used them before. */
  readonly areKept: boolean
  release: () => void
}

export class Outbound {
  readonly #resolver: Resolver
  readonly #bounds: KeptConnectionBounds | undefined
  #kept: KeptConnections | undefined

  /** @param bounds of the connections that are kept for requests which bring none; absent: none is kept */
  constructor(
    readonly policy: OutboundPolicy,
    { resolver = systemResolver, bounds }: { resolver?: Resolver | undefined; bounds?: KeptConnectionBounds | undefined } = {},
  ) {
    this.#resolver = resolver
    this.#bounds = bounds
  }

  /**
   * Guarded connections that stay open between requests, at most `perHost` per host.
   * @param checksCertificate false only where the operator asks for it
   */
  connections(perHost: number, checksCertificate = true): Dispatcher {
    const { Agent } = loadUndici()
    return new Agent({
      connect: guardedConnector(this.policy, this.#resolver, checksCertificate),
      connections: perHost,
      maxHeaderSize: OUTBOUND_HEADER_BYTES_MAX,
    })
  }

  /**
   * @throws OutboundRefused if the request may not be sent; BodyTooLarge; Error if there is no response in
   * time
   */
  async safeFetch(request: OutboundRequest): Promise<OutboundAnswer> {
    const held = this.#connectionsFor(request)
    const limit = new TimeLimit(request.msMax ?? OUTBOUND_MS_MAX, request.signal)
    const { signal } = limit
    try {
      // undici checks the signal only once it has a connection.
      return await Promise.race([this.#follow(request, held, signal), rejectionBy(signal)])
    } catch (error) {
      if (limit.isOver) throw new Error(`no answer within ${request.msMax ?? OUTBOUND_MS_MAX} ms`, { cause: error })
      throw error
    } finally {
      limit.end()
      held.release()
    }
  }

  #connectionsFor({ connections, method = 'GET' }: OutboundRequest): HeldConnections {
    if (connections !== undefined) return { to: () => connections, areKept: false, release: () => undefined }
    if (this.#bounds !== undefined && REPEATABLE.has(method)) {
      const kept = (this.#kept ??= new KeptConnections(this.#bounds, {
        connect: guardedConnector(this.policy, this.#resolver, true),
        maxHeaderSize: OUTBOUND_HEADER_BYTES_MAX,
      }))
      return { to: (origin) => kept.of(origin), areKept: true, release: () => kept.trim() }
    }
    const own = this.connections(1)
    return { to: () => own, areKept: false, release: () => void own.destroy() }
  }

  async #follow(request: OutboundRequest, held: HeldConnections, signal: AbortSignal): Promise<OutboundAnswer> {
    let url = checkUrl(request.url, this.policy)
    let next = request
    for (let redirects = 0; ; redirects++) {
      const answer = await answered(url, next, held, signal)
      const headers = firstOf(answer.headers)
      const redirectsMax = request.redirectsMax ?? OUTBOUND_REDIRECTS_MAX
      if (!REDIRECTS.has(answer.statusCode) || redirectsMax === 0 || headers.location === undefined) {
        const body = await readReceived(
          answer.body,
          next.method === 'HEAD' ? '' : (headers['content-encoding'] ?? ''),
          request.bytesMax ?? OUTBOUND_BYTES_MAX,
          request.cut === true,
        )
        return { status: answer.statusCode, headers, body, url: url.href }
      }
      discard(answer.body)
      if (redirects >= redirectsMax) throw new OutboundRefused(`more than ${redirectsMax} redirects`)
      if (!URL.canParse(headers.location, url.href)) throw new OutboundRefused('redirect location is not a valid URL')
      const target = checkUrl(new URL(headers.location, url.href).href, this.policy)
      next = redirected(next, answer.statusCode, target.origin !== url.origin)
      url = target
    }
  }
}

/** Sends a request once more if the other side has closed the kept connection meanwhile. */
async function answered(url: URL, request: OutboundRequest, held: HeldConnections, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const send = (): Promise<Dispatcher.ResponseData> =>
    loadUndici().request(url, {
      dispatcher: held.to(url.origin),
      method: request.method ?? 'GET',
      headers: { 'user-agent': 'mds', 'accept-encoding': 'gzip, deflate, br', ...request.headers },
      body: request.body ?? null,
      signal,
    })
  try {
    return await send()
  } catch (error) {
    if (!held.areKept || !CLOSED.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    return send()
  }
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason as Error)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** The request for the target of a redirect, changed as browsers do. */
function redirected(request: OutboundRequest, status: number, isElsewhere: boolean): OutboundRequest {
  const kept = Object.entries(request.headers ?? {}).filter(([name]) => !isElsewhere || !PERSONAL_HEADERS.has(name.toLowerCase()))
  const { body, ...rest } = request
  const becomesGet = status === 303 ? request.method !== 'HEAD' : (status === 301 || status === 302) && request.method === 'POST'
  if (becomesGet) {
    const headers = Object.fromEntries(kept.filter(([name]) => !name.toLowerCase().startsWith('content-')))
    return { ...rest, method: 'GET', headers }
  }
  return { ...rest, headers: Object.fromEntries(kept), ...(body === undefined ? {} : { body }) }
}

function firstOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) texts[name.toLowerCase()] = first
  }
  return texts
}
