/**
 * Which threads of the server go first on a processor that they share: event loops of HTTP, whose clients
 * wait for microseconds of work; then lanes; then the threads of other surfaces, which also make the messages
 * of their protocols; last, hashes of passwords. See docs/decisions/0247-threads-have-an-order.md.
 */
import { setPriority } from 'node:os'

/**
 * Of the calling thread, and of the threads that it creates. @param nice 0..19, of Linux; elsewhere no effect
 */
export function lowerPriority(nice: number): void {
  // Elsewhere it is that of the whole process.
  if (process.platform !== 'linux') return
  try {
    setPriority(nice)
  } catch {
    // Not permitted here: the threads then share the processor evenly.
  }
}
