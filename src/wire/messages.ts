/**
 * Rare messages between lanes and front end, beside requests and answers that travel as FlatBuffers:
 * structured clones as bytes. A lane that can't answer yet sends one in place of its answer; the front end
 * does what it asks for, and then the request goes on.
 */
import { deserialize, serialize } from 'node:v8'
import type { ErrorCode } from '../errors.js'
import type { NamedDocuments } from './embedding_messages.js'
import type { OutgoingObject, WantedObject } from './object_messages.js'

/** Objects go to their store before the command may be committed. */
export interface StoreFirst {
  readonly kind: 'store'
  readonly objects: readonly OutgoingObject[]
  /** A location that is to be configured: it has to answer. */
  readonly probe?: OutgoingObject
  readonly command: Uint8Array
}

/** The request runs again once these objects are cached. */
export interface FetchFirst {
  readonly kind: 'fetch'
  readonly objects: readonly WantedObject[]
  /** The request's body, or the command that was made of it. */
  readonly body: Uint8Array
  readonly isCommand: boolean
}

/** The request runs again once the vectors of these texts are cached. */
export interface TextsFirst {
  readonly kind: 'embed'
  readonly texts: readonly string[]
  readonly role: 'query' | 'document'
  /** It does without where they can't be had. */
  readonly isOptional: boolean
  /** Of the request. */
  readonly body: Uint8Array
}

/** The answer of a write, for when the queue of documents that want vectors has capacity for its own. */
export interface CapacityFirst {
  readonly kind: 'capacity'
  readonly code: ErrorCode | null
  readonly body: Uint8Array
  readonly named: NamedDocuments
}

/** What the operation itself does on the front end: src/dispatch/io.ts. */
export interface IoFirst {
  readonly kind: 'io'
  /** As the operation's handler made it. */
  readonly message: unknown
}

/** The answer of a restore, for when every lane serves the generation. */
export interface SwitchFirst {
  readonly kind: 'switch'
  readonly generation: string
  readonly body: string
}

export type RequestMessage = StoreFirst | FetchFirst | TextsFirst | CapacityFirst | IoFirst | SwitchFirst

/** Bytes in a buffer of their own. */
export function encodeMessage(message: unknown): Uint8Array {
  return new Uint8Array(serialize(message))
}

/**
 * @param bytes made by `encodeMessage` in a thread of this process; byte strings of the result are views of
 * them
 */
export function decodeMessage<Message>(bytes: Uint8Array): Message {
  return deserialize(bytes) as Message
}
