/**
 * The handshakes of a TLS listener that node serves: bounded in time (its `handshakeTimeout`) and in number.
 * node:tls itself ends a connection whose handshake has failed, but only reports one that takes too long.
 * Beyond the number, the oldest is ended, because clients in earnest need milliseconds. Decision:
 * docs/decisions/operation/tls.md.
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { OverridableLimits } from '../../limits/overridable.js'
import { log } from '../../telemetry/log.js'

interface Listener {
  on(event: 'connection', listener: (socket: Socket) => void): unknown
  on(event: 'secureConnection', listener: (client: TLSSocket) => void): unknown
  on(event: 'tlsClientError', listener: (error: Error, client: TLSSocket) => void): unknown
}

/** Called before others listen for connections. */
export function boundHandshakes(server: Listener, { TLS_HANDSHAKES_MAX }: Pick<OverridableLimits, 'TLS_HANDSHAKES_MAX'>): void {
  /** In the order of their arrival. */
  const open = new Set<Socket>()
  /** By port of the client. A peer on a unix socket has none: it keeps its place until it closes. */
  const byPeer = new Map<string, Socket>()
  const end = (socket: Socket, peer: string): void => {
    open.delete(socket)
    if (byPeer.get(peer) === socket) byPeer.delete(peer)
  }
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    socket.once('close', () => end(socket, peer))
    open.add(socket)
    if (peer !== '') byPeer.set(peer, socket)
    const [oldest] = open
    if (open.size > TLS_HANDSHAKES_MAX) oldest?.destroy()
  })
  server.on('secureConnection', (client: TLSSocket) => {
    const peer = peerOf(client)
    const socket = byPeer.get(peer)
    if (socket !== undefined) end(socket, peer)
  })
  // A client without a certificate, one that does not speak TLS, or one whose handshake takes too long.
  server.on('tlsClientError', (error: Error, client: TLSSocket) => {
    log.debug('tls: client refused', { reason: error, peer: client.remoteAddress ?? '' })
    client.destroy()
  })
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined || remotePort === undefined ? '' : `${remoteAddress} ${remotePort}`
}
