/**
 * The header of the PROXY protocol, version 2. The gate sends it to pass the address of a client to an event
 * loop. uWebSockets.js accepts such a header before every request, so a client could forge its address by a
 * header of its own. The gate therefore searches the bytes of clients for the signature. It contains a NUL,
 * which occurs in no head of a request and in no JSON. Pure.
 */

export const PROXY_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

const VERSION_2_PROXY = 0x21
const TCP_4 = 0x11
const TCP_6 = 0x21
const BYTES_4 = 4
const BYTES_6 = 16
const PORTS_BYTES = 4
const LENGTH_BYTES = 2

/**
 * The header for a client. The destination and the ports are not used, and are zero.
 * @param address canonical; empty if it is not known
 */
export function proxyHeader(address: string): Buffer {
  const source = bytesOf(address)
  const addresses = Buffer.alloc(2 * source.length + PORTS_BYTES)
  source.copy(addresses)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16BE(addresses.length)
  const family = source.length === BYTES_4 ? TCP_4 : TCP_6
  return Buffer.concat([PROXY_SIGNATURE, Buffer.from([VERSION_2_PROXY, family]), length, addresses])
}

/** @param address canonical; empty if it is not known: all zeros */
function bytesOf(address: string): Buffer {
  if (address === '') return Buffer.alloc(BYTES_4)
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number))
  const [before = '', after] = address.split('::')
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const first = groups(before)
  const last = groups(after ?? '')
  const missing = BYTES_6 / 2 - first.length - last.length
  const bytes = Buffer.alloc(BYTES_6)
  ;[...first, ...Array.from({ length: missing }, () => 0), ...last].forEach((group, at) => bytes.writeUInt16BE(group, 2 * at))
  return bytes
}

const NOTHING = Buffer.alloc(0)
const CARRIAGE_RETURN = 0x0d

/** Finds the signature in the bytes of one client, also across chunks. */
export class SignatureSearch {
  /** The last bytes before the present chunk that may begin a signature, fewer than it has. */
  #tail: Buffer = NOTHING

  /** Whether the signature ends in this chunk. */
  isIn(chunk: Buffer): boolean {
    const kept = PROXY_SIGNATURE.length - 1
    const joint = this.#tail.length === 0 ? NOTHING : Buffer.concat([this.#tail, chunk.subarray(0, kept)])
    const isFound = chunk.includes(PROXY_SIGNATURE) || joint.includes(PROXY_SIGNATURE)
    const end = chunk.length >= kept ? chunk.subarray(-kept) : Buffer.concat([this.#tail, chunk]).subarray(-kept)
    const first = end.indexOf(CARRIAGE_RETURN)
    // A copy: a slice would keep the whole chunk in memory.
    this.#tail = first < 0 ? NOTHING : Buffer.from(end.subarray(first))
    return isFound
  }
}
