/** The definition of the HTTP surface. */
import type { SurfaceDefinition } from '../host.js'
import { FrontEnd, readLoopInput } from './front_end.js'
import { referencePages } from './reference.js'

export const httpSurface: SurfaceDefinition = {
  name: 'http',
  mode: (config) => config.httpMode,
  open: (host) => new FrontEnd(host),
  loopHandlers: referencePages,
  loopReaders: { json: readLoopInput },
}
