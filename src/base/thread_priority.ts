/**
 * The threads that yield a processor to event loops of HTTP and to lanes: see
 * docs/decisions/interfaces/surface-threads.md.
 */
import { getPriority, setPriority } from 'node:os'

/** Of the calling thread, on Linux; never raises it. @param nice 0 to 19 */
export function lowerPriority(nice: number): void {
  // Elsewhere it is that of the whole process.
  if (process.platform === 'linux') lowerPriorityOf(0, nice)
}

/**
 * Of a process that has just been started, and of all threads that it makes. Never raises it.
 * @param pid undefined: it could not be started
 */
export function lowerPriorityOf(pid: number | undefined, nice: number): void {
  if (pid === undefined) return
  try {
    if (getPriority(pid) < nice) setPriority(pid, nice)
  } catch {
    // Not permitted here, or it has ended: the threads then share the processor evenly.
  }
}
