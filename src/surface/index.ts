/** The surfaces of a server, in the order in which they start to listen. Adding a surface takes one line. */
import { grpcSurface } from './grpc/grpc_surface.js'
import type { SurfaceDefinition } from './host.js'
import { httpSurface } from './http/http_surface.js'
import { mcpSurface } from './mcp/mcp_surface.js'

export const surfaces: readonly SurfaceDefinition[] = [httpSurface, grpcSurface, mcpSurface]
