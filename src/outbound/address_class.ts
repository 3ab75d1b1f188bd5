/**
 * What kind of place an IP address is. Everything that is not plainly an address of the public internet is
 * refused by default: a request to it would be made from inside, by this machine, for somebody who may stand
 * outside. Pure.
 */
import { loadIpaddr } from './packages.js'

/**
 * `private`: this machine and its networks, which an operator may open. `never`: whatever no service of
 * anybody's has a reason to be at.
 */
export type AddressClass = 'public' | 'private' | 'never'

/**
 * Where cloud providers answer questions about a machine, credentials among the answers, as far as the ranges
 * do not say it.
 */
const METADATA = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/** @param address an IP address as resolvers and URLs write it; anything else is `never` */
export function classOfAddress(address: string): AddressClass {
  const ipaddr = loadIpaddr()
  // A zone names an interface of this machine: link-local, whatever the rest says.
  if (address.includes('%') || !ipaddr.isValid(address)) return 'never'
  const parsed = ipaddr.parse(address)
  if (METADATA.has(parsed.toString())) return 'never'
  switch (parsed.range()) {
    case 'unicast':
      // Only 2000::/3 is given to anybody; 'unicast' is also what no registry has a name for, the compatible
      // form of 127.0.0.1 among it.
      return parsed.kind() === 'ipv6' && ((parsed.toByteArray()[0] as number) & 0xe0) !== 0x20 ? 'never' : 'public'
    case 'loopback':
    case 'private':
    case 'uniqueLocal':
    case 'carrierGradeNat':
      return 'private'
    default:
      // Link-local, multicast, mapped, translated, tunnelled, reserved: an IPv4 address in disguise must not
      // pass for another one.
      return 'never'
  }
}
