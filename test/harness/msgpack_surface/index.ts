/**
 * A second surface, for tests: operations by name over a unix socket, in MessagePack. It needs one folder,
 * and one line in src/surface/index.ts. It runs in a separate thread, over the port form of the core.
 */
import { programPath } from '../../../src/base/installation.js'
import type { SurfaceDefinition } from '../../../src/surface/host.js'
import { ThreadSurface } from '../../../src/surface/thread/thread_surface.js'

/** The environment variable with the path of the socket. */
export const SOCKET_VARIABLE = 'MSGPACK_SURFACE_SOCKET'

export const msgpackSurface: SurfaceDefinition = {
  name: 'msgpack',
  mode: ({ mode }) => mode,
  open: (host) =>
    new ThreadSurface(host, {
      program: programPath('surface/msgpack_surface/thread'),
      options: () => ({ path: process.env[SOCKET_VARIABLE] ?? '' }),
    }),
}
