/**
 * Requests as inputs of operations: by the descriptors of the proto, field by field, the names in camel case.
 * The wire has no absence for most fields, so a zero value counts as not given. Pure.
 */
import protobuf from 'protobufjs'
import { badRequest, serviceError } from '../../errors.js'
import type { Message, MessageField, MessageType, Received } from './proto.js'

export type Input = Record<string, unknown>

/** Names that do not follow from the wire's. */
const INPUT_NAMES: Readonly<Record<string, string>> = { source_doc_id: 'sourceDocID', use_tls: 'useTLS' }

export function camelCase(name: string): string {
  return INPUT_NAMES[name] ?? name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * @param always fields that are passed with their zero values, too
 * @throws ServiceError for text that is not UTF-8, and numbers that are not finite
 */
export function inputOf(type: MessageType, { bytes, message }: Received, always: readonly string[] = []): Input {
  if (message === null) throw badRequest('invalid message')
  const reading = { replacements: 0 }
  const input = readerOf(type)(message, reading)
  for (const name of always) {
    const field = type.fields[name]
    if (field !== undefined) input[camelCase(name)] ??= zeroOf(field)
  }
  // The decoder replaces what is not UTF-8. A text may also have the replacement character itself.
  if (reading.replacements > 0 && reading.replacements > replacementsIn(bytes)) throw serviceError('invalidUtf8')
  return input
}

interface Reading {
  /** Replacement characters in the texts read so far. */
  replacements: number
}

type Reader = (message: Message, reading: Reading) => Input
type ValueReader = (value: unknown, reading: Reading) => unknown

const readers = new Map<MessageType, Reader>()

function readerOf(type: MessageType): Reader {
  let reader = readers.get(type)
  if (reader === undefined) readers.set(type, (reader = newReader(type)))
  return reader
}

function newReader(type: MessageType): Reader {
  const fields = Object.values(type.fields).map((field) => ({
    name: field.name,
    inputName: camelCase(field.name),
    // Declared optional, so that its absence can be told from its zero value.
    hasPresence: field.options?.['proto3_optional'] === true,
    read: fieldReader(field),
  }))
  return (message, reading) => {
    const input: Input = {}
    for (const { name, inputName, hasPresence, read } of fields) {
      if (!Object.hasOwn(message, name)) continue
      const value = read(message[name], reading)
      if (hasPresence || !isZero(value)) input[inputName] = value
    }
    return input
  }
}

function fieldReader(field: MessageField): ValueReader {
  const read = valueReader(field)
  if (field instanceof protobuf.MapField)
    return (value, reading) =>
      // The value of an entry may be left out: null, if it is a message.
      Object.fromEntries(Object.entries(value as Message).map(([name, each]) => [textOf(name, reading), read(each ?? {}, reading)]))
  if (field.repeated) return (value, reading) => (value as readonly unknown[]).map((each) => read(each, reading))
  return read
}

function valueReader(field: MessageField): ValueReader {
  const { resolvedType } = field
  if (resolvedType?.name === 'MetaValues')
    return (value, reading) => ((value as { readonly values: readonly string[] }).values ?? []).map((each) => textOf(each, reading))
  if (resolvedType instanceof protobuf.Type) {
    let reader: Reader | undefined
    // Looked up on the first use, because types can contain one another.
    return (value, reading) => (reader ??= readerOf(resolvedType))(value as Message, reading)
  }
  if (field.type === 'string') return (value, reading) => textOf(value as string, reading)
  return (value) => (typeof value === 'boolean' ? value : numberOf(value))
}

function textOf(text: string, reading: Reading): string {
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) reading.replacements += 1
  return text
}

/** 64-bit integers are objects. */
function numberOf(value: unknown): number {
  const number = typeof value === 'object' ? (value as { toNumber(): number }).toNumber() : Number(value)
  if (!Number.isFinite(number)) throw badRequest('invalid number')
  return number
}

function replacementsIn(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let count = 0
  for (let at = buffer.indexOf('\ufffd'); at >= 0; at = buffer.indexOf('\ufffd', at + 3)) count += 1
  return count
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === '' || value === 0 || value === false
}

function zeroOf(field: MessageField): unknown {
  if (field instanceof protobuf.MapField) return {}
  if (field.repeated) return []
  return field.type === 'string' ? '' : field.type === 'bool' ? false : 0
}
