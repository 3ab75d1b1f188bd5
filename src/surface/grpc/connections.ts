/**
 * The connections of gRPC: accepted on the listening socket of the thread, decrypted where the server has
 * TLS, bounded, and given to the package, which speaks HTTP/2 on them. One object a thread.
 */
import { createServer, type Server as PlainServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import type { Config } from '../../config/config.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import { admitsConnection } from '../descriptors.js'
import { AddressCounts } from '../thread/address_counts.js'
import { boundHandshakes } from '../tls/handshakes.js'
import { listenerOptions, refuseWrongCertificates, renewPair } from '../tls/thread_tls.js'
import { peerOf } from './server_calls.js'

/** Open connections, those of reflection and health among them. */
const GRPC_CONNECTIONS_MAX = 10_000
/** A connection must have sent the preface of HTTP/2 after this time. */
const GRPC_PREFACE_MS_MAX = 10_000
const GRPC_PREFACE_BYTES = 24
/** How often connections without a preface are looked for. */
const GRPC_SWEEP_MS = 2_000
/**
 * A connection that the server has ended is closed after this time in which the client sends nothing: one on
 * a slow line still reads, and says so by updates of its window.
 */
const GRPC_END_MS_MAX = 2_000

export class GrpcConnections {
  readonly #give: (socket: Socket) => void
  readonly #ofAddress: AddressCounts
  readonly #server: PlainServer | TlsServer
  readonly #open = new Set<Socket>()
  /** Those that were given on: with TLS other objects than in `#open`, with the same peers. */
  readonly #given = new Set<Socket>()
  /** When those came that have not sent a preface yet. */
  readonly #young = new Map<Socket, number>()
  readonly #sweep: NodeJS.Timeout

  /** @param give receives each connection, decrypted */
  constructor(config: Config, tls: TlsFiles | null, give: (socket: Socket) => void) {
    this.#give = give
    this.#ofAddress = new AddressCounts(config.connectionsOfAddressMax)
    // Clients of gRPC must ask for HTTP/2.
    this.#server = tls === null ? createServer() : createTlsServer({ ...listenerOptions(tls, config), ALPNProtocols: ['h2'] })
    this.#server.on('connection', (socket: Socket) => this.#accept(socket))
    if (tls !== null) boundHandshakes(this.#server, config.limits)
    if (tls !== null) refuseWrongCertificates(this.#server, tls)
    this.#server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
      if (socket.destroyed) return
      // All is sent or with the kernel. A client that does not end its side holds nothing up.
      socket.once('finish', () => socket.setTimeout(GRPC_END_MS_MAX, () => socket.destroy()))
      this.#given.add(socket)
      socket.once('close', () => this.#given.delete(socket))
      this.#give(socket)
    })
    this.#sweep = setInterval(() => this.#closeSilent(), GRPC_SWEEP_MS)
  }

  /** @param descriptor of the listening socket, which this object owns from now on */
  listen(descriptor: number, onError: (reason: string) => void, onListening: () => void): void {
    this.#server.on('error', (error: Error) => onError(error.message))
    this.#server.listen({ fd: descriptor }, onListening)
  }

  renew(tls: TlsFiles): void {
    renewPair(this.#server as TlsServer, tls)
  }

  /** Ends the connection of a peer; those of a unix socket have one name. */
  end(peer: string): void {
    for (const socket of this.#open) if (peerOf(socket) === peer) socket.destroy()
  }

  /**
   * Accepts no further connections, and ends those in their handshakes. Resolves when the last one has ended.
   */
  async stop(): Promise<void> {
    const given = new Set([...this.#given].map(peerOf))
    for (const socket of this.#open) if (!given.has(peerOf(socket))) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    clearInterval(this.#sweep)
  }

  /** Ends every connection at once. */
  close(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #accept(socket: Socket): void {
    if (this.#open.size >= GRPC_CONNECTIONS_MAX || !admitsConnection() || !this.#ofAddress.admits(socket)) {
      socket.destroy()
      return
    }
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    this.#open.add(socket)
    this.#young.set(socket, performance.now())
    socket.on('close', () => {
      this.#open.delete(socket)
      this.#young.delete(socket)
    })
  }

  #closeSilent(): void {
    for (const [socket, since] of this.#young) {
      if (socket.bytesRead >= GRPC_PREFACE_BYTES) this.#young.delete(socket)
      else if (performance.now() - since >= GRPC_PREFACE_MS_MAX) socket.destroy()
    }
  }
}
