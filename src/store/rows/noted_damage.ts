/**
 * Logs damage that is tolerated because its owner can do without the row. Each record is logged once per
 * thread, because such rows may be met with every request.
 */
import { log } from '../../telemetry/log.js'
import { CorruptRecord } from './record.js'

/**
 * Damaged records that a thread logs, once each, when it skips them. A store with that many must be restored
 * in any case.
 */
const NOTED_DAMAGE_MAX = 1000

const noted = new Set<string>()

/** @throws any error that is not a CorruptRecord */
export function noteDamage(error: unknown): void {
  if (!(error instanceof CorruptRecord)) throw error
  if (noted.has(error.record) || noted.size >= NOTED_DAMAGE_MAX) return
  noted.add(error.record)
  log.error('skipped a damaged record', { reason: error })
}

/** Undefined if the record is damaged, which is noted. */
export function tolerated<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    noteDamage(error)
    return undefined
  }
}
