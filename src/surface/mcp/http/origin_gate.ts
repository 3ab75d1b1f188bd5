/**
 * Which web pages may use the port of MCP. The specification asks servers to check `Origin`, because a page
 * can reach a server on the reader's machine, or in the reader's network, by DNS rebinding. So an origin must
 * be local, the server's own, or named by SVC_CORS_ORIGINS; its default `*` admits every origin only where
 * clients need a credential, which a foreign page does not have. Clients that are no browsers send none.
 */
import type { Config } from '../../../config/config.js'
import type { ErrorCode } from '../../../errors.js'
import { canonicalAddress } from '../../../outbound/networks.js'
import { isAllowedHost, isLocalOrigin, LocalGuard } from '../../http/local_guard.js'
import { thisMachine } from '../../http/this_machine.js'
import type { Exchange } from './exchange.js'

type OriginRules = Pick<Config, 'corsOrigins' | 'mcpDomain' | 'mcpApiKeyEnabled' | 'authEnabled' | 'guardsLocal' | 'allowedHosts'>

/** For the guard: an origin that is admitted here is as good as a local one. */
const ADMITTED = 'http://localhost'

export class OriginGate {
  /** Null: the operator has opened the server to other hosts and origins, or clients need a credential. */
  readonly #guard: LocalGuard | null
  readonly #origins: ReadonlySet<string>
  readonly #admitsAll: boolean
  readonly #hosts: readonly string[]

  constructor({ corsOrigins, mcpDomain, mcpApiKeyEnabled, authEnabled, guardsLocal, allowedHosts }: OriginRules) {
    const needsCredential = authEnabled || mcpApiKeyEnabled
    this.#hosts = mcpDomain === '' ? allowedHosts : [...allowedHosts, mcpDomain.toLowerCase()]
    this.#guard = guardsLocal && !needsCredential ? new LocalGuard(this.#hosts, () => false) : null
    this.#origins = new Set(corsOrigins)
    this.#admitsAll = corsOrigins.includes('*') && this.#guard === null
  }

  /** @returns null if the request is admitted */
  refusalOf(exchange: Exchange): ErrorCode | null {
    const origin = exchange.header('origin') ?? ''
    const host = exchange.header('host') ?? ''
    if (!this.#admits(origin, host)) return 'foreignOrigin'
    const refused = this.#guard?.refusalOf({
      method: exchange.method,
      path: exchange.path,
      origin: origin === '' ? '' : ADMITTED,
      host,
      fetchSite: exchange.header('sec-fetch-site') ?? '',
      fetchMode: exchange.header('sec-fetch-mode') ?? '',
      fetchDest: exchange.header('sec-fetch-dest') ?? '',
      referer: exchange.header('referer') ?? '',
      isPeerLocal: () => thisMachine.isPeer(exchange.peer),
    })
    return refused ?? null
  }

  #admits(origin: string, host: string): boolean {
    if (origin === '' || this.#admitsAll || this.#origins.has(origin) || isLocalOrigin(origin)) return true
    if (!URL.canParse(origin)) return false
    const own = new URL(origin)
    if (this.#hosts.some((allowed) => isAllowedHost(own.hostname, allowed.toLowerCase()))) return true
    // The server's own address. A name could be one that was rebound to it.
    return own.host === host.toLowerCase() && canonicalAddress(own.hostname.replace(/^\[|\]$/g, '')) !== undefined
  }
}
