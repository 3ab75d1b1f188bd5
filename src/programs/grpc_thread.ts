/** The program of the thread that serves gRPC. */
import { GrpcCalls } from '../surface/grpc/calls.js'
import { GrpcConnections } from '../surface/grpc/connections.js'
import { GrpcServer } from '../surface/grpc/grpc_server.js'
import { HeldBytes } from '../surface/thread/held_bytes.js'
import { log } from '../telemetry/log.js'
import { openSurfaceThread } from './surface_thread.js'

const thread = await openSurfaceThread('grpc', {
  onDrain: () => {
    server.drain()
    void connections.stop().then(() => thread.port.drained())
  },
  onRenew: (files) => connections.renew(files),
})
const { config, control, port, descriptor, tls } = thread
const end = (peer: string): void => connections.end(peer)
const unread = new HeldBytes(config.limits.GRPC_UNREAD_BYTES_MAX, end)
const calls = new GrpcCalls({ ...thread, unread })
const server = new GrpcServer(config, calls, control, new HeldBytes(config.limits.GRPC_BODIES_BYTES_MAX, end))
const connections = new GrpcConnections(config, tls, (socket) => server.take(socket))
// Node.js aborts the process if a thread ends while a session of HTTP/2 reads. So connections are closed
// first, and an error ends the thread in the next turn, when what has been received is parsed.
process.once('exit', () => connections.close())
process.on('uncaughtException', (fault) => {
  log.error('surface grpc', { fault })
  connections.close()
  setImmediate(() => process.exit(1))
})
if (descriptor === null) port.refused('gRPC has no socket to listen on')
else
  connections.listen(
    descriptor,
    (reason) => port.refused(reason),
    () => port.listening('grpc'),
  )
