/** The surfaces of a server, in the order in which they begin to listen. A new one is one line. */
import type { SurfaceDefinition } from './host.js'
import { httpSurface } from './http/http_surface.js'

export const surfaces: readonly SurfaceDefinition[] = [httpSurface]
