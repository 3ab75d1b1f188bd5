/** The end of a thread that serves sockets by uWebSockets.js (native/binding/loop_sockets.h). */
import { loadAddon } from './addon.js'

interface Addon {
  closeSocketsAtExit(): void
}

/**
 * Has this thread close its sockets when it ends, also by an error or for lack of heap. Without it, the whole
 * process would end. Once a thread, after uWebSockets.js has been loaded.
 */
export function closeSocketsAtExit(): void {
  loadAddon<Addon>(['closeSocketsAtExit']).closeSocketsAtExit()
}
