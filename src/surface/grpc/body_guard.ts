/**
 * The bytes of requests, from the first that comes until the call ends. The package keeps the parts of a
 * message until it is whole, without a bound on all of them. A call that is too much is refused.
 */
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Held, HeldBytes } from '../thread/held_bytes.js'
import { peerOf } from './peer.js'
import { refusalOf } from './status.js'

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
