/**
 * Counts the open connections of each client, as the kernel lists them. uWebSockets.js says that a connection
 * has closed, but not whose it was. Linux only. Takes some 0.5 us of this thread and as much of a helper
 * thread for each socket of the machine, in pieces. Front-end thread only.
 */
import { createReadStream, existsSync } from 'node:fs'
import { endianness } from 'node:os'
import { addressKeyOf } from '../../../access/client_key.js'
import { KIB } from '../../../limits/units.js'

/** Bytes of the kernel's list that are read at a time: some 400 connections, 0.2 ms. */
const CENSUS_CHUNK_BYTES = 64 * KIB

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const
const ESTABLISHED = '01'

/**
 * @param port of the server
 * @param isExempt of the text of an address
 * @returns connections by key of the client (access/client_key.ts)
 * @throws Error if the system has no such tables
 */
export async function countConnections(port: number, isExempt: (address: string) => boolean): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  // A system without IPv6 has the first one only.
  for (const table of TABLES.filter((path, at) => at === 0 || existsSync(path))) {
    let rest = ''
    for await (const chunk of createReadStream(table, { encoding: 'latin1', highWaterMark: CENSUS_CHUNK_BYTES })) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [, local = '', remote = '', state] = line.trim().split(/\s+/, 4)
        if (state !== ESTABLISHED || !local.endsWith(ending)) continue
        const bytes = bytesOf(remote.slice(0, remote.indexOf(':')))
        const key = addressKeyOf(bytes)
        if (!isExempt(textOf(bytes))) counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    }
  }
  return counts
}

/** The kernel prints an address as words of 32 bits in its own byte order. */
function bytesOf(hex: string): Uint8Array {
  const bytes = Buffer.from(hex, 'hex')
  if (endianness() === 'LE') bytes.swap32()
  return bytes
}

function textOf(bytes: Uint8Array): string {
  const key = addressKeyOf(bytes)
  if (!key.includes(':')) return key
  return Array.from({ length: 8 }, (_, at) => (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16)).join(':')
}
