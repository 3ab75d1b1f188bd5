/**
 * Sets up sealing for a lane: gives the engine the keys of stored segments and the collections that need
 * them. Lane threads, at their start.
 */
import type { SearchEngine } from '../../engine/types.js'
import type { VectorEngine } from '../../engine/vectors/vector_types.js'
import type { Keyring } from '../../store/sealing/keyring.js'
import type { TruthStore } from '../../store/truth_store.js'
import { log } from '../../telemetry/log.js'

const INDEX_LABEL = 'mds/v1/index'

interface SealedStores {
  readonly store: TruthStore
  readonly engine: SearchEngine
  /** Absent if an engine other than the present one is opened for the store. */
  readonly vectorEngine?: VectorEngine
  /** Absent if the store can be written. */
  readonly isReadOnly?: boolean
}

/**
 * Called by the write lane, before the index is opened.
 * @returns ids of the sealed collections
 * @throws SealingRefused
 */
export function beginSealing({ store, engine, vectorEngine, isReadOnly }: SealedStores, keyring: Keyring): readonly number[] {
  const sealed = isReadOnly === true ? store.readSealing() : store.beginSealing()
  const lost = store.unreadableCredentials()
  if (lost !== undefined) log.error(lost)
  if (!keyring.canSeal) return []
  const keys = keyring.ids.map((id) => Buffer.concat([Buffer.from([id]), keyring.derive(id, INDEX_LABEL) as Uint8Array]))
  engine.setSealKeys(keyring.primaryId, Buffer.concat(keys))
  for (const collection of sealed) {
    engine.setSealed(collection, true)
    vectorEngine?.setSealed(collection, true)
  }
  return sealed
}
