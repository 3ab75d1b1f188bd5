/**
 * What connections make the server hold: requests until their calls end, answers until they are read. What
 * exceeds the bound is refused, and the connection that holds the most is ended, unless it is the one that
 * asks. So a client that does not read cannot shut the others out. One object a thread for each of the two.
 */
import type { Socket } from 'node:net'

/** The bytes of one connection. */
export interface Held {
  readonly peer: string
  bytes: number
  /** It is being ended. Its bytes are counted until its calls have ended: before, they are in memory. */
  isEnding: boolean
}

export class HeldBytes {
  readonly #connections = new Map<string, Held>()
  #total = 0

  /** @param end ends the connection of a peer */
  constructor(
    readonly bytesMax: number,
    readonly end: (peer: string) => void,
  ) {}

  get total(): number {
    return this.#total
  }

  /** @returns what the bytes are to be given back to; null: they are refused */
  take(peer: string, bytes: number): Held | null {
    let own = this.#connections.get(peer)
    if (this.#total + bytes > this.bytesMax) {
      this.#makeRoom((own?.bytes ?? 0) + bytes)
      return null
    }
    if (own === undefined) this.#connections.set(peer, (own = { peer, bytes: 0, isEnding: false }))
    own.bytes += bytes
    this.#total += bytes
    return own
  }

  give(held: Held, bytes: number): void {
    held.bytes -= bytes
    this.#total -= bytes
    if (held.bytes === 0) this.#connections.delete(held.peer)
  }

  /** One connection at a time: what it holds comes back in a later turn of the event loop. */
  #makeRoom(wanted: number): void {
    let most: Held | null = null
    for (const held of this.#connections.values()) {
      if (held.isEnding) return
      if (most === null || held.bytes > most.bytes) most = held
    }
    if (most === null || most.bytes <= wanted) return
    most.isEnding = true
    this.end(most.peer)
  }
}

/** As calls name their peer. Peers on a unix socket have one name. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined ? 'unknown' : `${remoteAddress}:${remotePort}`
}
