/**
 * Bounds what clients may make the server of gRPC do beside calls: pings, and the bytes of requests. Thread
 * of gRPC.
 */
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { constants } from 'node:http2'
import type { Held, HeldBytes } from '../thread/held_bytes.js'
import { peerOf } from './server_calls.js'
import { refusalOf } from './status.js'

/** Pings that come sooner than this one after another are strikes; beyond so many, a client is closed. */
const GRPC_PING_MS_MIN = 10_000
const GRPC_PING_STRIKES_MAX = 2
/** Two answers to pings: fewer bytes were no data. */
const GRPC_PING_ACK_BYTES = 34

/**
 * Pings cost a wake-up each: a connection that sends them more often than every ten seconds while nothing is
 * sent to it is closed, as other servers of gRPC do. Clients measure the bandwidth by pings while data flows;
 * those are not counted.
 */
export function guardPings(server: Http2Server): void {
  server.on('session', (session: ServerHttp2Session) => {
    let last = -Infinity
    let sent = 0
    let strikes = 0
    session.on('ping', () => {
      const now = performance.now()
      const written = session.socket.bytesWritten
      const hasSent = written - sent > GRPC_PING_ACK_BYTES
      strikes = hasSent || now - last >= GRPC_PING_MS_MIN ? 0 : strikes + 1
      last = now
      sent = written
      if (strikes <= GRPC_PING_STRIKES_MAX) return
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from('too_many_pings'))
      session.destroy()
    })
  })
}

/**
 * Bounds the bytes of requests, from the first that comes until the call ends. The package keeps the parts of
 * a message until it is whole, without a bound on all of them. A call that is too much is refused.
 */
export function guardBodies(server: Http2Server, bodies: HeldBytes<string>): void {
  server.on('session', (session: ServerHttp2Session) => {
    const peer = peerOf(session.socket)
    session.on('stream', (stream: ServerHttp2Stream) => {
      // Refused by the package: nothing is read of it.
      if (stream.headersSent) return
      let held: Held<string> | null = null
      let bytes = 0
      stream.on('data', (chunk: Buffer) => {
        if (stream.closed) return
        const taken = bodies.take(peer, chunk.length)
        if (taken === null) return refuse(stream)
        held = taken
        bytes += chunk.length
      })
      stream.once('close', () => {
        if (held !== null) bodies.give(held, bytes)
      })
    })
  })
}

function refuse(stream: ServerHttp2Stream): void {
  const { code, details } = refusalOf('overloaded')
  const trailers = { ':status': 200, 'content-type': 'application/grpc+proto', 'grpc-status': code, 'grpc-message': encodeURI(details) }
  if (!stream.headersSent) stream.respond(trailers, { endStream: true })
  stream.close()
}
