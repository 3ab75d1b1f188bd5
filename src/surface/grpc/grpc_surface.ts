/** The definition of the gRPC surface: a port and a thread of its own. */
import { programPath } from '../../base/installation.js'
import { offered } from '../../operations/index.js'
import type { SurfaceDefinition } from '../host.js'
import { SleepingSurface } from '../thread/sleeping_surface.js'

export const grpcSurface: SurfaceDefinition = {
  name: 'grpc',
  mode: (config) => (config.grpcEnabled ? config.grpcMode : undefined),
  open: (host) => new SleepingSurface(host, host.config.grpcAddr, programPath('grpc_thread')),
  endpoints: (config) =>
    offered(config).flatMap(({ protocols: { grpc }, description }) => (grpc === null ? [] : [{ name: grpc, description }])),
}
