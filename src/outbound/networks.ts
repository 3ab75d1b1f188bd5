/**
 * IP addresses in one spelling, and sets of networks. Uses what Node has, because a start must not load a
 * package for it. Pure.
 */
import { BlockList, isIP, SocketAddress } from 'node:net'

const MAPPED = /^::ffff:(?=\d+\.)/i

/** Returns the one spelling of the address, IPv4-mapped ones as IPv4; undefined if it is none. */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text)
  if (version === 4) return text
  // A zone names an interface of this machine.
  if (version !== 6 || text.includes('%')) return undefined
  return new SocketAddress({ address: text, family: 'ipv6' }).address.replace(MAPPED, '')
}

/** Whether the text is an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

export class Networks {
  readonly #list = new BlockList()

  /** @param networks each of which `isNetwork` accepts */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', bits] = network.split('/')
      if (bits === undefined) this.#list.addAddress(address, familyOf(address))
      else this.#list.addSubnet(address, Number(bits), familyOf(address))
    }
  }

  /** @param address in its one spelling */
  has(address: string): boolean {
    return this.#list.check(address, familyOf(address))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
