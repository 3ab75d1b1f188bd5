/** The definition of the HTTP surface. */
import type { SurfaceDefinition } from '../host.js'
import { readLoopInput } from './front_end.js'
import { HttpLoops } from './http_loops.js'
import { referencePages } from './reference.js'

export const httpSurface: SurfaceDefinition = {
  name: 'http',
  mode: (config) => config.httpMode,
  open: (host) => new HttpLoops(host),
  loopHandlers: referencePages,
  loopReaders: { json: readLoopInput },
}
