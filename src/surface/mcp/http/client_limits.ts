/**
 * The rate limits on the port of MCP: that of the server, over all surfaces, and that of MCP, which counts by
 * address, by key or by session. Both have the headers of HTTP. A client that has no key or session is
 * counted by its address. One object a thread.
 */
import type { Authenticator } from '../../../access/authenticator.js'
import { emitIncident, rateIncident } from '../../../access/checks.js'
import { clientKey } from '../../../access/client_key.js'
import { RateLimit, type RateVerdict } from '../../../access/rate_limit.js'
import type { Config } from '../../../config/config.js'
import { CATALOGUE } from '../../../errors.js'
import type { Telemetry } from '../../../telemetry/registry.js'
import { refusal, REFUSED } from '../protocol/codes.js'
import type { Exchange } from './exchange.js'

interface Counted {
  /** Undefined: the credential is not known to be good. */
  readonly identity: string | undefined
  readonly session: string | undefined
}

export class ClientLimits {
  readonly #ofServer: RateLimit | null
  readonly #ofMcp: RateLimit | null
  readonly #by: Config['mcpRateLimitBy']
  readonly #telemetry: Telemetry

  /** @param ofServer of all surfaces; null: none */
  constructor(config: Config, ofServer: RateLimit | null, telemetry: Telemetry) {
    this.#ofServer = ofServer
    this.#by = config.mcpRateLimitBy
    this.#telemetry = telemetry
    const rules = {
      rateLimitRequests: config.mcpRateLimitRequests,
      rateLimitBurst: config.mcpRateLimitBurst,
      rateLimitWindowMs: config.mcpRateLimitWindowMs,
      rateLimitBy: 'ip',
    } as const
    this.#ofMcp = config.mcpRateLimitEnabled ? new RateLimit(rules) : null
  }

  /** Before the credential is looked up. @returns whether the request may go on; otherwise it is answered */
  admitsFirst(exchange: Exchange, authenticator: Authenticator): boolean {
    const limit = this.#ofServer
    if (limit !== null) {
      const name = limit.by === 'user' ? authenticator.known(exchange).name : ''
      if (
        !this.#take(
          exchange,
          limit,
          clientKey(name, () => exchange.addressKey()),
          name,
        )
      )
        return false
    }
    return this.#by !== 'ip' || this.#takeOwn(exchange, exchange.addressKey())
  }

  /** When it is known who asks, or that nobody known does. @returns as `admitsFirst` */
  admits(exchange: Exchange, { identity, session }: Counted): boolean {
    if (this.#by === 'ip') return true
    const known = this.#by === 'session' ? session : identity
    return this.#takeOwn(exchange, known === undefined ? exchange.addressKey() : `${this.#by} ${known}`)
  }

  #takeOwn(exchange: Exchange, client: string): boolean {
    return this.#ofMcp === null || this.#take(exchange, this.#ofMcp, client, '')
  }

  #take(exchange: Exchange, limit: RateLimit, client: string, name: string): boolean {
    const verdict = limit.take(client)
    exchange.commonHeaders = [...withoutLimits(exchange.commonHeaders), ...headersOf(limit, verdict)]
    if (verdict.isAllowed) return true
    this.#telemetry.add('requests_rate_limited', 1)
    if (verdict.isEvent) emitIncident(rateIncident(name, exchange.clientAddress(), client, 'http'), exchange.userAgent())
    const { retryAfterSeconds } = verdict
    const refused = refusal(429, REFUSED, CATALOGUE.rateLimited.text, { retryAfter: retryAfterSeconds })
    exchange.refuse(refused, null, ['Retry-After', String(retryAfterSeconds)])
    return false
  }
}

const PREFIX = 'X-RateLimit-'

function headersOf({ ceiling }: RateLimit, { remaining, resetSeconds }: RateVerdict): readonly string[] {
  return [
    `${PREFIX}Limit`, String(ceiling),
    `${PREFIX}Remaining`, String(remaining),
    `${PREFIX}Reset`, String(resetSeconds),
  ] // prettier-ignore
}

/** Of two limits, the headers name that of MCP. */
function withoutLimits(headers: readonly string[]): readonly string[] {
  const at = headers.findIndex((name) => name.startsWith(PREFIX))
  return at < 0 ? headers : [...headers.slice(0, at), ...headers.slice(at + 6)]
}
