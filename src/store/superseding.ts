/** Finds in the binlog what the packing of revisions has to look at (src/consumers/revision_packing.ts): by a flag, so that all other entries are passed over undecoded. */
import { openEntry, supersedesTwo } from './entry.js'
import type { PutEntry } from './entry.js'
import type { Environment } from './environment.js'
import { lsnKey, lsnOfKey } from './keys.js'
import { CorruptRecord } from './record.js'

/** Of the next `count` entries above `lsn` the puts that left at least two superseded states behind them; and the LSN of the last entry looked at. */
export function putsSuperseding(
  environment: Environment,
  lsn: bigint,
  count: number,
): { readonly puts: readonly PutEntry[]; readonly lsn: bigint } {
  const puts: PutEntry[] = []
  let last = lsn
  for (const { key, value } of environment.binlog.getRange({ start: lsnKey(lsn + 1n), limit: count })) {
    last = lsnOfKey(key)
    if (!supersedesTwo(value)) continue
    try {
      const entry = openEntry(environment.seals, last, value)
      if (entry.kind === 'put') puts.push(entry)
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error
    }
  }
  return { puts, lsn: last }
}
