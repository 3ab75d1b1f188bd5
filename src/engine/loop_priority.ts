/**
 * An event loop of HTTP goes before other threads of the server on a processor that they share
 * (native/binding/thread_priority.h). Its clients wait for microseconds of work. Linux only; where the
 * process may not lower its nice value, and before 6.12, with less effect. See
 * docs/decisions/surface-threads.md.
 */
import { LOOP_NICE, LOOP_TIME_SLICE_US } from '../limits/loops.js'
import { loadAddon } from './addon.js'

interface Addon {
  raisePriority(nice: number, microseconds: number): void
}

/** Of the calling thread. The threads that it creates do not inherit it. */
export function raiseLoopPriority(): void {
  loadAddon<Addon>(['raisePriority']).raisePriority(LOOP_NICE, LOOP_TIME_SLICE_US)
}
