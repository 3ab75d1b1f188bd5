/**
 * Pings of clients, which cost a wake-up each: a connection that sends them more often than every ten seconds
 * while nothing is sent to it is closed, as other servers of gRPC do. Clients measure the bandwidth by pings
 * while data flows; those are not counted.
 */
import { constants, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { GRPC_PING_ACK_BYTES, GRPC_PING_MS_MIN, GRPC_PING_STRIKES_MAX } from '../../limits/grpc.js'

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
