/**
 * What lanes and front end say to each other about bodies in storage backends. Structured clones as bytes:
 * rare and large, beside requests that travel as FlatBuffers.
 */
import { deserialize, serialize } from 'node:v8'
import type { FetchFailure } from '../outbound/object_stores.js'
import type { S3Location } from '../outbound/s3_location.js'

/** An object on its way to a store. */
export interface OutgoingObject {
  readonly location: S3Location
  /** Below the prefix of the location. */
  readonly key: string
  readonly bytes: Uint8Array
}

/** To be done before the command may be committed. */
export interface StoreFirst {
  readonly objects: readonly OutgoingObject[]
  /** A place that is to be configured: it has to answer. */
  readonly probe?: OutgoingObject
  readonly command: Uint8Array
}

/** An object that a request needs. */
export interface WantedObject {
  readonly id: Uint8Array
  readonly key: string
  /** Undefined: it was in process memory, and may be there again under another id. */
  readonly location: S3Location | undefined
  /** Of what lies there: src/store/objects.ts. */
  readonly hash: Uint8Array
  /** Whose it is, where that is known. */
  readonly owner?: ObjectOwner
}

/** The document of an object, in words. */
export interface ObjectOwner {
  /** For who asks. */
  readonly named: string
  /** For logs and records: nothing of an encrypted collection but numbers. */
  readonly logged: string
}

/** The request waits for objects, and runs again then. */
export interface FetchFirst {
  readonly objects: readonly WantedObject[]
  /** The request's body, or the command that was made of it. */
  readonly body: Uint8Array
  readonly isCommand: boolean
}

/**
 * Fetches objects into native memory, each for itself. Never rejects.
 * @returns those that could not be had
 */
export type FetchObjects = (objects: readonly WantedObject[]) => Promise<readonly FetchFailure[]>

/**
 * A lane asks the front end for objects that the index lacks. Outside of requests: no ticket waits for them.
 */
export interface ObjectsWanted {
  readonly kind: 'fetch'
  readonly number: number
  readonly objects: readonly WantedObject[]
}

/** The answer of the front end: everything else is cached now. */
export interface ObjectsFetched {
  readonly kind: 'fetched'
  readonly number: number
  readonly failures: readonly FetchFailure[]
}

/** Bytes in a buffer of their own. */
export function encodeMessage(message: StoreFirst | FetchFirst): Uint8Array {
  return new Uint8Array(serialize(message))
}

/** @param bytes from a lane of this process */
export function decodeMessage<Message extends StoreFirst | FetchFirst>(bytes: Uint8Array): Message {
  return deserialize(bytes) as Message
}
