/**
 * May this server send a request there? Asked of a URL before anything is done with it, and of every address
 * right before a connection to it is opened. Any thread; pure but for the list of this machine's interfaces.
 */
import { networkInterfaces } from 'node:os'
import { isIP } from 'node:net'
import { OUTBOUND_URL_BYTES_MAX } from '../limits/outbound.js'
import { classOfAddress } from './address_class.js'
import { isAllowed } from './allowlist.js'
import type { AllowedDestination } from './allowlist.js'

export interface OutboundPolicy {
  readonly allowed: readonly AllowedDestination[]
  /** Loopback and private networks count as public ones. */
  readonly allowPrivate: boolean
}

/** Somebody wanted a request sent where none may go. The text names the rule, not what is there. */
export class OutboundRefused extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'OutboundRefused'
  }
}

/**
 * What can be said of a URL without asking anybody. A host that is an address in any spelling (decimal,
 * octal, hexadecimal, with a trailing dot) is one to the URL's parser, and is judged here.
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

/** As the rules see it: without brackets and trailing dot; lower-case since the URL was parsed. */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

export function portOf({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/** @throws OutboundRefused unless a connection to `address`, which `host` is or resolved to, may be opened */
export function checkAddress(policy: OutboundPolicy, host: string, address: string, port: number): void {
  if (isAllowed(policy.allowed, host, address, port)) return
  const found = classOfAddress(address)
  const isOpen = (found === 'public' && !isOwn(address)) || (found !== 'never' && policy.allowPrivate)
  if (!isOpen) throw new OutboundRefused('the address is not a public one')
  if (port !== 80 && port !== 443 && port < 1024) throw new OutboundRefused(`port ${port} is not allowed`)
}

/** This machine under its public address: what listens there for itself must not be reached through us. */
function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address))
}
