/**
 * The peer of grpc_get.ts: a bare server of @grpc/grpc-js whose only method answers the same bytes each time,
 * without decoding or encoding. Argument: bytes of an answer. Prints its port.
 */
import { Server, ServerCredentials } from '@grpc/grpc-js'

const answer = Buffer.alloc(Number(process.argv[2] ?? 0), 0x61)
const server = new Server()
server.addService(
  {
    Get: {
      path: '/mddb.MDDB/Get',
      requestStream: false,
      responseStream: false,
      requestSerialize: (bytes: Buffer) => bytes,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    },
  },
  { Get: (_call: unknown, done: (error: null, bytes: Buffer) => void) => done(null, answer) },
)
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error
  console.log(port)
})
