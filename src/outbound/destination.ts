/**
 * Decides whether this server may send a request to a destination. A URL is checked before any use. Every
 * address is checked immediately before a connection to it is opened. Any thread. Pure, except for the list
 * of this machine's interfaces.
 */
import { networkInterfaces } from 'node:os'
import { isIP } from 'node:net'
import { OUTBOUND_URL_BYTES_MAX } from '../limits/outbound.js'
import { classOfAddress } from './address_class.js'
import { isAllowed } from './allowlist.js'
import type { AllowedDestination } from './allowlist.js'

export interface OutboundPolicy {
  readonly allowed: readonly AllowedDestination[]
  /** Treat loopback and private networks like public ones. */
  readonly allowPrivate: boolean
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
