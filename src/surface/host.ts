/** What the server passes to a surface that it runs, and the static definition of a surface. */
import type { RateLimit } from '../access/rate_limit.js'
import type { Config } from '../config/config.js'
import type { AccessMode } from '../config/options/values.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import type { LocalCore } from '../dispatch/local_core.js'
import type { BoundLoopHandler, LoopInputReader } from '../dispatch/loop_operations.js'
import type { RunningSurface, Surface } from '../dispatch/surface.js'
import type { Telemetry } from '../telemetry/registry.js'
import type { Form } from '../wire/form.js'
import type { Credentials } from './tls/credentials.js'

/** A socket that listens, without a thread that accepts its connections. */
export interface ListeningSocket {
  /** The real one; 0 for a unix socket. */
  readonly port: number
  /** @returns a descriptor of the same socket, for another thread, which closes it */
  copy(): number
  /** Calls once, when a connection waits to be accepted. */
  onConnection(call: () => void): void
  close(): void
}

export interface SurfaceHost {
  readonly config: Config
  readonly dispatcher: Dispatcher
  readonly core: LocalCore
  readonly telemetry: Telemetry
  /** The surface itself, as the core sees it. */
  readonly surface: Surface
  /** Of all surfaces together. Null: there is none. */
  readonly rateLimit: RateLimit | null
  /** For TLS. Null: the server has none. */
  readonly credentials: Credentials | null
  /** By host and port, or path. @throws Error with the reason, in one line */
  readonly openSocket: (host: string, port: number, path: string) => ListeningSocket
  /** Makes way for a unix socket that a library opens. @throws Error with the reason, in one line */
  readonly freeSocketPath: (path: string) => void
  /** Closes a copy that no thread has taken over. */
  readonly closeCopy: (descriptor: number) => void
}

export interface SurfaceDefinition {
  readonly name: string
  /** The operations that its clients may use; undefined if the surface is disabled. */
  mode(config: Config): AccessMode | undefined
  open(host: SurfaceHost): RunningSurface
  /** Handlers of its own operations on the event loop, such as pages. */
  loopHandlers?(config: Config): readonly BoundLoopHandler[]
  /** What clients may call, for `GET /v1/endpoints`. */
  readonly endpoints?: (config: Config) => readonly object[]
  /** Further fields of its entry in `GET /v1/config`. */
  readonly described?: (config: Config) => object
  /** Readers on the event loop for inputs in forms of its own. */
  readonly loopReaders?: Readonly<Partial<Record<Form, LoopInputReader>>>
}
