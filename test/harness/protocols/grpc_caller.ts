/** Calls by gRPC: requests are made from the descriptors of the proto, answers read with the usual loader. */
import { join } from 'node:path'
import { type Client, credentials, loadPackageDefinition, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import protobuf from 'protobufjs'
import { projectFolder } from '../../../src/base/installation.js'
import { operationByName } from '../../../src/operations/index.js'
import type { Server } from '../server/server.js'
import { type Caller, camelCase, type Fields, type Outcome, type Refusal, refused, snakeCase, succeeded } from './outcome.js'

const PROTO = join(projectFolder(), 'src/surface/grpc/proto/mddb.proto')
const REFUSALS: Readonly<Partial<Record<status, Refusal>>> = {
  [status.INVALID_ARGUMENT]: 'invalid', [status.UNAUTHENTICATED]: 'unauthenticated', [status.PERMISSION_DENIED]: 'forbidden',
  [status.NOT_FOUND]: 'not found', [status.ALREADY_EXISTS]: 'conflict', [status.FAILED_PRECONDITION]: 'conflict',
  [status.UNAVAILABLE]: 'unavailable', [status.RESOURCE_EXHAUSTED]: 'unavailable', [status.UNIMPLEMENTED]: 'unimplemented', [status.INTERNAL]: 'internal',
} // prettier-ignore

type Call = (request: object, metadata: Metadata, done: (error: ServiceError | null, answer: object) => void) => void

export class GrpcCaller implements Caller {
  readonly protocol = 'gRPC'
  readonly #root = new protobuf.Root().loadSync(PROTO, { keepCase: true })
  readonly #client: Client

  constructor(server: Server) {
    const definition = loadSync(PROTO, { keepCase: true, longs: Number, defaults: true, arrays: true, objects: true, oneofs: true })
    const loaded = loadPackageDefinition(definition) as unknown as { readonly mddb: { readonly MDDB: new (...args: unknown[]) => Client } }
    const options = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }
    this.#client = new loaded.mddb.MDDB(server.addressOf('grpc').replace(/^:/, '127.0.0.1:'), credentials.createInsecure(), options)
  }

  close(): void {
    this.#client.close()
  }

  async call(name: string, input: Fields, headers: Readonly<Record<string, string>>): Promise<Outcome> {
    const rpc = operationByName.get(name)?.protocols.grpc ?? ''
    const metadata = new Metadata()
    for (const [header, value] of Object.entries(headers)) metadata.set(header.toLowerCase(), value)
    const method = this.#root.lookupService('mddb.MDDB').methods[rpc]
    if (method === undefined) throw new Error(`no RPC ${rpc}`)
    const request = requestOf(this.#root.lookupType(`mddb.${method.requestType}`), input)
    return method.responseStream === true ? await this.#stream(rpc, request, metadata) : await this.#unary(rpc, request, metadata)
  }

  async #unary(rpc: string, request: object, metadata: Metadata): Promise<Outcome> {
    return await new Promise((resolve) => {
      const call = (this.#client as unknown as Record<string, Call>)[rpc]!.bind(this.#client)
      call(request, metadata, (error, answer) => resolve(error === null ? succeeded(plainOf(answer)) : refusedBy(error)))
    })
  }

  async #stream(rpc: string, request: object, metadata: Metadata): Promise<Outcome> {
    type Chunks = AsyncIterable<{ readonly data: Buffer }>
    const calls = this.#client as unknown as Record<string, (request: object, metadata: Metadata) => Chunks>
    const chunks: Buffer[] = []
    try {
      for await (const { data } of calls[rpc]!.call(this.#client, request, metadata)) chunks.push(data)
    } catch (error) {
      return refusedBy(error as ServiceError)
    }
    return succeeded(Buffer.concat(chunks).toString())
  }
}

function refusedBy({ code, details }: ServiceError): Outcome {
  return refused(REFUSALS[code] ?? 'unavailable', details)
}

/** The fields that the message has, by their names in snake case. */
function requestOf(type: protobuf.Type, input: Fields): object {
  const { rule } = type.fields
  if (rule !== undefined) {
    const inner = requestOf(rule.resolve().resolvedType as protobuf.Type, input)
    return { ...('id' in type.fields ? { id: input['id'] } : {}), rule: inner }
  }
  const given = new Map(Object.entries(input).map(([name, value]) => [snakeCase(name), value]))
  const fields = Object.values(type.fields).filter(({ name }) => given.has(name))
  const flags = ['meta', 'content', 'ttl'].filter(
    (part) => `update_${part}` in type.fields && given.has(part === 'content' ? 'content_md' : part),
  )
  return {
    ...Object.fromEntries(fields.map((field) => [field.name, fieldOf(field.resolve(), given.get(field.name))])),
    ...Object.fromEntries(flags.map((part) => [`update_${part}`, true])),
  }
}

function fieldOf(field: protobuf.Field, value: unknown): unknown {
  if (field.type === 'MetaValues') return Object.fromEntries(Object.entries(value as Fields).map(([name, values]) => [name, { values }]))
  if (field.map || field.repeated) {
    if (!(field.resolvedType instanceof protobuf.Type)) return value
  } else if (field.type === 'string' && typeof value === 'object') return JSON.stringify(value)
  const type = field.resolvedType
  if (!(type instanceof protobuf.Type) || field.map) return value
  return Array.isArray(value) ? value.map((item: Fields) => requestOf(type, item)) : requestOf(type, value as Fields)
}

/** Members in camel case; metadata as lists of texts. */
function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf)
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  const entries = Object.entries(value)
  if (entries.length > 0 && entries.every(([, each]) => isValues(each)))
    return Object.fromEntries(entries.map(([name, each]) => [name, (each as { readonly values: unknown }).values]))
  return Object.fromEntries(entries.map(([name, each]) => [camelCase(name), plainOf(each)]))
}

function isValues(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'values'
}
