/**
 * The connections of gRPC: accepted on the listening socket of the thread, decrypted where the server has
 * TLS, bounded, and given to the package, which speaks HTTP/2 on them. One object a thread.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Server as PlainServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { addressKey } from '../../access/client_key.js'
import type { Config } from '../../config/config.js'
import { GRPC_CONNECTIONS_MAX, GRPC_PREFACE_BYTES, GRPC_PREFACE_MS_MAX, GRPC_SWEEP_MS } from '../../limits/grpc.js'
import { TLS_HANDSHAKE_MS_MAX } from '../../limits/tls.js'
import { canonicalAddress } from '../../outbound/networks.js'
import { log } from '../../telemetry/log.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import { TLS12_CIPHERS } from '../tls/ciphers.js'
import { peerOf } from './held_bytes.js'

export class GrpcConnections {
  readonly #give: (socket: Socket) => void
  readonly #ofAddressMax: number
  readonly #server: PlainServer | TlsServer
  readonly #open = new Set<Socket>()
  readonly #ofAddress = new Map<string, number>()
  /** When those came that have not sent a preface yet. */
  readonly #young = new Map<Socket, number>()
  readonly #sweep: NodeJS.Timeout

  /** @param give receives each connection, decrypted */
  constructor(config: Config, tls: TlsFiles | null, give: (socket: Socket) => void) {
    this.#give = give
    this.#ofAddressMax = config.connectionsOfAddressMax
    this.#server = tls === null ? createServer() : createTlsServer({ ...tlsOptions(config), ...contextOf(tls) })
    this.#server.on('connection', (socket: Socket) => this.#accept(socket))
    this.#server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
      if (!socket.destroyed) this.#give(socket)
    })
    // A client without a certificate, or one that does not speak TLS.
    this.#server.on('tlsClientError', (error: Error, client: TLSSocket) =>
      log.debug('tls: client refused', { reason: error, peer: client.remoteAddress ?? '' }),
    )
    this.#sweep = setInterval(() => this.#closeSilent(), GRPC_SWEEP_MS)
  }

  /** @param descriptor of the listening socket, which this object owns from now on */
  listen(descriptor: number, onError: (reason: string) => void, onListening: () => void): void {
    this.#server.on('error', (error: Error) => onError(error.message))
    this.#server.listen({ fd: descriptor }, onListening)
  }

  renew(tls: TlsFiles): void {
    try {
      ;(this.#server as TlsServer).setSecureContext(contextOf(tls))
    } catch (error) {
      log.error('TLS: the certificate stays as it is', { reason: error })
    }
  }

  /** Ends the connection of a peer; those of a unix socket have one name. */
  end(peer: string): void {
    for (const socket of this.#open) if (peerOf(socket) === peer) socket.destroy()
  }

  /** Accepts no further connections. */
  stop(): void {
    clearInterval(this.#sweep)
    this.#server.close()
  }

  #accept(socket: Socket): void {
    const address = addressKey(canonicalAddress(socket.remoteAddress ?? '') ?? '')
    const ofAddress = (this.#ofAddress.get(address) ?? 0) + 1
    const isCrowded = this.#ofAddressMax > 0 && address !== LOCAL && ofAddress > this.#ofAddressMax
    if (this.#open.size >= GRPC_CONNECTIONS_MAX || isCrowded) {
      socket.destroy()
      return
    }
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    this.#open.add(socket)
    this.#young.set(socket, performance.now())
    this.#ofAddress.set(address, ofAddress)
    socket.on('close', () => this.#forget(socket, address))
  }

  #forget(socket: Socket, address: string): void {
    this.#open.delete(socket)
    this.#young.delete(socket)
    const left = (this.#ofAddress.get(address) ?? 1) - 1
    if (left === 0) this.#ofAddress.delete(address)
    else this.#ofAddress.set(address, left)
  }

  #closeSilent(): void {
    for (const [socket, since] of this.#young) {
      if (socket.bytesRead >= GRPC_PREFACE_BYTES) this.#young.delete(socket)
      else if (performance.now() - since >= GRPC_PREFACE_MS_MAX) socket.destroy()
    }
  }
}

const LOCAL = addressKey('')

function tlsOptions({ tlsClientCa, tlsClientAuth }: Config): object {
  return {
    // Clients of gRPC must ask for HTTP/2.
    ALPNProtocols: ['h2'],
    handshakeTimeout: TLS_HANDSHAKE_MS_MAX,
    requestCert: tlsClientCa !== '',
    rejectUnauthorized: tlsClientCa !== '' && tlsClientAuth === 'require',
  }
}

function contextOf({ cert, key, clientCa }: TlsFiles): SecureContextOptions {
  const ca = clientCa === null ? {} : { ca: readFileSync(clientCa) }
  return { cert: readFileSync(cert), key: readFileSync(key), ...ca, minVersion: 'TLSv1.2', ciphers: TLS12_CIPHERS }
}
