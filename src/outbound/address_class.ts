/**
 * Classifies an IP address. Everything that is not clearly an address of the public internet is refused by
 * default, because this machine would send the request from inside its networks, possibly on behalf of an
 * outside client. Pure.
 */
import { loadIpaddr } from './packages.js'

/**
 * `private`: this machine and its networks, which an operator may allow. `never`: addresses that no service
 * has a reason to use.
 */
export type AddressClass = 'public' | 'private' | 'never'

/**
 * Metadata services of cloud providers, which return data about a machine, including credentials. Only the
 * addresses that the ranges do not cover.
 */
const METADATA = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/** @param address an IP address as written by resolvers and URLs; anything else is `never` */
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
