/**
 * Removes unreferenced objects of this server: those of documents that were rewritten, moved or deleted, and
 * those of writes that a crash interrupted between store and commit. They are kept for as long as the
 * operator wants them for older backups (`SVC_S3_RETENTION`). Objects of other servers at the same location
 * are never touched. Front-end thread only.
 */
import { Chore, type ChoreTools } from '../../chore.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor } from '../../dispatch/inner_request.js'
import { OBJECT_SWEEP_MS, SWEEP_RETRY_MS } from '../../limits/store.js'
import { bodyLocations, forgetReleases, unwantedObjects } from '../../operations/server/storage.js'
import type { S3Location } from '../../outbound/s3_location.js'
import type { Service } from '../../services.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { ObjectIo } from './object_io.js'

/** The answer of a lane about locations. */
export interface BodyLocations {
  readonly folder: string
  /** Whether any body has an object. */
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

  /** Called once the lanes are open. */
  start(): void {
    this.#chore.start()
  }

  async stop(): Promise<void> {
    await this.#chore.stop()
  }

  /**
   * A store that does not respond does not prevent the others from being swept.
   * @throws Error that names each of the failed stores
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
      // The list is older than the reference check that follows. An object that was being sent when the list
      // was made is referenced by now, is skipped, or is never referenced.
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
   * Compares the time in the name: objects younger than the retention period are kept. The name of a probe
   * left by a crash has the same form behind `probe-`. Objects with other names are kept, too.
   */
  #isOld(key: string, folder: string): boolean {
    const digits = /^(?:probe-)?([0-9a-f]{12})[0-9a-f]{20}$/.exec(key.slice(folder.length))?.[1]
    return digits !== undefined && Date.now() - parseInt(digits, 16) >= this.retentionSeconds * 1000
  }
}
