/** Messages between lanes and front end about objects of storage backends. */
import type { FetchFailure } from '../../outbound/object_stores.js'
import type { S3Location } from '../../outbound/s3_location.js'

/** An object to be sent to a store. */
export interface OutgoingObject {
  readonly location: S3Location
  /** Key below the prefix of the location. */
  readonly key: string
  readonly bytes: Uint8Array
}

/** An object that a request needs. */
export interface WantedObject {
  readonly id: Uint8Array
  readonly key: string
  /** Undefined: it was in process memory, and may be there again under another id. */
  readonly location: S3Location | undefined
  /** Hash of its bytes: src/store/objects.ts. */
  readonly hash: Uint8Array
  /** The document that it belongs to, if known. */
  readonly owner?: ObjectOwner
}

/** Descriptions of the document of an object. */
export interface ObjectOwner {
  /** For the client. */
  readonly named: string
  /** For logs and records: of an encrypted collection, numbers only. */
  readonly logged: string
}

/**
 * Fetches objects into native memory, independently of each other. Never rejects.
 * @returns those that could not be fetched
 */
export type FetchObjects = (objects: readonly WantedObject[]) => Promise<readonly FetchFailure[]>

/**
 * A lane's request to the front end for objects that the index lacks. It is independent of requests: no
 * ticket waits for them.
 */
export interface ObjectsWanted {
  readonly kind: 'fetch'
  readonly number: number
  readonly objects: readonly WantedObject[]
}

/** The answer of the front end: all other objects are cached now. */
export interface ObjectsFetched {
  readonly kind: 'fetched'
  readonly number: number
  readonly failures: readonly FetchFailure[]
}
