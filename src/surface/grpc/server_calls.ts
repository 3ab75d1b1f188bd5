/** Calls as the package gives them to the server, and the name that it has for their connection. Pure. */
import type { Socket } from 'node:net'
import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import type { Message, Received } from './proto.js'

export type UnaryCall = ServerUnaryCall<Received, Message>
export type StreamCall = ServerWritableStream<Received, Message>

/** As `getPeer` of a call. Peers on a unix socket have one name. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined ? 'unknown' : `${remoteAddress}:${remotePort}`
}
