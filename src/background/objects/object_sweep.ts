/**
 * Removes objects of this server that nothing refers to: of documents that were written anew, moved or
 * deleted, and of writes that a crash has cut off between store and commit. As long as the operator wants
 * them kept for older backups (`SVC_S3_RETENTION`), they stay. Objects of other servers at the same location
 * are never touched. Front-end thread only.
 */
import { Chore, type ChoreTools } from '../../chore.js'
import { OBJECT_SWEEP_MS, SWEEP_RETRY_MS } from '../../limits/objects.js'
import { bodyLocations, forgetReleases, unwantedObjects } from '../../operations/storage.js'
import type { S3Location } from '../../outbound/s3_location.js'
import type { Service } from '../../services.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor } from '../../dispatch/inner_request.js'
import type { ObjectIo } from './object_io.js'

/** What a lane says of them. */
export interface BodyLocations {
  readonly folder: string
  /** Whether some body has an object. */
  readonly hasObjects: boolean
  readonly locations: readonly { readonly id: number; readonly location: S3Location }[]
}

export class ObjectSweep implements Service {
  readonly name = 'object-sweep'
  readonly #chore: Chore

  constructor(
    readonly dispatcher: Dispatcher,
    readonly objects: ObjectIo,
    readonly telemetry: Telemetry,
    readonly retentionSeconds: number,
    tools: ChoreTools,
  ) {
    this.#chore = new Chore(tools, {
      name: this.name,
      failure: 'objects are not swept',
      retry: { firstMs: SWEEP_RETRY_MS, longestMs: SWEEP_RETRY_MS },
      round: (signal) => this.#round(signal),
    })
  }

  /** Once the lanes are there. */
  start(): void {
    this.#chore.start()
  }

  async stop(): Promise<void> {
    await this.#chore.stop()
  }

  /**
   * A store that does not answer keeps none of the others from being swept.
   * @throws Error that names each of them
   */
  async #round(signal: AbortSignal): Promise<number> {
    const failures: string[] = []
    const { folder, locations } = await askFor<BodyLocations>(this.dispatcher, bodyLocations, {})
    for (const { location } of locations) {
      try {
        await this.#sweep(location, folder, signal)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        failures.push(`in bucket ${location.bucket} at ${location.endpoint}: ${reason}`)
      }
    }
    if (locations.length > 0 && !signal.aborted) await askFor(this.dispatcher, forgetReleases, { swept: [] })
    if (failures.length > 0) throw new Error(failures.join('; '))
    return OBJECT_SWEEP_MS
  }

  async #sweep(location: S3Location, folder: string, signal: AbortSignal): Promise<void> {
    const client = this.objects.stores.client(location)
    let next: string | undefined
    do {
      if (signal.aborted) return
      const page = await client.list(folder, next)
      next = page.next
      // The list is older than the answer to who refers to them: an object that was being sent then has a
      // reference by now, is left alone, or never gets one.
      const old = page.objects.map(({ key }) => key).filter((key) => this.#isOld(key, folder) && !this.objects.isUnderWay(key))
      if (old.length === 0) continue
      const ids = old.map((key) => key.slice(folder.length))
      const { unwanted } = await askFor<{ readonly unwanted: readonly string[] }>(this.dispatcher, unwantedObjects, { ids })
      for (const id of unwanted) {
        if (signal.aborted) return
        await client.delete(`${folder}${id}`)
        this.telemetry.add('objects_swept', 1)
      }
    } while (next !== undefined)
  }

  /**
   * By the time in its name: objects younger than the retention period are kept. The name of a probe that a
   * crash has left has the same form behind `probe-`; objects with other names are kept, too.
   */
  #isOld(key: string, folder: string): boolean {
    const digits = /^(?:probe-)?([0-9a-f]{12})[0-9a-f]{20}$/.exec(key.slice(folder.length))?.[1]
    return digits !== undefined && Date.now() - parseInt(digits, 16) >= this.retentionSeconds * 1000
  }
}
