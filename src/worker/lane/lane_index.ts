/**
 * The index of a lane at its start and when it has to be rebuilt: replay of the binlog above the checkpoint,
 * the shares of the read lanes, and the rebuild beside the requests. The write lane and the read lanes.
 */
import { join } from 'node:path'
import type { RebuildOptions, RebuildShare } from '../../consumers/rebuild.js'
import { reachesBack, replay } from '../../consumers/replay.js'
import { analysisVersion } from '../../domain/documents/analysis.js'
import { currentGeneration, restoreAdvice, TRUTH_FILE } from '../../store/files/layout.js'
import { log } from '../../telemetry/log.js'
import type { ControlBlock } from '../../wire/control_block.js'
import { ObjectFetching, rebuild } from '../background/object_fetching.js'
import type { LaneContext } from '../request/handler.js'

/** All pages. */
const ALONE: RebuildShare = { share: 0, shares: 1 }

/**
 * The write lane's part of the start, before any other lane. Opens the index env and replays the binlog above
 * its checkpoint. An unusable index is rebuilt by the read lanes together before the server is ready. If only
 * segments were set aside, this lane rebuilds them while the server is up, and searches answer 503 until it
 * is done.
 */
export async function openIndex(
  context: LaneContext,
  history: Uint8Array,
  { control, onFatal, end }: Pick<Rebuilding, 'control' | 'onFatal' | 'end'>,
): Promise<void> {
  const { store, engine } = context
  const generation = currentGeneration(context.config.path)
  const { checkpoint, damage, isStoreBehind } = engine.open(
    join(generation, 'index'),
    history,
    analysisVersion(context.config),
    context.isReadOnly,
  )
  engine.flushedTo(store.read((view) => view.storeCounters().lastLsn))
  for (const line of damage) log.error('index', { reason: line })
  control.writesLost = isStoreBehind
  if (isStoreBehind)
    log.error('writes are lost', {
      reason: `${generation}/${TRUTH_FILE} is in an older state than its index; ${restoreAdvice(generation)}`,
    })
  const { isUsed, wasWhole, isBehind } = store.read((view) => ({
    isUsed: view.objects.isUsed(),
    wasWhole: !view.objects.isIndexIncomplete(),
    isBehind: checkpoint < view.storeCounters().lastLsn || damage.length > 0,
  }))
  // Before anything reports that the index is complete. Missing documents are retried until they are indexed:
  // index_completion.ts.
  if (isUsed && isBehind && wasWhole && !context.isReadOnly) await store.markIndex(true)
  if (checkpoint === 0n || !reachesBack(context, checkpoint)) {
    if (checkpoint !== 0n) engine.beginRebuild()
    control.rebuildWanted = true
    return
  }
  const isWhole = await replayFetching(context, checkpoint, end)
  if (damage.length === 0) {
    if (isUsed && isBehind && wasWhole && isWhole && !context.isReadOnly) await store.markIndex(false)
    return
  }
  control.indexStale = true
  // Deferred: the lane opens first.
  setImmediate(() => void finishRebuild(context, { control, onFatal, end, note: () => Promise.resolve() }, { missingOnly: true }))
}

/**
 * Fetches missing bodies once, through the front end, as many as the cache holds. The lane is not open yet,
 * so nothing else waits for it.
 * @returns whether nothing is left that may become available later
 */
async function replayFetching(context: LaneContext, checkpoint: bigint, end: AbortSignal): Promise<boolean> {
  const fetching = new ObjectFetching(context)
  let replayed = replay(context, checkpoint)
  if (replayed.lacking.length > 0 && (await fetching.obtain(replayed.lacking, end))) replayed = replay(context, checkpoint, fetching.lost)
  for (const line of replayed.damaged) log.error('not indexed', { reason: line })
  return replayed.lacking.length === 0
}

/**
 * Runs at the start: every read lane takes its share of the pages.
 * @throws Error in a lane that replaces one which died before all shares were done. The documents of the dead
 * lane would be missing, so the start has failed.
 */
export async function buildShare(context: LaneContext, control: ControlBlock, end: AbortSignal): Promise<void> {
  const shares = context.config.readLanes
  const share = control.claimRebuildShare()
  if (share >= shares) {
    if (control.rebuiltShares < shares) throw new Error('a lane died while the index was built')
    return
  }
  if ((await rebuild(context, { share, shares }, {}, end)) === undefined) return
  if (control.finishRebuildShare() === shares) context.engine.endRebuild()
}

interface Rebuilding {
  readonly control: ControlBlock
  readonly onFatal: (reason: string) => void
  readonly end: AbortSignal
  /** Records in the store that documents may be missing, unless that is recorded already. */
  readonly note: () => Promise<void>
}

/**
 * Handles an index that no longer equals the store. Searches answer 503 until the index has been rebuilt from
 * the store, on the write lane, between groups.
 */
export async function rebuildStaleIndex(context: LaneContext, rebuilding: Rebuilding, cause: unknown): Promise<void> {
  const { control, onFatal } = rebuilding
  if (control.indexStale) {
    // The refused batch would be missing from the index that is being built. Only a new start from the store
    // can recover.
    onFatal(`the index refuses batches while it is rebuilt: ${describe(cause)}`)
    return
  }
  control.indexStale = true
  log.error('the index refused a batch and is rebuilt', { reason: cause })
  await finishRebuild(context, rebuilding, {})
}

async function finishRebuild(context: LaneContext, { control, onFatal, end, note }: Rebuilding, options: RebuildOptions): Promise<void> {
  try {
    // A partially damaged index is in rebuild mode since it was opened.
    if (options.missingOnly !== true) context.engine.beginRebuild()
    const isWhole = await rebuild(context, ALONE, options, end)
    if (isWhole === undefined) return
    if (!isWhole) await note()
    context.engine.endRebuild()
    control.indexStale = false
  } catch (error) {
    onFatal(`the index can't be rebuilt: ${describe(error)}`)
  }
}

export function describe(error: unknown): string {
  return error instanceof Error ? `${error.message}${error.cause === undefined ? '' : `: ${describe(error.cause)}`}` : String(error)
}
