/**
 * Frees the memory of a buffer at once. A buffer that is left to the garbage collector counts as external
 * memory of its thread until a collection has found it. With 64 MiB of that, V8 begins to mark, in steps of 5
 * to 10 ms at each further buffer, for which an event loop answers nobody.
 */
import { MessageChannel } from 'node:worker_threads'

// A message to a closed port is dropped, and what it transfers with it.
const { port1: nowhere, port2 } = new MessageChannel()
port2.close()
nowhere.close()

/** @param buffer nothing uses it any more; afterwards its length is 0 */
export function releaseBuffer(buffer: ArrayBuffer): void {
  nowhere.postMessage(null, [buffer])
}
