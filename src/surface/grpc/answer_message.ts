/**
 * Answers of operations as messages: by the descriptors of the proto, field by field, from the members of the
 * JSON answer. Members without a field are left out. Pure.
 */
import protobuf from 'protobufjs'
import type { Message, MessageField, MessageType } from './proto.js'
import { camelCase } from './request_input.js'

type Writer = (answer: Message) => Message
type ValueWriter = (value: unknown) => unknown

const writers = new Map<MessageType, Writer>()

export function messageOf(type: MessageType, answer: Message): Message {
  let writer = writers.get(type)
  if (writer === undefined) writers.set(type, (writer = newWriter(type)))
  return writer(answer)
}

function newWriter(type: MessageType): Writer {
  const fields = Object.values(type.fields).map((field) => ({
    name: field.name,
    member: camelCase(field.name),
    write: fieldWriter(field),
  }))
  return (answer) => {
    const message: Record<string, unknown> = {}
    for (const { name, member, write } of fields) {
      // Some members have their names in snake case over HTTP, too.
      const value = answer[member] ?? answer[name]
      if (value !== undefined && value !== null) message[name] = write(value)
    }
    return message
  }
}

function fieldWriter(field: MessageField): ValueWriter {
  const write = valueWriter(field)
  if (field instanceof protobuf.MapField)
    return (value) => Object.fromEntries(Object.entries(value as Message).map(([name, each]) => [name, write(each)]))
  return field.repeated ? (value) => (value as readonly unknown[]).map(write) : write
}

function valueWriter(field: MessageField): ValueWriter {
  const { resolvedType } = field
  if (resolvedType?.name === 'MetaValues') return (values) => ({ values })
  if (resolvedType?.name === 'FacetBucketList') return (buckets) => ({ buckets })
  if (resolvedType instanceof protobuf.Type) return (value) => messageOf(resolvedType, value as Message)
  // Custom metadata of collections may be any JSON.
  if (field.type === 'string') return (value) => (typeof value === 'string' ? value : JSON.stringify(value))
  return (value) => value
}
