/**
 * Objects for the building of an index. A lane has the front end fetch them and goes on with its other work;
 * the process that prepares a restore fetches them itself. An object store that does not answer is not asked
 * again in the same pass: what it has is indexed by a later one (index_completion.ts). What is lost is named
 * once, as damage.
 */
import { rebuildPages, type LostObjects, type RebuildOptions, type RebuildShare } from '../../consumers/rebuild.js'
import type { BodyObject } from '../../store/objects.js'
import { log } from '../../telemetry/log.js'
import type { FetchFailure } from '../../outbound/object_stores.js'
import type { WantedObject } from '../../wire/object_messages.js'
import type { LaneContext } from '../request/handler.js'
import { wanted } from '../request/storage.js'

type FetchingContext = Pick<LaneContext, 'store' | 'settings' | 'fetchObjects'>

/**
 * One pass over documents: what it has fetched is cached for a while, what it has learnt of the stores it
 * keeps.
 */
export class ObjectFetching {
  readonly #context: FetchingContext
  readonly #lost = new Map<string, string>()
  /** Locations that have failed. */
  readonly #away = new Set<number>()

  constructor(context: FetchingContext) {
    this.#context = context
  }

  get lost(): LostObjects {
    return this.#lost
  }

  /**
   * Never rejects.
   * @param objects in stores
   * @param end nothing is waited for any more
   * @returns whether something of it is cached now, or known to be lost: whether to read again
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

  /** Named once a pass. */
  #fail(location: number, reason: string): void {
    if (!this.#away.has(location)) log.warn('not indexed yet', { reason })
    this.#away.add(location)
  }
}

/** Undefined where the end came first. */
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
 * @returns undefined where the end came first, else whether every document is in the index whose body can be
 * had at all
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
    // One page at a time: what has arrived meanwhile goes first.
    await new Promise<void>((resolve) => setImmediate(resolve))
    const isFetched = lacking.length > 0 && !end.aborted && (await fetching.obtain(lacking, end))
    if (end.aborted) return undefined
    step = pages.next(isFetched)
  }
}
