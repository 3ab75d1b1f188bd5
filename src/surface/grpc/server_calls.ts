/** Calls as the package gives them to the server. Types only. */
import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import type { Message, Received } from './proto.js'
import type { Socket } from 'node:net'

export type UnaryCall = ServerUnaryCall<Received, Message>
export type StreamCall = ServerWritableStream<Received, Message>

/**
 * The name of a connection, as calls of the package have it. Pure.
 *
 * Peers on a unix socket have one name.
 */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined ? 'unknown' : `${remoteAddress}:${remotePort}`
}
