/**
 * Fetches objects for an index build, or for the hashes of documents. A lane has the front end fetch them and
 * continues with its other work. The process that prepares a restore fetches them itself. An object store
 * that does not respond is not asked again in the same pass; a later pass indexes its documents
 * (index_completion.ts). Lost objects are reported once, as damage.
 */
import { type LostObjects, type RebuildOptions, rebuildPages, type RebuildShare } from '../../consumers/rebuild.js'
import type { FetchFailure } from '../../outbound/object_stores.js'
import type { BodyObject } from '../../store/objects.js'
import { log } from '../../telemetry/log.js'
import type { WantedObject } from '../../wire/messages/object_messages.js'
import type { LaneContext } from '../request/handler.js'
import { wanted } from '../request/storage.js'

type FetchingContext = Pick<LaneContext, 'store' | 'settings' | 'fetchObjects'>

/**
 * One pass over documents. Fetched objects are cached for a while. The state of the object stores is kept for
 * the whole pass.
 */
export class ObjectFetching {
  readonly #context: FetchingContext
  readonly #notice: string
  readonly #lost = new Map<string, string>()
  /** Locations that have failed in this pass. */
  readonly #away = new Set<number>()

  /** @param notice the message of the log line about an object store that fails */
  constructor(context: FetchingContext, notice = 'not indexed yet') {
    this.#context = context
    this.#notice = notice
  }

  get lost(): LostObjects {
    return this.#lost
  }

  /**
   * Never rejects.
   * @param objects in object stores
   * @param end ends the wait
   * @returns whether at least one object is now cached or known to be lost, so that reading again is useful
   */
  async obtain(objects: readonly BodyObject[], end?: AbortSignal): Promise<boolean> {
    const { store, settings, fetchObjects } = this.#context
    const asked = objects.filter(({ location, id }) => !this.#away.has(location) && !this.#lost.has(id.toString('hex')))
    if (asked.length === 0) return false
    const locations = store.read((view) => settings.locations(view))
    const locationOf = new Map(asked.map(({ id, location }) => [id.toString('hex'), location]))
    const named: WantedObject[] = []
    let failures = 0
    for (const object of asked) {
      try {
        named.push(wanted(locations, object))
      } catch (error) {
        this.#fail(object.location, error instanceof Error ? error.message : String(error))
        failures++
      }
    }
    const answer = await unlessEnded(fetchObjects(named), end)
    if (answer === undefined) return false
    for (const { id, isLost, reason } of answer) {
      const name = Buffer.from(id).toString('hex')
      if (isLost) this.#lost.set(name, reason)
      else {
        this.#fail(locationOf.get(name) ?? 0, reason)
        failures++
      }
    }
    return failures < asked.length
  }

  /** Logs each location once per pass. */
  #fail(location: number, reason: string): void {
    if (!this.#away.has(location)) log.warn(this.#notice, { reason })
    this.#away.add(location)
  }
}

/** @returns undefined if `end` was aborted first */
async function unlessEnded(fetched: Promise<readonly FetchFailure[]>, end?: AbortSignal): Promise<readonly FetchFailure[] | undefined> {
  if (end === undefined) return await fetched
  if (end.aborted) return undefined
  let leave = (): void => undefined
  const ended = new Promise<undefined>((resolve) => (leave = () => resolve(undefined)))
  end.addEventListener('abort', leave)
  try {
    return await Promise.race([fetched, ended])
  } finally {
    end.removeEventListener('abort', leave)
  }
}

/**
 * @returns undefined if `end` was aborted first; otherwise whether the index has every document whose body is
 * available at all
 */
export async function rebuild(
  context: LaneContext,
  share: RebuildShare,
  options: RebuildOptions,
  end: AbortSignal,
): Promise<boolean | undefined> {
  const fetching = new ObjectFetching(context)
  const pages = rebuildPages(context, share, { ...options, lost: fetching.lost })
  for (let step = pages.next(false); ;) {
    if (step.done === true) return step.value
    const { damaged, lacking } = step.value
    for (const damage of damaged) log.error('not indexed', { reason: damage })
    // One page per turn of the event loop: work that has arrived meanwhile runs first.
    await new Promise<void>((resolve) => setImmediate(resolve))
    const isFetched = lacking.length > 0 && !end.aborted && (await fetching.obtain(lacking, end))
    if (end.aborted) return undefined
    step = pages.next(isFetched)
  }
}
