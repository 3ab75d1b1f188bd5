/** Calls as the package gives them to the server. Types only. */
import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import type { Message, Received } from './proto.js'

export type UnaryCall = ServerUnaryCall<Received, Message>
export type StreamCall = ServerWritableStream<Received, Message>
