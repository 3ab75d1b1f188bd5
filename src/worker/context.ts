/**
 * Opening and closing a lane: store, engine and analyzer of this thread, and on the write lane the writer and its queue. Read lanes also share the rebuild of the index, between the requests
 * that they already serve.
 */
import { ControlBlock } from '../dispatch/control_block.js'
import { rebuildPages } from '../consumers/rebuild.js'
import type { RebuildShare } from '../consumers/rebuild.js'
import { createAnalyzer } from '../engine/analyzer.js'
import { openEngine } from '../engine/native_engine.js'
import { DOCUMENT_CACHE_BYTES_MAX } from '../limits.js'
import { ByteWriter } from '../store/byte_writer.js'
import { currentGeneration } from '../store/layout.js'
import { TruthStore } from '../store/truth_store.js'
import type { LaneContext, WriteLane } from './handler.js'
import type { LaneStart, OpenLane } from './lane_start.js'
import { createWriteLane } from './write_lane.js'

/** @param onFatal is told, once, why the process must not go on: nothing may be acknowledged afterwards. */
export async function openLane(start: LaneStart, onFatal: (reason: string) => void): Promise<OpenLane> {
  const context: LaneContext = {
    config: start.config,
    store: new TruthStore(
      currentGeneration(start.config.path),
      start.kind === 'read' ? DOCUMENT_CACHE_BYTES_MAX / start.config.readLanes : 0,
    ),
    engine: openEngine(),
    analyzer: createAnalyzer(),
    out: new ByteWriter(),
  }
  const control = new ControlBlock(start.control)
  const writeLane = start.kind === 'write' ? openWriteLane(context, control, onFatal) : undefined
  const indexed = start.kind === 'read' ? buildShare(context, control) : Promise.resolve()
  const close = async (): Promise<void> => {
    await writeLane?.close()
    await context.store.close()
  }
  return { context, indexed, close, ...(writeLane === undefined ? {} : { writeLane }) }
}

function openWriteLane(context: LaneContext, control: ControlBlock, onFatal: (reason: string) => void): WriteLane {
  const { durability } = context.config
  const writer = context.store.openWriter({
    durability,
    onCommit: (isRunning) => control.setCommitting(isRunning),
    onFailure: (failure) => onFatal(describe(failure)),
  })
  return createWriteLane(context, { writer, onIndexFailure: (error) => void rebuildStaleIndex(context, control, error, onFatal) })
}

/** The start: every read lane takes its share of the pages. A lane that replaces a dead one finds no share left. */
async function buildShare(context: LaneContext, control: ControlBlock): Promise<void> {
  const shares = context.config.readLanes
  const share = control.claimRebuildShare()
  if (share < shares) await rebuild(context, { share, shares })
}

/** The index no longer equals the store: searches answer 503 until it has been built anew from the store, on the write lane, between groups. */
async function rebuildStaleIndex(
  context: LaneContext,
  control: ControlBlock,
  cause: unknown,
  onFatal: (reason: string) => void,
): Promise<void> {
  if (control.indexStale) {
    // What is refused now would be missing from the index that is being built: a start from the store is the only way back.
    onFatal(`the index refuses batches while it is rebuilt: ${describe(cause)}`)
    return
  }
  control.indexStale = true
  console.error(`the index refused a batch and is rebuilt: ${describe(cause)}`)
  try {
    context.engine.beginRebuild()
    await rebuild(context, { share: 0, shares: 1 })
    context.engine.endRebuild()
    control.indexStale = false
  } catch (error) {
    onFatal(`the index can't be rebuilt: ${describe(error)}`)
  }
}

async function rebuild(context: LaneContext, share: RebuildShare): Promise<void> {
  for (const page of rebuildPages(context, share)) {
    for (const damage of page.damaged) console.error(`not indexed: ${damage}`)
    // One page at a time: what has arrived meanwhile goes first.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.message}${error.cause === undefined ? '' : `: ${describe(error.cause)}`}` : String(error)
}
