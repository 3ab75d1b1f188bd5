/**
 * The core as a thread that serves clients uses it, whatever its protocol: LocalCore on the thread of the
 * dispatcher (local_core.ts), PortCore on every other one (surface/thread/port_core.ts). Both answer what
 * their thread can read itself (src/resident), and hand everything else to the dispatcher.
 */
import type { AskedIdentity, Identity } from '../access/principal.js'
import type { ErrorCode } from '../errors.js'
import type { Admission } from './admission.js'
import type { DispatchRequest } from './ticket.js'

/** By what a request can be abandoned, at the core that has given it. */
export type Handle = object

export interface Core {
  readonly admission: Pick<Admission, 'admit' | 'admitAgain'>
  /**
   * Reads the request's input before it returns, if at all.
   * @returns null if the request is already answered
   */
  submit(request: DispatchRequest): Handle | null
  /** The client has disconnected: nothing is answered. */
  abandon(handle: Handle): void
  /** Who a credential belongs to. Never rejects. @returns null for nobody, or the code of a refusal */
  identify(asked: AskedIdentity): Promise<Identity | null | ErrorCode>
}
