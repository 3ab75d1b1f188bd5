/**
 * Removes plaintext objects of collections that are encrypted now, once they are unreferenced. Unlike other
 * objects (object_sweep.ts), they are not kept for older backups. Each is identified by the row of its
 * release. The row is deleted only when its object has been removed. After a crash between the two steps, or
 * if a store does not respond, the removal is repeated. Front-end thread only.
 */
import { Chore, type ChoreTools } from '../../chore.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor } from '../../dispatch/inner_request.js'
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { OBJECT_SWEEP_MS, SWEEP_RETRY_MS } from '../../limits/store.js'
import { clearObjects, forgetReleases } from '../../operations/server/storage.js'
import type { ObjectStores } from '../../outbound/object_stores.js'
import type { S3Location } from '../../outbound/s3_location.js'
import type { Service } from '../../services.js'
import type { Telemetry } from '../../telemetry/registry.js'

/**
 * Delay of the search for plaintext objects of an encrypted collection, and its interval while there are any.
 */
const PLAINTEXT_SWEEP_MS = 5_000

/** The answer of a lane about them. */
interface ClearObjects {
  readonly objects: readonly {
    /** Row of its release. */
    readonly row: string
    readonly key: string
    readonly since: number
    /** Absent if its credentials cannot be decrypted. */
    readonly bucket?: S3Location
  }[]
  readonly folder: string
  readonly next: string
}

export class PlaintextSweep implements Service {
  readonly name = 'plaintext-sweep'
  readonly #chore: Chore
  /** Unix seconds: requests that knew an object before this time ended with the previous process. */
  readonly #begun = Math.floor(Date.now() / 1000)

  constructor(
    readonly dispatcher: Dispatcher,
    readonly stores: ObjectStores,
    readonly telemetry: Telemetry,
    tools: ChoreTools,
  ) {
    this.#chore = new Chore(tools, {
      name: this.name,
      failure: 'plaintext objects of encrypted collections are not removed yet',
      retry: { firstMs: SWEEP_RETRY_MS, longestMs: SWEEP_RETRY_MS },
      round: async (signal) => ((await this.#sweep(signal)) ? OBJECT_SWEEP_MS : PLAINTEXT_SWEEP_MS),
    })
    for (const topic of ['move', 'sealing', 'setting/config', 'store'])
      dispatcher.notices.on(topic, () => this.#chore.wake(PLAINTEXT_SWEEP_MS))
  }

  /** Called once the lanes are open. */
  start(): void {
    this.#chore.start()
  }

  async stop(): Promise<void> {
    await this.#chore.stop()
  }

  /**
   * @returns whether none is left
   * @throws the error of the first object that could not be removed, once all locations have been tried
   */
  async #sweep(signal: AbortSignal): Promise<boolean> {
    let isDone = true
    const failed = new Map<string, unknown>()
    let from = ''
    do {
      const { objects, folder, next } = await askFor<ClearObjects>(this.dispatcher, clearObjects, { from })
      const swept: string[] = []
      for (const object of objects) {
        if (signal.aborted) return false
        const bucket = `${object.bucket?.endpoint}/${object.bucket?.bucket}`
        if (failed.has(bucket)) continue
        try {
          if (await this.#remove(object, folder)) swept.push(object.row)
          else isDone = false
        } catch (error) {
          failed.set(bucket, error)
        }
      }
      if (swept.length > 0) await askFor(this.dispatcher, forgetReleases, { swept })
      from = next
    } while (from !== '' && !signal.aborted)
    for (const error of failed.values()) throw error
    return isDone
  }

  /**
   * An object in the folder of another server belongs to that server.
   * @returns whether it is removed, or does not belong to this server
   */
  async #remove({ key, since, bucket }: ClearObjects['objects'][number], folder: string): Promise<boolean> {
    if (!key.startsWith(folder)) return true
    if (bucket === undefined || !this.#isForgotten(since)) return false
    await this.stores.client(bucket).delete(key)
    this.telemetry.add('objects_swept', 1)
    return true
  }

  /** Whether no current request can have learned of the object before it was released. */
  #isForgotten(since: number): boolean {
    return since < this.#begun || Date.now() - since * 1000 > DEADLINE_HEAVY_MS
  }
}
