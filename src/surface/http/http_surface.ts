/** The definition of the HTTP surface. */
import { offered } from '../../operations/index.js'
import type { SurfaceDefinition } from '../host.js'
import { readLoopInput } from './front_end.js'
import { HttpLoops } from './http_loops.js'
import { referencePages } from './pages/reference.js'

export const httpSurface: SurfaceDefinition = {
  name: 'http',
  mode: (config) => (config.httpEnabled ? config.httpMode : undefined),
  open: (host) => new HttpLoops(host),
  endpoints: (config) =>
    offered(config).flatMap(({ http, description, permission }) =>
      (http?.routes ?? []).map(({ method, path }) => ({ method, path, description, requiresAuth: permission !== 'public' })),
    ),
  loopHandlers: referencePages,
  loopReaders: { json: readLoopInput },
}
