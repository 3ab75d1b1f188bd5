/** The name of a connection, as calls of the package have it. Pure. */
import type { Socket } from 'node:net'

/** Peers on a unix socket have one name. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined ? 'unknown' : `${remoteAddress}:${remotePort}`
}
