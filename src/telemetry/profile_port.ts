/** The port by which the front end has a thread profiled. Any thread; loads the profiler. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { log } from './log.js'

/** Begins to profile the calling thread. @returns the front end's end of the port */
export function openProfilePort(): MessagePort {
  const { port1, port2 } = new MessageChannel()
  import('./thread_profiler.js')
    .then(({ serveProfiles }) => serveProfiles(port1))
    .catch((error: unknown) => log.warn('this thread cannot be profiled', { reason: error }))
  return port2
}
