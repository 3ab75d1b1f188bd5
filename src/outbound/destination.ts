/**
 * Decides whether this server may send a request to a destination. A URL is checked before any use. Every
 * address is checked immediately before a connection to it is opened. Any thread. Pure, except for the list
 * of this machine's interfaces.
 */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { OUTBOUND_URL_BYTES_MAX } from '../limits/embedding.js'
import type { AllowedDestination } from './allowlist.js'
import { isAllowed, parseAllowed } from './allowlist.js'
import { loadIpaddr } from './packages.js'

export interface OutboundPolicy {
  readonly allowed: readonly AllowedDestination[]
  /** Treat loopback and private networks like public ones. */
  readonly allowPrivate: boolean
}

export function policyOf(config: {
  readonly outboundAllowlist: readonly AllowedDestination[]
  readonly outboundAllowPrivate: boolean
}): OutboundPolicy {
  return { allowed: config.outboundAllowlist, allowPrivate: config.outboundAllowPrivate }
}

/** A request to a forbidden destination. The text names the rule, not what is at the destination. */
export class OutboundRefused extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'OutboundRefused'
  }
}

/**
 * Checks what a URL shows without network access. The URL parser normalizes a host that is an IP address in
 * any spelling (decimal, octal, hexadecimal, with a trailing dot), and the address is checked here.
 * @throws OutboundRefused
 */
export function checkUrl(text: string, policy: OutboundPolicy): URL {
  if (Buffer.byteLength(text) > OUTBOUND_URL_BYTES_MAX) throw new OutboundRefused(`longer than ${OUTBOUND_URL_BYTES_MAX} bytes`)
  if (!URL.canParse(text)) throw new OutboundRefused('not a URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundRefused('only http and https are allowed')
  if (url.username !== '' || url.password !== '') throw new OutboundRefused('credentials in the address are not allowed')
  const host = hostOf(url)
  if (host === '') throw new OutboundRefused('no host')
  if (isIP(host) !== 0) checkAddress(policy, host, host, portOf(url))
  return url
}

/**
 * Returns the host in the form that the rules use: without brackets and trailing dot. It is lower-case,
 * because the URL was parsed.
 */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

export function portOf({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/**
 * `address` is `host`, or was resolved from it.
 * @throws OutboundRefused unless a connection to `address` may be opened
 */
export function checkAddress(policy: OutboundPolicy, host: string, address: string, port: number): void {
  if (isAllowed(policy.allowed, host, address, port)) return
  const found = classOfAddress(address)
  const isOpen = (found === 'public' && !isOwn(address)) || (found !== 'never' && policy.allowPrivate)
  if (!isOpen) throw new OutboundRefused('the address is not a public one')
  if (port !== 80 && port !== 443 && port < 1024) throw new OutboundRefused(`port ${port} is not allowed`)
}

/**
 * Whether the address is a public address of this machine. Services that listen on it for local use must not
 * be reachable through this server.
 */
function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address))
}

/**
 * `private`: this machine and its networks, which an operator may allow. `never`: addresses that no service
 * has a reason to use.
 */
type AddressClass = 'public' | 'private' | 'never'

/**
 * Metadata services of cloud providers, which return data about a machine, including credentials. Only the
 * addresses that the ranges do not cover.
 */
const METADATA = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/**
 * Everything that is not clearly an address of the public internet is refused by default, because this
 * machine would send the request from inside its networks, possibly on behalf of an outside client.
 * @param address an IP address as written by resolvers and URLs; anything else is `never`
 */
export function classOfAddress(address: string): AddressClass {
  const ipaddr = loadIpaddr()
  // A zone names an interface of this machine, so the address is link-local, whatever its range.
  if (address.includes('%') || !ipaddr.isValid(address)) return 'never'
  const parsed = ipaddr.parse(address)
  if (METADATA.has(parsed.toString())) return 'never'
  switch (parsed.range()) {
    case 'unicast':
      // Only 2000::/3 is assigned. 'unicast' also includes ranges without a name in any registry, such as the
      // IPv4-compatible form of 127.0.0.1.
      return parsed.kind() === 'ipv6' && ((parsed.toByteArray()[0] as number) & 0xe0) !== 0x20 ? 'never' : 'public'
    case 'loopback':
    case 'private':
    case 'uniqueLocal':
    case 'carrierGradeNat':
      return 'private'
    default:
      // Link-local, multicast, mapped, translated, tunnelled, reserved. A disguised IPv4 address must not
      // pass as another one.
      return 'never'
  }
}

/**
 * The policy, with the host and port of these URLs allowed: addresses that the operator has set by options
 * are trusted, wherever they lead.
 */
export function allowedWith(policy: OutboundPolicy, ...operatorUrls: readonly string[]): OutboundPolicy {
  const named = operatorUrls.flatMap((address) => {
    const url = new URL(address)
    const host = hostOf(url)
    const allowed = parseAllowed(`${host.includes(':') ? `[${host}]` : host}:${portOf(url)}`)
    return allowed === undefined ? [] : [allowed]
  })
  return { ...policy, allowed: [...policy.allowed, ...named] }
}
