/**
 * Rare messages between lanes and front end, as serialized structured clones, beside requests and answers,
 * which are FlatBuffers. A lane that cannot answer yet sends one instead of its answer. The front end does
 * what it asks for, and then the request continues.
 */
import { deserialize, serialize } from 'node:v8'
import type { ErrorCode } from '../../errors.js'
import type { NamedDocuments } from './embedding_messages.js'
import type { OutgoingObject, WantedObject } from './object_messages.js'

/** Objects must be stored before the command may be committed. */
export interface StoreFirst {
  readonly kind: 'store'
  readonly objects: readonly OutgoingObject[]
  /** A location that is to be configured: it must respond first. */
  readonly probe?: OutgoingObject
  readonly command: Uint8Array
}

/** The request runs again once these objects are cached. */
export interface FetchFirst {
  readonly kind: 'fetch'
  readonly objects: readonly WantedObject[]
  /** The request's body, or the command made from it. */
  readonly body: Uint8Array
  readonly isCommand: boolean
}

/** The request runs again once the vectors of these texts are cached. */
export interface TextsFirst {
  readonly kind: 'embed'
  readonly texts: readonly string[]
  readonly role: 'query' | 'document'
  /** Whether the request can run without the vectors if they are unavailable. */
  readonly isOptional: boolean
  /** The body of the request. */
  readonly body: Uint8Array
}

/**
 * The answer of a write, to be sent when the queue of documents that wait for vectors has capacity for its
 * own.
 */
export interface CapacityFirst {
  readonly kind: 'capacity'
  readonly code: ErrorCode | null
  readonly body: Uint8Array
  readonly named: NamedDocuments
}

/** Work of the operation itself on the front end: src/dispatch/io.ts. */
export interface IoFirst {
  readonly kind: 'io'
  /** The message that the operation's handler made. */
  readonly message: unknown
}

/** The answer of a restore, to be sent when every lane serves the generation. */
export interface SwitchFirst {
  readonly kind: 'switch'
  readonly generation: string
  /** The accounts of the present store replace those of the generation. */
  readonly keepsAccounts: boolean
  readonly body: string
}

/**
 * What a lane tells the front end about the advice that a request asks for: src/background/search_advisor.ts.
 */
export interface AdviceGiven {
  readonly collection: string
  readonly suggestions: readonly unknown[]
  /** The change of the collection's configuration to make; null: none. */
  readonly apply: Readonly<Record<string, unknown>> | null
}

export type RequestMessage = StoreFirst | FetchFirst | TextsFirst | CapacityFirst | IoFirst | SwitchFirst

/** Returns bytes in a buffer of their own. */
export function encodeMessage(message: unknown): Uint8Array {
  return new Uint8Array(serialize(message))
}

/**
 * @param bytes made by `encodeMessage` in a thread of this process; byte strings of the result are views of
 * it
 */
export function decodeMessage<Message>(bytes: Uint8Array): Message {
  return deserialize(bytes) as Message
}
