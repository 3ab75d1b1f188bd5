/**
 * An event loop of HTTP goes first on a processor that it shares with other threads of the server
 * (native/binding/time_slice.h): when it wakes up, it preempts them, instead of waiting for a tick of the
 * scheduler, 1 to 10 ms. Linux from 6.12 on; without effect elsewhere.
 */
import { LOOP_TIME_SLICE_US } from '../limits/loops.js'
import { loadAddon } from './addon.js'

interface Addon {
  setTimeSlice(microseconds: number): void
}

/** Of the calling thread. The threads that it creates do not inherit it. */
export function shortenTimeSlice(): void {
  loadAddon<Addon>(['setTimeSlice']).setTimeSlice(LOOP_TIME_SLICE_US)
}
