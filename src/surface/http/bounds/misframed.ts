/** Refuses requests that may be smuggled, for a turn of the event loop. Front-end thread only. */

interface FromPeer {
  peerText(): string
}

/**
 * The peers that have sent a misframed request in this turn of the event loop. uWS closes the connection only
 * after it has parsed the whole packet, and calls the handler for each request in it. Those requests may be
 * smuggled, and are refused too. uWS does not report the connection of a request, so peers are identified by
 * their address.
 */
export class Misframed {
  readonly #peers = new Set<string>()

  has(exchange: FromPeer): boolean {
    return this.#peers.size > 0 && this.#peers.has(exchange.peerText())
  }

  add(exchange: FromPeer): void {
    if (this.#peers.size === 0) setImmediate(() => this.#peers.clear())
    this.#peers.add(exchange.peerText())
  }
}
