/** The definition of the gRPC surface: a port of its own, and a thread that starts with the first connection. */
import { programPath } from '../../installation.js'
import { offered } from '../../operations/index.js'
import type { SurfaceDefinition } from '../host.js'
import { SleepingSurface } from '../thread/sleeping_surface.js'

export const grpcSurface: SurfaceDefinition = {
  name: 'grpc',
  mode: (config) => (config.grpcEnabled ? config.grpcMode : undefined),
  open: (host) => new SleepingSurface(host, host.config.grpcAddr, programPath('grpc_thread')),
  endpoints: (config) =>
    offered(config).flatMap(({ protocols: { grpc }, description, permission }) =>
      grpc === null ? [] : [{ service: 'mddb.MDDB', method: grpc, description, requiresAuth: permission !== 'public' }],
    ),
}
