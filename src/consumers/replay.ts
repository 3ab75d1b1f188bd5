/**
 * Brings an index that was opened at its checkpoint up to the store: every document that the binlog names above the checkpoint is indexed as it is now, or deleted. By present state, not entry by
 * entry: superseded bodies need not be there any more, and a document that changed a hundred times is analysed once. Runs on the write lane before its first group, so nothing changes meanwhile.
 */
import { encodeDelete, encodeDrop, joinBatch } from '../engine/index_batch.js'
import { REBUILD_BATCH_BYTES, REPLAY_ENTRIES_PER_PAGE } from '../limits.js'
import type { Entry } from '../store/entry.js'
import type { View } from '../store/view.js'
import { upsertOf } from './rebuild.js'
import type { RebuildResult, RebuildTools } from './rebuild.js'

/** Whether the binlog still has everything above the checkpoint. */
export function reachesBack(tools: RebuildTools, checkpoint: bigint): boolean {
  return tools.store.read((view) => checkpoint >= view.storeCounters().trimmedLsn)
}

export function replay(tools: RebuildTools, checkpoint: bigint): RebuildResult {
  const seen = new Set<string>()
  const damaged: string[] = []
  let documents = 0
  for (let after = checkpoint, last = false; !last;) {
    last = tools.store.read((view) => {
      const entries = view.entriesAfter(after, REPLAY_ENTRIES_PER_PAGE)
      let ops: Uint8Array[] = []
      let bytes = 0
      for (const [at, entry] of entries.entries()) {
        const some = opsOf(tools, view, entry, seen, damaged)
        ops.push(...some)
        documents += some.length
        bytes += some.reduce((sum, op) => sum + op.length, 0)
        after = entry.lsn
        if (bytes < REBUILD_BATCH_BYTES && at < entries.length - 1) continue
        tools.engine.publish(joinBatch(ops, after))
        ops = []
        bytes = 0
      }
      return entries.length < REPLAY_ENTRIES_PER_PAGE
    })
  }
  return { documents, damaged }
}

function opsOf(tools: RebuildTools, view: View, entry: Entry, seen: Set<string>, damaged: string[]): Uint8Array[] {
  const { collection, docid, lsn } = entry
  if (entry.kind === 'drop') return [encodeDrop(collection, lsn)]
  // Settings are read from the store when a search needs them.
  if (entry.kind === 'setting') return []
  // History is not in the index.
  if (entry.kind === 'trim') return []
  const name = `${collection}/${docid}`
  if (seen.has(name)) return []
  seen.add(name)
  try {
    const head = view.headEvenExpired(collection, docid)
    // Gone by a later entry: LSNs of deletes only have to be above that of the document's last write.
    if (head === undefined) return [encodeDelete(collection, docid, view.storeCounters().lastLsn)]
    return [upsertOf(tools, view, head, false)]
  } catch (error) {
    damaged.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    return []
  }
}
