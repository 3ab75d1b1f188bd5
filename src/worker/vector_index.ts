/**
 * The vector engine at the write lane's start, and when another store has taken the place of the present one: it opens what it has stored, is told what truth has, and is given what it lacks, page by page between the
 * groups of the lane. Until then searches for vectors answer 503. Write lane only.
 */
import { join } from 'node:path'
import type { ControlBlock } from '../dispatch/control_block.js'
import { changeOf } from '../domain/embedding/embedded_document.js'
import { encodeVectorBatch, encodeVectorStamps } from '../engine/vector_bytes.js'
import type { VectorChange, VectorStamp } from '../engine/vector_types.js'
import { VECTOR_LOAD_DOCUMENTS } from '../limits.js'
import type { LaneContext } from './handler.js'

/** In a generation. */
export const VECTORS_FOLDER = 'vectors'

type VectorContext = Pick<LaneContext, 'store' | 'vectorEngine'>

/** Files that can't be used are removed by the engine: what was in them is lacking then. */
export function openVectors({ vectorEngine }: VectorContext, generation: string): void {
  vectorEngine.open(join(generation, VECTORS_FOLDER))
}

/** Compares at once, so that nothing is found that truth has not, and loads what is lacking between other work. @param onFatal where the engine can't be given it */
export function beginLoading(context: VectorContext, control: ControlBlock, onFatal: (reason: string) => void, end: AbortSignal): void {
  const lacking = compare(context)
  control.vectorsLoading = lacking.length > 0
  if (lacking.length === 0) return
  const run = async (): Promise<void> => {
    for (let at = 0; at < lacking.length && !end.aborted; at += 2 * VECTOR_LOAD_DOCUMENTS) {
      load(context, lacking.subarray(at, at + 2 * VECTOR_LOAD_DOCUMENTS))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    if (!end.aborted) control.vectorsLoading = false
  }
  run().catch((error: unknown) => onFatal(`vectors can't be loaded: ${error instanceof Error ? error.message : String(error)}`))
}

/** @returns pairs of collection and docid */
function compare({ store, vectorEngine }: VectorContext): Uint32Array {
  const stamps = store.read((view) => {
    const rows: VectorStamp[] = []
    for (const { collection, docid, stamp } of view.vectors.stamps())
      if (stamp.chunks > 0) rows.push({ collection, docid, lsn: stamp.lsn, dimensions: stamp.dimensions })
    return rows
  })
  return vectorEngine.compare(encodeVectorStamps(stamps))
}

/** What has changed since it was found lacking is given as it is now: of two the engine keeps the one with the higher LSN. */
function load({ store, vectorEngine }: VectorContext, lacking: Uint32Array): void {
  const changes = store.read((view) => {
    const found: VectorChange[] = []
    for (let at = 0; at < lacking.length; at += 2) {
      const [collection = 0, docid = 0] = lacking.subarray(at, at + 2)
      const stamp = view.vectors.stamp(collection, docid)
      const record = stamp === undefined ? undefined : view.vectors.record(collection, docid)
      if (stamp !== undefined && record !== undefined && record.vectors.length > 0)
        found.push(changeOf(record, collection, docid, stamp.lsn))
    }
    return found
  })
  if (changes.length > 0) vectorEngine.apply(encodeVectorBatch(changes))
}
