/**
 * The vector engine at the write lane's start, and before another store replaces the present one. The engine
 * opens its stored vectors, compares them with the truth store, and receives the missing ones page by page
 * between the groups of the lane. After a start, vector searches answer 503 until then. Write lane, and the
 * process that prepares a restored store.
 */
import { join } from 'node:path'
import { changeOf } from '../../domain/embedding/embedded_document.js'
import { encodeVectorBatch, encodeVectorStamps } from '../../engine/vectors/vector_bytes.js'
import type { VectorChange, VectorEngine, VectorLoading, VectorStamp } from '../../engine/vectors/vector_types.js'
import type { TruthStore } from '../../store/truth_store.js'
import { log } from '../../telemetry/log.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { LaneContext } from '../request/handler.js'

/**
 * Documents whose vectors are passed to the engine at once during a start: 64 of three chunks of 1 536
 * numbers are 1.2 MB, about 1 ms.
 */
export const VECTOR_LOAD_DOCUMENTS = 64

/** Folder inside a generation. */
export const VECTORS_FOLDER = 'vectors'

/** An engine, and the store whose vectors it is to contain. */
interface VectorSource {
  readonly store: TruthStore
  readonly vectors: VectorLoading
}

/**
 * The engine removes files that cannot be used; their vectors are then missing and loaded again. If the
 * directory cannot be used, nothing is refused: all vectors are in the truth store, and the engine retries
 * the directory.
 */
export function openVectors(vectorEngine: VectorEngine, generation: string, history: Uint8Array): void {
  log.info('vector kernels', { reason: vectorEngine.isa })
  try {
    logDamage(vectorEngine.open(join(generation, VECTORS_FOLDER), history))
  } catch (error) {
    log.error('vectors: kept in memory until the disk accepts them', { reason: error })
  }
}

export function logDamage(damage: readonly string[]): void {
  for (const line of damage) log.error('vectors', { reason: line })
}

/**
 * Compares at once, so that no vector is found that the truth store does not have. Loads missing vectors
 * between other work.
 * @param onFatal called if the engine cannot be loaded
 */
export function beginLoading(
  { store, vectorEngine }: Pick<LaneContext, 'store' | 'vectorEngine'>,
  control: ControlBlock,
  onFatal: (reason: string) => void,
  end: AbortSignal,
): void {
  const source = { store, vectors: vectorEngine }
  const lacking = lackingOf(source)
  control.vectorsLoading = lacking.length > 0
  if (lacking.length === 0) return
  log.info(`vectors: reading those of ${lacking.length / 2} documents from the store`)
  const run = async (): Promise<void> => {
    for (const given of giveLacking(source, lacking)) {
      if (end.aborted) return
      if (given > 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    if (!end.aborted) control.vectorsLoading = false
  }
  run().catch((error: unknown) => onFatal(`vectors can't be loaded: ${describe(error)}`))
}

/** @returns pairs of collection and docid; vectors that the truth store does not have are removed */
export function lackingOf({ store, vectors }: VectorSource): Uint32Array {
  const stamps = store.read((view) => {
    const rows: VectorStamp[] = []
    for (const { collection, docid, stamp } of view.vectors.stamps())
      if (stamp.chunks > 0) rows.push({ collection, docid, lsn: stamp.lsn, dimensions: stamp.dimensions })
    return rows
  })
  return vectors.compare(encodeVectorStamps(stamps))
}

/**
 * Applies one page per call and yields its size in bytes. A vector that has changed since the comparison is
 * applied in its present state: the engine keeps the version with the higher LSN.
 */
export function* giveLacking({ store, vectors }: VectorSource, lacking: Uint32Array): Generator<number> {
  for (let from = 0; from < lacking.length; from += 2 * VECTOR_LOAD_DOCUMENTS) {
    const page = lacking.subarray(from, from + 2 * VECTOR_LOAD_DOCUMENTS)
    const changes = store.read((view) => {
      const found: VectorChange[] = []
      for (let at = 0; at < page.length; at += 2) {
        const [collection = 0, docid = 0] = page.subarray(at, at + 2)
        const stamp = view.vectors.stamp(collection, docid)
        const record = stamp === undefined ? undefined : view.vectors.record(collection, docid)
        if (stamp !== undefined && record !== undefined && record.vectors.length > 0)
          found.push(changeOf(record, collection, docid, stamp.lsn))
      }
      return found
    })
    const batch = encodeVectorBatch(changes)
    if (changes.length > 0) vectors.apply(batch)
    yield batch.length
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
