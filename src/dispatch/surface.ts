/**
 * A surface as the core knows it: whose requests are admitted, with which share, and how it is started and
 * ended.
 */
import type { AccessMode } from '../config/values.js'

export interface Surface {
  /** Label of its metrics. */
  readonly name: string
  /** What its clients may do: `SVC_MODE` and its variants by protocol. */
  readonly mode: AccessMode
  /** Its place among the surfaces of the server; 0: the server itself. */
  readonly index: number
}

/** Requests that the server makes of its own lanes. No share is kept for it: it asks again. */
export const OWN: Surface = { name: 'own', mode: 'wr', index: 0 }

/** A surface that serves clients. */
export interface RunningSurface {
  /** @returns the printed address @throws Error in one line when the address can't be had */
  listen(): Promise<string>
  /** No new connections; requests on open ones are refused from now on. */
  stopListening(): void
  /** Settles when no request is being read, waited for or answered. */
  idle(): Promise<void>
  /** Closes every connection. */
  close(): void
}
