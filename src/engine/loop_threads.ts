/**
 * What native code does for the threads of event loops: their priority
 * (native/binding/system/thread_priority.h), and the end of their sockets
 * (native/binding/system/loop_sockets.h).
 */
import { KIB } from '../limits/units.js'
import { loadAddon } from './addon.js'

/** Priority of a loop, where the process may have it: nine times the weight of a lane. */
const LOOP_NICE = -10
/** Time slice of a loop in the scheduler: the shortest that Linux has. Others have 0.7 to 3 ms. */
const LOOP_TIME_SLICE_US = 100

/**
 * Receive buffer of a connection, which the kernel doubles: less than the 488 KiB at which uWebSockets.js
 * reads a paused socket on.
 */
const RECEIVE_BUFFER_BYTES = 208 * KIB

interface Addon {
  raisePriority(nice: number, microseconds: number): void
  closeSocketsAtExit(): void
  boundReceiveBuffers(bytes: number): void
}

/** Of the calling thread. The threads that it creates do not inherit it. */
export function raiseLoopPriority(): void {
  loadAddon<Addon>(['raisePriority']).raisePriority(LOOP_NICE, LOOP_TIME_SLICE_US)
}

/**
 * Has this thread close its sockets when it ends, also by an error or for lack of heap. Without it, the whole
 * process would end. Once a thread, after uWebSockets.js has been loaded.
 */
export function closeSocketsAtExit(): void {
  loadAddon<Addon>(['closeSocketsAtExit']).closeSocketsAtExit()
}

/** Of connections that this thread accepts from now on: a paused one is not read. Once it listens. */
export function boundReceiveBuffers(): void {
  loadAddon<Addon>(['boundReceiveBuffers']).boundReceiveBuffers(RECEIVE_BUFFER_BYTES)
}
