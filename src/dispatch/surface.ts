/**
 * A surface as the core sees it: its access mode, its share of the queues, its clients, and how it is started
 * and stopped.
 */
import type { AccessMode } from '../config/options/values.js'

export interface Surface {
  /** Label of the surface in its metrics. */
  readonly name: string
  /** The operations that its clients may use: `SVC_MODE` and its variants by protocol. */
  readonly mode: AccessMode
  /** Index among the surfaces of the server; 0: the server itself. */
  readonly index: number
}

/** What clients may do on any of the surfaces. */
export function modeOfAll(modes: readonly AccessMode[]): AccessMode {
  const [first = 'wr'] = modes
  return modes.every((mode) => mode === first) ? first : 'wr'
}

/** Requests that the server makes of its own lanes. No queue share is reserved for it: it retries. */
export const OWN: Surface = { name: 'own', mode: 'wr', index: 0 }

/** The client of a request, as its surface knows it. */
export interface RequestClient {
  /**
   * Returns the client's address, which may be behind trusted proxies; empty if it is not known. Called only
   * where a log line, an audit event or the throttle of logins needs it.
   */
  clientAddress(): string
  /** Returns what the client says that it is, of bounded length; empty if it is not known or not read. */
  userAgent(): string
}

/** A client of which everything is known. Empty: it is not. */
export class KnownClient implements RequestClient {
  constructor(
    readonly address: string,
    readonly agent: string,
  ) {}

  clientAddress(): string {
    return this.address
  }

  userAgent(): string {
    return this.agent
  }
}

/** A surface that serves clients. */
export interface RunningSurface {
  /**
   * @returns the printed address
   * @throws Error with a one-line message if the address is not available
   */
  listen(): Promise<string>
  /** Accepts no new connections. Requests on open ones are served until the phase is `draining`. */
  stopListening(): void
  /** Settles when no request is being read, executed or answered. */
  idle(): Promise<void>
  /** Closes every connection. */
  close(): void
}
