/**
 * `SVC_OUTBOUND_ALLOWLIST`: destinations that the operator allows, whatever their addresses. An entry is a
 * name (`ollama.internal`), all names below one (`*.example.com`), an address or a network (`10.1.0.0/16`),
 * each with or without a port. Pure.
 */
import { loadIpaddr } from './packages.js'

export type AllowedDestination =
  | { readonly kind: 'name'; readonly name: string; readonly below: boolean; readonly port: number | null }
  | { readonly kind: 'network'; readonly network: string; readonly bits: number; readonly port: number | null }

const NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*)$/

/** Returns undefined if the text is not a valid entry. */
export function parseAllowed(text: string): AllowedDestination | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)|([^[\]]*:[^[\]]*:[^[\]]*))(?::(\d{1,5}))?$/.exec(text.toLowerCase())
  if (match === null) return undefined
  const port = match[4] === undefined ? null : Number(match[4])
  if (port !== null && (port === 0 || port > 65_535)) return undefined
  const host = (match[1] ?? match[2] ?? match[3]) as string
  const [address, bits, ...rest] = host.split('/')
  if (rest.length === 0 && address !== undefined && loadIpaddr().isValid(address)) return networkOf(address, bits, port)
  const name = NAME.exec(host)
  // A name that ends in a number is an IP address in another spelling.
  if (name === null || /(^|\.)(0x[0-9a-f]*|\d+)$/.test(host)) return undefined
  return { kind: 'name', name: name[2] as string, below: name[1] !== undefined, port }
}

function networkOf(address: string, bits: string | undefined, port: number | null): AllowedDestination | undefined {
  const parsed = loadIpaddr().parse(address)
  const whole = parsed.kind() === 'ipv4' ? 32 : 128
  // Refuses `10.1`, which the package reads as 10.0.0.1.
  if (parsed.kind() === 'ipv4' && address.split('.').length !== 4) return undefined
  if (bits === undefined) return { kind: 'network', network: parsed.toString(), bits: whole, port }
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > whole) return undefined
  return { kind: 'network', network: parsed.toString(), bits: Number(bits), port }
}

/**
 * @param host as in a URL, lower-case, without a trailing dot
 * @param address the resolved address
 */
export function isAllowed(entries: readonly AllowedDestination[], host: string, address: string, port: number): boolean {
  return entries.some((entry) => (entry.port === null || entry.port === port) && holds(entry, host, address))
}

function holds(entry: AllowedDestination, host: string, address: string): boolean {
  if (entry.kind === 'name') return entry.below ? host.endsWith(`.${entry.name}`) : host === entry.name
  const ipaddr = loadIpaddr()
  if (address.includes('%') || !ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  const network = ipaddr.parse(entry.network)
  return parsed.kind() === network.kind() && parsed.match(network, entry.bits)
}
