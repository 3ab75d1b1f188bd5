/**
 * Frees the memory of a buffer without a garbage collection. A buffer that nothing references counts as
 * external memory of its thread until a collection has found it. Beyond 64 MiB of it, V8 marks at each
 * further buffer, for up to 10 ms. An event loop answers nobody in that time.
 */
import { MessageChannel } from 'node:worker_threads'

// A message to a closed port is dropped, after the buffers that it transfers have been detached, as the HTML
// standard has it.
const { port1: nowhere, port2 } = new MessageChannel()
port2.close()
nowhere.close()

/** @param buffer nothing uses it any more; afterwards its length is 0 */
export function releaseBuffer(buffer: ArrayBuffer): void {
  nowhere.postMessage(null, [buffer])
}
