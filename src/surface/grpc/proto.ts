/**
 * The messages and services of the wire contract, read from proto/mddb.proto once per thread. Messages are
 * decoded within a bound on the number of values, because a small message can name millions.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import protobuf from 'protobufjs'
import { projectFolder } from '../../base/installation.js'

/** Values in one request: what a parser builds of them takes some 100 bytes each. */
const GRPC_VALUES_MAX = 2_000_000

export const PROTO_PATH = join(projectFolder(), 'src', 'surface', 'grpc', 'proto', 'mddb.proto')
export const DESCRIPTOR_PATH = join(dirname(PROTO_PATH), 'mddb.binpb')
export const SERVICE = 'mddb.MDDB'
export const REPLICATION_SERVICE = 'mddb.MDDBReplication'

const root = new protobuf.Root().loadSync(PROTO_PATH, { keepCase: true })
root.resolveAll()

/**
 * The descriptor of the proto for reflection, as the compiler of protobuf writes it. Those that protobufjs
 * makes have wrong names for entries of maps, and clients refuse them.
 */
export function fileDescriptor(): Uint8Array {
  const set = protobuf.Reader.create(readFileSync(DESCRIPTOR_PATH))
  // The set has one file in its only field.
  set.uint32()
  return set.bytes()
}

export type MessageType = protobuf.Type
export type MessageField = protobuf.Field
/** Fields by name. Those that the sender left out are not own properties. */
export type Message = Readonly<Record<string, unknown>>

export interface Method {
  readonly name: string
  readonly request: MessageType
  readonly response: MessageType
  readonly isStream: boolean
}

/** @param service its full name */
export function methodsOf(service: string): readonly Method[] {
  return Object.values(root.lookupService(service).methods).map((method) => {
    const { name, requestType, responseType, responseStream } = method
    return {
      name,
      request: root.lookupType(`mddb.${requestType}`),
      response: root.lookupType(`mddb.${responseType}`),
      isStream: responseStream === true,
    }
  })
}

/** A message as it came. */
export interface Received {
  readonly bytes: Uint8Array
  /** Null: the bytes are not such a message. */
  readonly message: Message | null
}

export function decode(type: MessageType, bytes: Uint8Array): Received {
  try {
    return { bytes, message: type.decode(new BoundedReader(bytes)) as unknown as Message }
  } catch {
    return { bytes, message: null }
  }
}

export function encode(type: MessageType, message: Message): Buffer {
  return type.encode(message).finish() as Buffer
}

/** Reads at most so many tags and lengths. */
class BoundedReader extends protobuf.BufferReader {
  #left = GRPC_VALUES_MAX

  constructor(bytes: Uint8Array) {
    super(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  }

  override uint32(): number {
    if (--this.#left < 0) throw new RangeError('too many values')
    return super.uint32()
  }
}
