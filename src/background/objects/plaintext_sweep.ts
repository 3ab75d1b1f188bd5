/**
 * Removes objects in clear of collections that are encrypted by now, once nothing refers to them: not kept for backups of before, as others are (object_sweep.ts). Each is known by the row of its
 * release, which is forgotten only when its object has been removed: a crash between the two, or a store that does not answer, means that it is done again. Front-end thread only.
 */
import { CLEAR_SWEEP_MS, DEADLINE_HEAVY_MS, OBJECT_SWEEP_MS, SWEEP_RETRY_MS } from '../../limits.js'
import { clearObjects, forgetReleases } from '../../operations/storage.js'
import type { ObjectStores } from '../../outbound/object_stores.js'
import type { S3Location } from '../../outbound/s3_location.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor } from '../../dispatch/inner_request.js'
import { log } from '../../telemetry/log.js'

/** What a lane says of them. */
interface ClearObjects {
  readonly objects: readonly {
    /** Of its release. */
    readonly row: string
    readonly key: string
    readonly since: number
    /** Absent where its credentials can't be opened. */
    readonly place?: S3Location
  }[]
  readonly folder: string
  readonly next: string
}

export class ClearSweep {
  /** Unix seconds: who was told of an object before has ended with the process. */
  readonly #begun = Math.floor(Date.now() / 1000)
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isSoon = false
  #isEnded = false

  constructor(
    readonly dispatcher: Dispatcher,
    readonly stores: ObjectStores,
    readonly telemetry: Telemetry,
  ) {
    for (const operation of ['moveBodies', 'setCollectionConfig', 'restore']) dispatcher.onWritten(operation, () => this.#look())
  }

  /** Once the lanes are there. */
  start(): void {
    this.#isSoon = false
    this.#running = this.#round()
  }

  async stop(): Promise<void> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #look(): void {
    if (this.#isSoon || this.#isEnded) return
    this.#isSoon = true
    // In a round it is seen to at its end.
    if (this.#timer !== undefined) this.#rest(CLEAR_SWEEP_MS)
  }

  async #round(): Promise<void> {
    this.#timer = undefined
    let restMs: number = SWEEP_RETRY_MS
    try {
      restMs = (await this.#sweep()) && !this.#isSoon ? OBJECT_SWEEP_MS : CLEAR_SWEEP_MS
    } catch (error) {
      if (!this.#isEnded) log.warn('objects in clear of encrypted collections are not removed yet', { reason: error })
    }
    if (this.#isEnded) return
    this.#isSoon = restMs !== OBJECT_SWEEP_MS
    this.#rest(restMs)
  }

  #rest(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.start(), ms).unref()
  }

  /** @returns whether none is left @throws what the first failed with that could not be removed, once all places have been tried */
  async #sweep(): Promise<boolean> {
    let isDone = true
    const failed = new Map<string, unknown>()
    let from = ''
    do {
      const { objects, folder, next } = await askFor<ClearObjects>(this.dispatcher, clearObjects, { from })
      const swept: string[] = []
      for (const object of objects) {
        if (this.#isEnded) return false
        const place = `${object.place?.endpoint}/${object.place?.bucket}`
        if (failed.has(place)) continue
        try {
          if (await this.#remove(object, folder)) swept.push(object.row)
          else isDone = false
        } catch (error) {
          failed.set(place, error)
        }
      }
      if (swept.length > 0) await askFor(this.dispatcher, forgetReleases, { swept })
      from = next
    } while (from !== '' && !this.#isEnded)
    for (const error of failed.values()) throw error
    return isDone
  }

  /** One in the folder of another server is that one's. @returns whether it is gone, or none of ours */
  async #remove({ key, since, place }: ClearObjects['objects'][number], folder: string): Promise<boolean> {
    if (!key.startsWith(folder)) return true
    if (place === undefined || !this.#isForgotten(since)) return false
    await this.stores.client(place).delete(key)
    this.telemetry.add('objects_swept', 1)
    return true
  }

  /** Whether no request can be under way that was told of the object before it was released. */
  #isForgotten(since: number): boolean {
    return since < this.#begun || Date.now() - since * 1000 > DEADLINE_HEAVY_MS
  }
}
