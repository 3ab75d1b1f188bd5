/**
 * The core as an event loop that serves clients uses it: the dispatcher itself on the loop where it lives
 * (dispatcher.ts), its form behind a port on every other loop (surface/thread/remote_core.ts).
 */
import type { Admission } from './admission.js'
import type { DispatchRequest } from './ticket.js'

export interface Core<Handle extends object> {
  readonly admission: Pick<Admission, 'admit'>
  /** @returns by what the request can be abandoned; null if it is already answered */
  submit(request: DispatchRequest): Handle | null
  /** The client has disconnected: nothing is answered. */
  abandon(handle: Handle): void
}
