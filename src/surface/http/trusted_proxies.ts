/**
 * The address of the client behind the proxies that the operator trusts (`SVC_TRUSTED_PROXIES`). A trusted
 * peer appends to `X-Forwarded-For` the address from which it got the request, so the header is read from its
 * end, up to the first address that is not trusted. Clients can forge what is before that. The header is
 * ignored for other peers. Front-end thread only.
 */
import { canonicalAddress, Networks } from '../../outbound/networks.js'

/** Addresses of `X-Forwarded-For` that are looked at, the last ones: no client is behind as many proxies. */
export const FORWARDED_ADDRESSES_MAX = 32

/** The entry for peers on a unix socket, which have no address. */
const UNIX = 'unix'

/** An address with or without a port, IPv6 with or without brackets. */
const FORWARDED = /^(?:\[([0-9a-f:.]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?|([0-9a-f:.]+))$/i

export class TrustedProxies {
  readonly #networks: Networks
  readonly #trustsUnix: boolean

  /** @param entries as `parseProxies` accepts them */
  constructor(entries: readonly string[]) {
    this.#trustsUnix = entries.includes(UNIX)
    this.#networks = new Networks(entries.filter((entry) => entry !== UNIX))
  }

  /**
   * @param peer as text; empty for a unix socket
   * @param forwardedFor all values of `X-Forwarded-For`, in order, joined by commas
   * @returns the client's address in canonical form; empty if it is not known
   */
  clientOf(peer: string, forwardedFor: string): string {
    let client = canonicalAddress(peer) ?? ''
    let end = forwardedFor.length
    for (let hops = 0; hops < FORWARDED_ADDRESSES_MAX && end > 0 && this.#isTrusted(client); hops++) {
      const comma = forwardedFor.lastIndexOf(',', end - 1)
      const before = addressOf(forwardedFor.slice(comma + 1, end))
      if (before === undefined) break
      client = before
      end = comma
    }
    return client
  }

  #isTrusted(address: string): boolean {
    return address === '' ? this.#trustsUnix : this.#networks.has(address)
  }
}

function addressOf(entry: string): string | undefined {
  const match = FORWARDED.exec(entry.trim())
  return match === null ? undefined : canonicalAddress(match[1] ?? match[2] ?? match[3] ?? '')
}
