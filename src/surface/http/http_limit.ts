/**
 * The rate limit in the form of HTTP: headers on every answer to a counted request, and 429 beyond the limit.
 * It is asked with the head of a request, before its body is read. Probes and metrics are not counted. One
 * object for each event loop.
 */
import type { Authenticator } from '../../access/authenticator.js'
import { emitIncident, rateIncident } from '../../access/checks.js'
import { clientKey } from '../../access/client_key.js'
import type { RateLimit, RateVerdict } from '../../access/rate_limit.js'
import { CATALOGUE } from '../../errors.js'
import type { Telemetry } from '../../telemetry/registry.js'
import { type HttpAnswer, httpRefusal } from './answer/http_answer.js'
import type { Exchange } from './exchange.js'

const UNCOUNTED: ReadonlySet<string> = new Set(['/health', '/v1/health', '/livez', '/readyz', '/metrics'])

interface Limited {
  /** For the answer, whatever it is: name, value, name, value ... */
  readonly headers: readonly string[]
  /** Null: the request may go on. */
  readonly refusal: HttpAnswer | null
}

export const NOT_LIMITED: Limited = { headers: [], refusal: null }

export class HttpLimit {
  readonly #limit: RateLimit
  readonly #telemetry: Telemetry
  readonly #ceiling: string

  constructor(limit: RateLimit, telemetry: Telemetry) {
    this.#limit = limit
    this.#telemetry = telemetry
    this.#ceiling = String(limit.ceiling)
  }

  /**
   * Counts the request. By user, a caller whose credential was not looked up yet is counted by its address:
   * the first request with a token or key on each event loop, and all with wrong ones. Must be called in the
   * turn of the event loop in which the exchange was created.
   */
  take(exchange: Exchange, authenticator: Authenticator): Limited {
    if (UNCOUNTED.has(exchange.path)) return NOT_LIMITED
    const name = this.#limit.by === 'user' ? authenticator.known(exchange).name : ''
    const client = clientKey(name, () => exchange.addressKey())
    const verdict = this.#limit.take(client)
    const { remaining, resetSeconds, isAllowed, isEvent } = verdict
    const headers = [
      'X-RateLimit-Limit', this.#ceiling,
      'X-RateLimit-Remaining', String(remaining),
      'X-RateLimit-Reset', String(resetSeconds),
    ] // prettier-ignore
    if (isAllowed) return { headers, refusal: null }
    this.#telemetry.add('requests_rate_limited', 1)
    if (isEvent) emitIncident(rateIncident(name, exchange.clientAddress(), client, 'http'), exchange.userAgent())
    return { headers, refusal: refusalOf(verdict) }
  }
}

function refusalOf({ retryAfterSeconds }: RateVerdict): HttpAnswer {
  const body = JSON.stringify({ error: CATALOGUE.rateLimited.text, retryAfter: retryAfterSeconds })
  return { ...httpRefusal('rateLimited'), headers: ['Retry-After', String(retryAfterSeconds)], body }
}
