/** Objects of storage backends, as lanes and front end name them to each other in messages. */
import type { FetchFailure } from '../outbound/object_stores.js'
import type { S3Location } from '../outbound/s3_location.js'

/** An object on its way to a store. */
export interface OutgoingObject {
  readonly location: S3Location
  /** Below the prefix of the location. */
  readonly key: string
  readonly bytes: Uint8Array
}

/** An object that a request needs. */
export interface WantedObject {
  readonly id: Uint8Array
  readonly key: string
  /** Undefined: it was in process memory, and may be there again under another id. */
  readonly location: S3Location | undefined
  /** Of its bytes: src/store/objects.ts. */
  readonly hash: Uint8Array
  /** The document it belongs to, where that is known. */
  readonly owner?: ObjectOwner
}

/** The document of an object, in words. */
export interface ObjectOwner {
  /** For the client. */
  readonly named: string
  /** For logs and records: nothing of an encrypted collection but numbers. */
  readonly logged: string
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
