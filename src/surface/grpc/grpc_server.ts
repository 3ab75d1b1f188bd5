/**
 * The gRPC server of a thread: both services of the wire contract, health, and reflection. RPCs of operations
 * that this version does not have are answered here, all in one way.
 */
import type { Http2Server } from 'node:http2'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { MIB } from '../../limits/units.js'
import { offered } from '../../operations/index.js'
import type { Operation } from '../../operations/row/operation.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { HeldBytes } from '../thread/held_bytes.js'
import type { GrpcCalls } from './calls.js'
import { guardBodies, guardPings } from './guards.js'
import { OpenSessions } from './open_sessions.js'
import {
  decode,
  encode,
  fileDescriptor,
  type Message,
  type Method,
  methodsOf,
  type Received,
  REPLICATION_SERVICE,
  SERVICE,
} from './proto.js'
import type { StreamCall } from './server_calls.js'

/** Bytes of a message, in either direction. */
const GRPC_MESSAGE_BYTES_MAX = 32 * MIB
/** Concurrent calls of one connection. */
const GRPC_STREAMS_MAX = 100
/** Memory of one connection, looked at when a call is opened: further calls are refused. */
const GRPC_SESSION_MIB_MAX = 40
/** A silent peer is asked for a sign of life, and disconnected without one. */
const GRPC_KEEPALIVE_MS = 60_000
const GRPC_KEEPALIVE_TIMEOUT_MS = 20_000
/** A connection without calls is closed after this time. */
const GRPC_IDLE_MS_MAX = 30 * 60_000
/** How often the health that clients see follows the phase of the server. */
const GRPC_HEALTH_POLL_MS = 1_000

const require = createRequire(import.meta.url)
const { ReflectionService } = require('@grpc/reflection') as typeof import('@grpc/reflection')
const { HealthImplementation } = require('grpc-health-check') as typeof import('grpc-health-check')

/** The package has no public way to its sessions. */
function http2ServersOf(server: Server): Iterable<Http2Server> {
  return (server as unknown as { readonly http2Servers: ReadonlyMap<Http2Server, unknown> }).http2Servers.keys()
}

const SERVICES = [SERVICE, REPLICATION_SERVICE]

type AnyStream = ServerDuplexStream<unknown, unknown>

const OPTIONS = {
  'grpc.max_receive_message_length': GRPC_MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': GRPC_MESSAGE_BYTES_MAX,
  'grpc.max_concurrent_streams': GRPC_STREAMS_MAX,
  'grpc.keepalive_time_ms': GRPC_KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': GRPC_KEEPALIVE_TIMEOUT_MS,
  'grpc.max_connection_idle_ms': GRPC_IDLE_MS_MAX,
  'grpc.enable_channelz': 0,
  'grpc-node.max_session_memory': GRPC_SESSION_MIB_MAX,
}

export class GrpcServer {
  readonly #server = new Server(OPTIONS)
  readonly #health: InstanceType<typeof HealthImplementation>
  readonly #injector: ReturnType<Server['createConnectionInjector']>
  readonly #poll: NodeJS.Timeout
  readonly #sessions = new OpenSessions((path) => SERVICES.some((service) => path.startsWith(`/${service}/`)))

  constructor(
    options: object,
    readonly calls: GrpcCalls,
    readonly control: ControlBlock,
    bodies: HeldBytes<string>,
  ) {
    const rows = new Map(offered(options).map((row) => [row.protocols.grpc, row]))
    for (const service of SERVICES) this.#add(service, service === SERVICE ? rows : new Map())
    new ReflectionService(reflected()).addToServer(this.#guarded())
    this.#health = new HealthImplementation()
    this.#health.addToServer(this.#server)
    this.#setHealth()
    this.#poll = setInterval(() => this.#setHealth(), GRPC_HEALTH_POLL_MS)
    this.#injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure())
    for (const server of http2ServersOf(this.#server)) {
      this.#sessions.watch(server)
      guardPings(server)
      guardBodies(server, bodies)
    }
  }

  /** @param socket a connection, decrypted */
  take(socket: Duplex): void {
    this.#injector.injectConnection(socket)
  }

  /** New calls are refused. Connections end when those under way have been answered. */
  drain(): void {
    clearInterval(this.#poll)
    this.#sessions.drain()
  }

  #setHealth(): void {
    const state = this.control.phase === 'healthy' ? 'SERVING' : 'NOT_SERVING'
    for (const service of ['', ...SERVICES]) this.#health.setStatus(service, state)
  }

  #add(service: string, rows: ReadonlyMap<string | null, Operation>): void {
    const definition: Record<string, MethodDefinition<Received, Message>> = {}
    const handlers: UntypedServiceImplementation = {}
    for (const method of methodsOf(service)) {
      const operation = rows.get(method.name) ?? null
      definition[method.name] = definitionOf(service, method)
      const unary: handleUnaryCall<Received, Message> = (call, done) => this.calls.unary(method, operation, call, done)
      handlers[method.name] = method.isStream ? (call: StreamCall) => this.calls.stream(method, operation, call) : unary
    }
    this.#server.addService(definition, handlers)
  }

  /** What adds a service whose calls are for users only, while access control is on. */
  #guarded(): Server {
    const addService = (definition: ServiceDefinition, handlers: UntypedServiceImplementation): void => {
      const entries = Object.entries(handlers).map(([name, handle]) => {
        const path = definition[name]?.path ?? name
        const guarded = (call: AnyStream): void => {
          // Nothing is read of the stream before its handler listens.
          void this.calls.mayLook(call, path).then((refused) => {
            if (refused === null) (handle as (call: AnyStream) => void)(call)
            else call.emit('error', refused)
          })
        }
        return [name, guarded] as const
      })
      this.#server.addService(definition, Object.fromEntries(entries))
    }
    return { addService } as unknown as Server
  }
}

/** What reflection tells of the services: only the descriptor of their file is read. */
function reflected(): ConstructorParameters<typeof ReflectionService>[0] {
  const file = { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos: [Buffer.from(fileDescriptor())] }
  return { 'mddb.proto': file } as unknown as ConstructorParameters<typeof ReflectionService>[0]
}

function definitionOf(service: string, { name, request, response, isStream }: Method): MethodDefinition<Received, Message> {
  return {
    path: `/${service}/${name}`,
    originalName: `${name[0]!.toLowerCase()}${name.slice(1)}`,
    requestStream: false,
    responseStream: isStream,
    requestSerialize: ({ bytes }) => Buffer.from(bytes),
    requestDeserialize: (bytes) => decode(request, bytes),
    responseSerialize: (message) => encode(response, message),
    responseDeserialize: (bytes) => decode(response, bytes).message ?? {},
  }
}
