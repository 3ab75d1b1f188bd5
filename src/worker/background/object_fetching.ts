/**
 * Objects for the building of an index, on a lane of its own time: between two pages it may wait for an object store, which no request does. A place that does not answer is not asked again in the same pass;
 * what it has is not found until a later one (unindexed.ts). What is lost is named once, as damage.
 */
import { rebuildPages, type LostObjects, type RebuildOptions, type RebuildShare } from '../../consumers/rebuild.js'
import { ObjectLost, ObjectStores } from '../../outbound/object_stores.js'
import { Outbound } from '../../outbound/safe_fetch.js'
import type { BodyObject } from '../../store/objects.js'
import type { LaneContext } from '../request/handler.js'
import { wanted } from '../request/storage.js'
import { log } from '../../telemetry/log.js'

type FetchingContext = Pick<LaneContext, 'config' | 'store' | 'settings' | 'held'>

/** One pass over documents: what it has fetched is at hand for a while, what it has learnt of the stores it keeps. */
export class ObjectFetching {
  readonly #context: FetchingContext
  readonly #stores: ObjectStores
  readonly #lost = new Map<string, string>()
  /** Locations that have failed. */
  readonly #away = new Set<number>()

  constructor(context: FetchingContext) {
    const { config, held } = context
    this.#context = context
    this.#stores = new ObjectStores(new Outbound({ allowed: config.outboundAllowlist, allowPrivate: config.outboundAllowPrivate }), held)
  }

  get lost(): LostObjects {
    return this.#lost
  }

  /** Never rejects. @param objects in stores @returns whether something of it is at hand now, or known to be lost: whether it is worth while to read again */
  async obtain(objects: readonly BodyObject[]): Promise<boolean> {
    const { store, settings } = this.#context
    const asked = objects.filter(({ location, id }) => !this.#away.has(location) && !this.#lost.has(id.toString('hex')))
    if (asked.length === 0) return false
    const locations = store.read((view) => settings.locations(view))
    let failures = 0
    const fail = (location: number, error: unknown): void => {
      if (!this.#away.has(location)) log.warn('not indexed yet', { reason: reasonOf(error) })
      this.#away.add(location)
      failures++
    }
    const named = asked.flatMap((object) => {
      try {
        return [{ ...wanted(locations, object), number: object.location }]
      } catch (error) {
        fail(object.location, error)
        return []
      }
    })
    await this.#stores.bringEach(named, ({ id, number }, error) => {
      if (error instanceof ObjectLost) this.#lost.set(Buffer.from(id).toString('hex'), reasonOf(error))
      else fail(number, error)
    })
    return failures < asked.length
  }

  close(): Promise<void> {
    return this.#stores.close()
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** @returns undefined where the end came first, else whether every document is in the index whose body can be had at all */
export async function rebuild(
  context: LaneContext,
  share: RebuildShare,
  options: RebuildOptions,
  end: AbortSignal,
): Promise<boolean | undefined> {
  const fetching = new ObjectFetching(context)
  try {
    const pages = rebuildPages(context, share, { ...options, lost: fetching.lost })
    for (let step = pages.next(false); ;) {
      if (step.done === true) return step.value
      const { damaged, lacking } = step.value
      for (const damage of damaged) log.error('not indexed', { reason: damage })
      // One page at a time: what has arrived meanwhile goes first.
      await new Promise<void>((resolve) => setImmediate(resolve))
      const isFetched = lacking.length > 0 && !end.aborted && (await fetching.obtain(lacking))
      if (end.aborted) return undefined
      step = pages.next(isFetched)
    }
  } finally {
    await fetching.close()
  }
}
