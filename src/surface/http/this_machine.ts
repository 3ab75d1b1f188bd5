/** Which addresses and host names are this machine's, for the check of web pages (local_guard.ts). */
import { hostname, networkInterfaces } from 'node:os'
import { canonicalAddress } from '../../outbound/networks.js'

/** How long the addresses of this machine count as known. Interfaces come and go; asking costs 0.1 ms. */
export const OWN_ADDRESSES_KEPT_MS = 5000

export class ThisMachine {
  readonly #read: () => readonly string[]
  readonly #now: () => number
  readonly #names: ReadonlySet<string>
  #addresses: ReadonlySet<string> = new Set()
  #readAt = -Infinity

  /** @param read of the addresses of all interfaces. Default: the kernel's, as they are now */
  constructor(read = interfaceAddresses, now = () => performance.now(), name = hostname()) {
    this.#read = read
    this.#now = now
    const own = name.toLowerCase()
    // The second one is answered on the local network only (mDNS).
    this.#names = new Set([own, `${own}.local`])
  }

  /**
   * Whether a client with this address runs here. The kernel gives a connection to an own address that same
   * address as its source.
   * @param peer as text; empty: a unix socket
   */
  isPeer(peer: string): boolean {
    const address = canonicalAddress(peer.replace(/%.*$/, ''))
    return address !== undefined && (address.startsWith('127.') || address === '::1' || this.#current().has(address))
  }

  /** @param host of a URL, in lower case: a name, or an address, which may be in brackets */
  isHost(host: string): boolean {
    const address = canonicalAddress(host.replace(/^\[|\]$/g, ''))
    return address === undefined ? this.#names.has(host) : this.#current().has(address)
  }

  #current(): ReadonlySet<string> {
    const now = this.#now()
    if (now - this.#readAt >= OWN_ADDRESSES_KEPT_MS) {
      this.#addresses = new Set(this.#read().map((address) => canonicalAddress(address) ?? address))
      this.#readAt = now
    }
    return this.#addresses
  }
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}

/** Of this thread. */
export const thisMachine = new ThisMachine()
