/**
 * The text under which a client is counted. All addresses of an IPv6 network of 64 bits are one client: a
 * provider gives each customer at least that many. Pure.
 */
/** Clients without an address: peers on a unix socket, unless a trusted proxy names their client. */
const NO_ADDRESS = 'local'

/** @param address in canonical form (outbound/networks.ts); empty if it is not known */
export function addressKey(address: string): string {
  if (address === '') return NO_ADDRESS
  if (!address.includes(':')) return address
  const [front = '', back] = address.split('::')
  const first = front === '' ? [] : front.split(':')
  const last = back === undefined || back === '' ? [] : back.split(':')
  // A dotted end counts as two groups.
  const given = first.length + last.length + (address.includes('.') ? 1 : 0)
  const zeros = back === undefined ? 0 : 8 - given
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last]
  return networkKey(groups.slice(0, 4).map((group) => parseInt(group, 16)))
}

/** @param bytes of an address, 4 or 16, the latter also for IPv4; empty for a unix socket */
export function addressKeyOf(bytes: Uint8Array): string {
  if (bytes.length === 16 && !isMapped(bytes)) return networkKey([0, 2, 4, 6].map((at) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)))
  if (bytes.length === 0) return NO_ADDRESS
  const at = bytes.length - 4
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`
}

/** @param name of the user, counted from whatever address it comes; empty: the client is its address */
export function clientKey(name: string, address: () => string): string {
  return name === '' ? address() : `user ${name}`
}

function isMapped(bytes: Uint8Array): boolean {
  for (let at = 0; at < 10; at++) if (bytes[at] !== 0) return false
  return bytes[10] === 0xff && bytes[11] === 0xff
}

function networkKey(groups: readonly number[]): string {
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`
}
