/**
 * What connections make the server hold: requests until their calls end, answers until they are read. What
 * exceeds the bound is refused, and the connection that holds the most is ended, unless it is the one that
 * asks. So a client that does not read cannot shut the others out. One object a thread for each of the two.
 */

/** The bytes of one connection. */
export interface Held<Connection> {
  readonly connection: Connection
  bytes: number
  /** It is being ended. Its bytes are counted until its calls have ended: before, they are in memory. */
  isEnding: boolean
}

/** @typeParam Connection what a connection is known by */
export class HeldBytes<Connection> {
  readonly #connections = new Map<Connection, Held<Connection>>()
  #total = 0

  /** @param end ends a connection */
  constructor(
    readonly bytesMax: number,
    readonly end: (connection: Connection) => void,
  ) {}

  get total(): number {
    return this.#total
  }

  /** @returns what the bytes are to be given back to; null: they are refused */
  take(connection: Connection, bytes: number): Held<Connection> | null {
    let own = this.#connections.get(connection)
    if (this.#total + bytes > this.bytesMax) {
      this.#makeRoom((own?.bytes ?? 0) + bytes)
      return null
    }
    if (own === undefined) this.#connections.set(connection, (own = { connection, bytes: 0, isEnding: false }))
    own.bytes += bytes
    this.#total += bytes
    return own
  }

  give(held: Held<Connection>, bytes: number): void {
    held.bytes -= bytes
    this.#total -= bytes
    if (held.bytes === 0) this.#connections.delete(held.connection)
  }

  /** One connection at a time: what it holds comes back in a later turn of the event loop. */
  #makeRoom(wanted: number): void {
    let most: Held<Connection> | null = null
    for (const held of this.#connections.values()) {
      if (held.isEnding) return
      if (most === null || held.bytes > most.bytes) most = held
    }
    // Of two that hold the same, it is the older one.
    if (most === null || most.bytes < wanted) return
    most.isEnding = true
    this.end(most.connection)
  }
}
