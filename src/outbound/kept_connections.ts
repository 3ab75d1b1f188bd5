/**
 * Connections of outgoing requests that stay open for the next one: a pool for each origin, bounded per
 * origin, in all, and in the time that they idle. Destinations are checked where a connection is opened
 * (connector.ts). One thread: that of its client.
 */
import type { buildConnector, Dispatcher, Pool } from 'undici'
import { loadUndici } from './packages.js'

/** The options SVC_HTTP_POOL_*. */
export interface KeptConnectionBounds {
  /** Connections that idle, of all origins. 0: none is kept. */
  readonly httpPoolIdleMax: number
  /** Connections to one origin at once; further requests wait for one, in their own time. */
  readonly httpPoolPerHost: number
  /** Time that a connection idles before it is closed. */
  readonly httpPoolIdleMs: number
}

export class KeptConnections {
  /** By origin, least recently used first. */
  readonly #pools = new Map<string, Pool>()

  constructor(
    readonly bounds: KeptConnectionBounds,
    readonly options: { readonly connect: buildConnector.connector; readonly maxHeaderSize: number },
  ) {}

  /** @param origin as `URL.origin` gives it */
  of(origin: string): Dispatcher {
    const pool = this.#pools.get(origin) ?? this.#opened(origin)
    this.#pools.delete(origin)
    this.#pools.set(origin, pool)
    return pool
  }

  /**
   * Called once a request has ended: closes pools until the others have no more idle connections than may be
   * kept, those first that were used longest ago. Requests that such a pool still has are finished.
   */
  trim(): void {
    let idle = 0
    for (const pool of this.#pools.values()) idle += idleOf(pool)
    for (const [origin, pool] of this.#pools) {
      const { connected, pending } = pool.stats
      const isEmpty = connected + pending === 0
      const idleHere = idleOf(pool)
      if (!isEmpty && (idleHere === 0 || idle <= this.bounds.httpPoolIdleMax)) continue
      idle -= idleHere
      this.#pools.delete(origin)
      void pool.close()
    }
  }

  #opened(origin: string): Pool {
    const { Pool: Opened } = loadUndici()
    const { httpPoolPerHost, httpPoolIdleMs } = this.bounds
    return new Opened(origin, {
      ...this.options,
      connections: httpPoolPerHost,
      keepAliveTimeout: httpPoolIdleMs,
      // What an answer says of its connection may shorten the time, and never lengthens it.
      keepAliveMaxTimeout: httpPoolIdleMs,
    })
  }
}

function idleOf({ stats: { connected, running, pending } }: Pool): number {
  return Math.max(0, connected - running - pending)
}
