/**
 * Removes objects of this server that nothing refers to: of documents that were written anew, moved or deleted, and of writes that a crash has cut off between store and commit. As long as the operator
 * wants them kept for backups of before (`SVC_S3_RETENTION`), they stay. Objects of other servers in the same place are none of its business. Front-end thread only.
 */
import { OBJECT_SWEEP_MS, SWEEP_RETRY_MS } from '../../limits.js'
import { bodyLocations, forgetReleases, unwantedObjects } from '../../operations/storage.js'
import type { S3Location } from '../../outbound/s3_location.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor } from '../../dispatch/inner_request.js'
import type { ObjectIo } from './object_io.js'
import { log } from '../../telemetry/log.js'

/** What a lane says of them. */
export interface BodyLocations {
  readonly folder: string
  /** Whether some body has an object. */
  readonly hasObjects: boolean
  readonly locations: readonly { readonly id: number; readonly location: S3Location }[]
}

export class ObjectSweep {
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isEnded = false

  constructor(
    readonly dispatcher: Dispatcher,
    readonly objects: ObjectIo,
    readonly telemetry: Telemetry,
    readonly retentionSeconds: number,
  ) {}

  /** Once the lanes are there. */
  start(): void {
    this.#running = this.#round()
  }

  async stop(): Promise<void> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** A store that does not answer keeps none of the others from being swept, and is asked again sooner. */
  async #round(): Promise<void> {
    let isWhole = true
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      try {
        await work()
      } catch (error) {
        isWhole = false
        if (!this.#isEnded) log.warn(`objects are not swept${what}`, { reason: error })
      }
    }
    await attempt('', async () => {
      const { folder, locations } = await askFor<BodyLocations>(this.dispatcher, bodyLocations, {})
      for (const { location } of locations)
        await attempt(` in bucket ${location.bucket} at ${location.endpoint}`, () => this.#sweep(location, folder))
      if (locations.length > 0 && !this.#isEnded) await askFor(this.dispatcher, forgetReleases, { swept: [] })
    })
    if (!this.#isEnded) this.#timer = setTimeout(() => this.start(), isWhole ? OBJECT_SWEEP_MS : SWEEP_RETRY_MS).unref()
  }

  async #sweep(place: S3Location, folder: string): Promise<void> {
    const client = this.objects.stores.client(place)
    let next: string | undefined
    do {
      if (this.#isEnded) return
      const page = await client.list(folder, next)
      next = page.next
      // Listed before it is asked whose they are: what was under way then is somebody's by now, or is left alone, or never will be.
      const old = page.objects.map(({ key }) => key).filter((key) => this.#isOld(key, folder) && !this.objects.isUnderWay(key))
      if (old.length === 0) continue
      const ids = old.map((key) => key.slice(folder.length))
      const { unwanted } = await askFor<{ readonly unwanted: readonly string[] }>(this.dispatcher, unwantedObjects, { ids })
      for (const id of unwanted) {
        if (this.#isEnded) return
        await client.delete(`${folder}${id}`)
        this.telemetry.add('objects_swept', 1)
      }
    } while (next !== undefined)
  }

  /** By the time in its name: nothing younger has been nobody's for long enough; what has another name is a probe that a crash has left, as old as it may be. */
  #isOld(key: string, folder: string): boolean {
    const digits = /^(?:probe-)?([0-9a-f]{12})[0-9a-f]{20}$/.exec(key.slice(folder.length))?.[1]
    return digits !== undefined && Date.now() - parseInt(digits, 16) >= this.retentionSeconds * 1000
  }
}
