/**
 * The threads that yield a processor to event loops of HTTP and to lanes: see
 * docs/decisions/interfaces/surface-threads.md.
 */
import { getPriority, setPriority } from 'node:os'

/** Of the calling thread, on Linux; never raises it. @param nice 0 to 19 */
export function lowerPriority(nice: number): void {
  // Elsewhere it is that of the whole process.
  if (process.platform !== 'linux') return
  try {
    if (getPriority() < nice) setPriority(nice)
  } catch {
    // Not permitted here: the threads then share the processor evenly.
  }
}
