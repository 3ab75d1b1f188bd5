/**
 * Document bodies in object stores: uploaded before their transaction, fetched when a request or the index
 * needs them. Each location has one client, which keeps its connections. Fetched bodies are cached in native
 * memory for the current and later requests. Front-end thread, and the process that prepares a restore.
 */
import { createHash } from 'node:crypto'
import { LOCATIONS_MAX } from '../limits/store.js'
import { S3Client } from './s3_client.js'
import type { S3Location } from './s3_location.js'
import type { Outbound } from './safe_fetch.js'

/** Objects that are sent or fetched in parallel for one request. */
const OBJECTS_AT_ONCE_MAX = 16

/** Identifies an object to fetch. */
interface ObjectName {
  readonly id: Uint8Array
  readonly key: string
  readonly location: S3Location | undefined
  /** The first bytes of the object's SHA-256. */
  readonly hash: Uint8Array
}

/** Cache of fetched bytes. */
interface ObjectShelf {
  has(id: Uint8Array): boolean
  cache(id: Uint8Array, bytes: Uint8Array): void
}

/** Why an object could not be fetched. */
export interface FetchFailure {
  readonly id: Uint8Array
  /** True: the object does not exist, or its content was changed. False: the store may respond later. */
  readonly isLost: boolean
  readonly reason: string
}

/** The object does not exist, or its content was changed. */
export class ObjectLost extends Error {
  constructor(
    readonly key: string,
    reason: string,
  ) {
    super(`object ${key}: ${reason}`)
    this.name = 'ObjectLost'
  }
}

/** No caller waits for the upload any more. */
export class Unwanted extends Error {}

export class ObjectStores {
  readonly #clients = new Map<string, S3Client>()

  constructor(
    readonly outbound: Outbound,
    readonly shelf: ObjectShelf,
  ) {}

  /**
   * @param isWanted whether a caller still waits; called before each object
   * @throws Unwanted, S3Error, S3LocationError, OutboundRefused for the first failed upload; others may have
   * succeeded
   */
  async put(
    objects: readonly { readonly location: S3Location; readonly key: string; readonly bytes: Uint8Array }[],
    isWanted: () => boolean,
  ): Promise<void> {
    await sideBySide(objects, async ({ location, key, bytes }) => {
      if (!isWanted()) throw new Unwanted()
      await this.client(location).put(key, bytes)
    })
  }

  /**
   * Fetches the objects that are not cached yet. The first object is fetched last, so that it is cached even
   * if the cache has no capacity for all.
   * @throws ObjectLost, S3Error, S3LocationError, OutboundRefused
   */
  async bring(objects: readonly ObjectName[]): Promise<void> {
    await sideBySide(objects.toReversed(), (object) => this.#bringOne(object))
  }

  /**
   * Fetches each object independently, but skips the objects at a location that has already failed. Never
   * rejects.
   * @returns the objects that could not be fetched, in no particular order
   */
  async bringEach(objects: readonly ObjectName[]): Promise<readonly FetchFailure[]> {
    const failures: FetchFailure[] = []
    // Keyed by value, because each object from a message has its own location object.
    const failed = new Map<string, string>()
    await sideBySide(objects, async (object) => {
      const location = JSON.stringify(object.location)
      const reason = failed.get(location)
      if (reason !== undefined) {
        failures.push({ id: object.id, isLost: false, reason })
        return
      }
      try {
        await this.#bringOne(object)
      } catch (error) {
        const failure = { id: object.id, isLost: error instanceof ObjectLost, reason: reasonOf(error) }
        if (!failure.isLost) failed.set(location, failure.reason)
        failures.push(failure)
      }
    })
    return failures
  }

  async #bringOne({ id, key, location, hash }: ObjectName): Promise<void> {
    if (location === undefined || this.shelf.has(id)) return
    const bytes = await this.client(location).get(key)
    if (bytes === undefined) throw new ObjectLost(key, 'it is not there')
    if (!createHash('sha256').update(bytes).digest().subarray(0, hash.length).equals(hash)) throw new ObjectLost(key, 'it was changed')
    this.shelf.cache(id, bytes)
  }

  /** @throws S3LocationError, OutboundRefused */
  client(location: S3Location): S3Client {
    const name = JSON.stringify(location)
    const known = this.#clients.get(name)
    if (known !== undefined) return known
    const client = new S3Client(this.outbound, location)
    // Evicts the oldest client. Its secret may have changed, or its location was only tested.
    if (this.#clients.size >= LOCATIONS_MAX) {
      const [oldest, closed] = [...this.#clients][0] as [string, S3Client]
      this.#clients.delete(oldest)
      void closed.close()
    }
    this.#clients.set(name, client)
    return client
  }

  async close(): Promise<void> {
    for (const client of this.#clients.values()) await client.close()
    this.#clients.clear()
  }
}

/**
 * Runs at most `OBJECTS_AT_ONCE_MAX` items concurrently.
 * @throws the error of the first worker that failed, after all workers have settled
 */
async function sideBySide<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item)
  }
  const settled = await Promise.allSettled(Array.from({ length: Math.min(OBJECTS_AT_ONCE_MAX, items.length) }, work))
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
