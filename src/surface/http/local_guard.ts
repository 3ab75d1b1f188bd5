/**
 * Refuses requests of foreign web pages to a server without access control on the same machine as the
 * browser. A page can send requests to 127.0.0.1, and can read the answers by DNS rebinding. The browser
 * identifies the page by `Origin` and `Host`. Requests of images, scripts, frames and links have no `Origin`;
 * they are identified by `Sec-Fetch-Site`. Only requests from an address of this machine are checked. Threads
 * of surfaces only.
 * Decision: docs/decisions/interfaces/http-connections.md.
 */
import type { ErrorCode } from '../../errors.js'
import { thisMachine } from './this_machine.js'

/** Origins and hosts whose verdict is cached, each of at most the 8 KB of all headers: 1 MB. */
const GUARD_NAMES_KEPT_MAX = 64

interface Asked {
  /** Upper case. */
  readonly method: string
  readonly path: string
  readonly origin: string
  readonly host: string
  /** `Sec-Fetch-Site`, `-Mode` and `-Dest`; empty for clients that are not browsers. */
  readonly fetchSite: string
  readonly fetchMode: string
  readonly fetchDest: string
  readonly referer: string
  isPeerLocal(): boolean
}

/** Origins of browser extensions, which the user has installed. No page has such an origin. */
const EXTENSIONS = /^(?:chrome|moz|safari-web|ms-browser)-extension:\/\//i

export class LocalGuard {
  /** Cached verdicts. */
  readonly #origins = new Map<string, boolean>()
  readonly #hosts = new Map<string, boolean>()

  /**
   * @param allowedHosts names, `*.name` for its subdomains, or `*`
   * @param mayBeLinked whether pages of other sites may link to the path
   */
  constructor(
    readonly allowedHosts: readonly string[],
    readonly mayBeLinked: (method: string, path: string) => boolean,
  ) {}

  /**
   * Returns null if the request is admitted. The addresses are read last, because most requests don't need
   * them. What depends on them is not cached: they change.
   */
  refusalOf(asked: Asked): ErrorCode | null {
    const isHomely = asked.origin === '' ? !this.#isEmbedded(asked) : kept(this.#origins, asked.origin, isLocalOrigin)
    const isNamedWell = kept(this.#hosts, asked.host, (host) => this.#isGoodHost(host))
    if ((isHomely && isNamedWell) || !asked.isPeerLocal()) return null
    if (!isHomely && !isOwn(asked.origin === '' ? asked.referer : asked.origin)) return 'foreignOrigin'
    return isNamedWell || isOwnHost(asked.host) ? null : 'foreignHost'
  }

  /**
   * Whether a page of another site, or of another port, caused a request without `Origin`. Such a request
   * carries no foreign content, but it is executed. Browsers do not let a page set these headers. A page may
   * omit the referrer, but not set it.
   */
  #isEmbedded({ method, path, fetchSite, fetchMode, fetchDest, referer }: Asked): boolean {
    if (fetchSite !== 'cross-site' && fetchSite !== 'same-site') return false
    if (isLocalOrigin(referer)) return false
    const isLink = fetchMode === 'navigate' && fetchDest === 'document'
    return !(isLink && this.mayBeLinked(method, path))
  }

  /** An IP address can't be rebound. Only a name that an attacker owns can resolve to this machine. */
  #isGoodHost(host: string): boolean {
    const name = hostnameOf(`http://${host}`)
    if (name === undefined || /[/@?#\\]/.test(host)) return false
    if (isLoopbackName(name) || name.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(name)) return true
    return this.allowedHosts.some((allowed) => isAllowedHost(name, allowed.toLowerCase()))
  }
}

/** @param allowed a name, `*.name` for its subdomains, or `*`; in lower case */
export function isAllowedHost(name: string, allowed: string): boolean {
  return allowed === '*' || name === allowed || (allowed.startsWith('*.') && name.endsWith(allowed.slice(1)))
}

export function isLocalOrigin(origin: string): boolean {
  if (EXTENSIONS.test(origin)) return true
  const name = hostnameOf(origin)
  return name !== undefined && isLoopbackName(name)
}

/** Whether the URL's host is an address or the name of this machine. */
function isOwn(url: string): boolean {
  const name = hostnameOf(url)
  return name !== undefined && thisMachine.isHost(name)
}

function isOwnHost(host: string): boolean {
  return !/[/@?#\\]/.test(host) && isOwn(`http://${host}`)
}

/** Returns the host in lower case, without the port; addresses in canonical form. */
function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase().replace(/\.$/, '') : undefined
}

function isLoopbackName(name: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/.test(name)
}

function kept(verdicts: Map<string, boolean>, text: string, judge: (text: string) => boolean): boolean {
  const known = verdicts.get(text)
  if (known !== undefined) return known
  const verdict = judge(text)
  if (verdicts.size >= GUARD_NAMES_KEPT_MAX) verdicts.clear()
  verdicts.set(text, verdict)
  return verdict
}
