/**
 * Brings an index that was opened at its checkpoint up to the state of the store. Every document that the
 * binlog names above the checkpoint is indexed in its present state, or deleted. Replay uses the present
 * state rather than each entry: superseded bodies may be gone, and a document that changed a hundred times is
 * analysed once. Runs on the write lane before its first group, so nothing changes meanwhile.
 */
import { encodeDelete, encodeDrop, joinBatch } from '../engine/search/index_batch.js'
import { REBUILD_BATCH_BYTES } from '../limits/store.js'
import type { StoredEntry } from '../store/entries/entry.js'
import { kindOf } from '../store/entries/kinds.js'
import type { View } from '../store/view.js'
import type { LostObjects, RebuildResult, RebuildTools } from './rebuild.js'
import { Failures, upsertOf } from './rebuild.js'

/** Binlog entries that one slice of a replay reads: 256 documents are about 20 ms of analysis. */
const REPLAY_ENTRIES_PER_PAGE = 256

/** Whether the binlog still contains everything above the checkpoint. */
export function reachesBack(tools: RebuildTools, checkpoint: bigint): boolean {
  return tools.store.read((view) => checkpoint >= view.storeCounters().trimmedLsn)
}

export function replay(tools: RebuildTools, checkpoint: bigint, lost?: LostObjects): RebuildResult {
  const seen = new Set<string>()
  const failures = new Failures(lost)
  let documents = 0
  for (let after = checkpoint, last = false; !last;) {
    last = tools.store.read((view) => {
      const entries = view.binlog.entriesAfter(after, REPLAY_ENTRIES_PER_PAGE)
      let ops: Uint8Array[] = []
      let bytes = 0
      for (const [at, entry] of entries.entries()) {
        const some = opsOf(tools, view, entry, seen, failures)
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
  const { damaged, lacking } = failures
  return { documents, damaged, lacking }
}

function opsOf(tools: RebuildTools, view: View, entry: StoredEntry, seen: Set<string>, failures: Failures): Uint8Array[] {
  // The drop of its collection follows.
  if (entry.kind === 'shed') return []
  const { collection, docid, lsn } = entry
  const { index } = kindOf(entry)
  if (index === 'none') return []
  if (index === 'collection') return [encodeDrop(collection, lsn)]
  const name = `${collection}/${docid}`
  if (seen.has(name)) return []
  seen.add(name)
  try {
    const head = view.headEvenExpired(collection, docid)
    // Deleted by a later entry. The LSN of a delete only has to be above that of the document's last write.
    if (head === undefined) return [encodeDelete(collection, docid, view.storeCounters().lastLsn)]
    return [upsertOf(tools, view, head, false)]
  } catch (error) {
    failures.note(name, error)
    return []
  }
}
