/** Clients of gRPC as those of the reference are: the usual loader and its options. */
import { join } from 'node:path'
import { type ChannelCredentials, type Client, credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { projectFolder } from '../../../src/base/installation.js'
import type { Server } from '../server/server.js'

export const PROTO = join(projectFolder(), 'src/surface/grpc/proto/mddb.proto')

type Constructor = new (address: string, credentials: ChannelCredentials, options?: object) => Client
interface Loaded {
  readonly mddb: Readonly<Record<'MDDB' | 'MDDBReplication', Constructor>>
}
const loadedFrom = (proto: string): Loaded =>
  loadPackageDefinition(
    loadSync(proto, { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true }),
  ) as unknown as Loaded
const loaded = loadedFrom(PROTO)

export type Message = Readonly<Record<string, unknown>>
type Unary = (
  request: object,
  metadata: Metadata,
  options: object,
  done: (error: ServiceError | null, answer: Message) => void,
) => { cancel(): void }
type Stream = (request: object, metadata: Metadata, options?: object) => AsyncIterable<Message> & { cancel(): void; pause(): void }

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds from now on. */
  readonly deadlineMs?: number
}

export class GrpcClient {
  readonly #client: Client

  constructor(
    address: string,
    service: 'MDDB' | 'MDDBReplication' = 'MDDB',
    channel: ChannelCredentials = credentials.createInsecure(),
    options: object = {},
    { mddb }: Loaded = loaded,
  ) {
    const sizes = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }
    this.#client = new mddb[service](address, channel, { ...sizes, ...options })
  }

  static of(server: Server): GrpcClient {
    return new GrpcClient(server.addressOf('grpc'))
  }

  /** @param proto another one than that of the tests */
  static by(proto: string, server: Server): GrpcClient {
    return new GrpcClient(server.addressOf('grpc'), 'MDDB', credentials.createInsecure(), {}, loadedFrom(proto))
  }

  /** @throws ServiceError */
  async call<Answer = Message>(rpc: string, request: object, { headers = {}, deadlineMs }: CallOptions = {}): Promise<Answer> {
    return await new Promise((resolve, reject) => {
      this.#unary(rpc)(request, metadataOf(headers), optionsOf(deadlineMs), (error, answer) =>
        error === null ? resolve(answer as Answer) : reject(error),
      )
    })
  }

  /** @returns `code details` of the refusal */
  async refusal(rpc: string, request: object, options?: CallOptions): Promise<readonly [code: number, details: string]> {
    try {
      const answer = await this.call(rpc, request, options)
      throw new Error(`${rpc} was answered: ${JSON.stringify(answer)}`)
    } catch (error) {
      const { code, details } = error as ServiceError
      if (typeof code !== 'number') throw error
      return [code, details]
    }
  }

  /** @returns the call, to be cancelled */
  begin(rpc: string, request: object, done: (error: ServiceError | null) => void): { cancel(): void } {
    return this.#unary(rpc)(request, new Metadata(), {}, done)
  }

  stream(rpc: string, request: object, { headers = {}, deadlineMs }: CallOptions = {}): ReturnType<Stream> {
    const call = (this.#client as unknown as Record<string, Stream>)[rpc]!
    return call.call(this.#client, request, metadataOf(headers), optionsOf(deadlineMs))
  }

  close(): void {
    this.#client.close()
  }

  #unary(rpc: string): Unary {
    return (this.#client as unknown as Record<string, Unary>)[rpc]!.bind(this.#client)
  }
}

function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return metadata
}

function optionsOf(deadlineMs: number | undefined): object {
  return deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
}
