/**
 * A second surface, for tests: operations by name over a unix socket, in MessagePack. One folder, and one
 * line in src/surface/index.ts. Runs in a thread of its own, over the port form of the core.
 */
import type { SurfaceDefinition } from '../../../src/surface/host.js'
import { ThreadSurface } from '../../../src/surface/thread/thread_surface.js'

/** Variables that say where the thread's code lies, and on which socket it listens. */
export const THREAD_VARIABLE = 'MSGPACK_SURFACE_THREAD'
export const SOCKET_VARIABLE = 'MSGPACK_SURFACE_SOCKET'

export const msgpackSurface: SurfaceDefinition = {
  name: 'msgpack',
  mode: ({ mode }) => mode,
  open: (host) => new ThreadSurface(host, process.env[THREAD_VARIABLE] ?? '', { path: process.env[SOCKET_VARIABLE] ?? '' }),
}
