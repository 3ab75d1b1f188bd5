/**
 * Positions of the consumers of the binlog. Each is one row of `settings`, written in the transaction of the
 * consumer's work. Layout: docs/formats/truth-env.md.
 */
import type { Environment } from '../environment.js'
import { lsnKey, prefixEnd } from '../rows/keys.js'
import { DAMAGED_ROW } from '../rows/record.js'

/** LSN of the last entry that the consumer has processed; 0 for a damaged row; undefined: it has none. */
export function readPosition({ settings }: Environment, name: string): bigint | undefined {
  const row = settings.get(keyOf(name))
  if (row === undefined) return undefined
  return row === DAMAGED_ROW || row.length !== 8 ? 0n : row.readBigUInt64BE(0)
}

/** Inside a write transaction. */
export function writePosition({ settings }: Environment, name: string, lsn: bigint): void {
  settings.put(keyOf(name), lsnKey(lsn))
}

/** All consumers are new in the store afterwards. Inside a write transaction. */
export function removePositions({ settings }: Environment): void {
  const start = keyOf('')
  for (const key of [...settings.getKeys({ start, end: prefixEnd(start) })]) settings.remove(key)
}

function keyOf(name: string): Buffer {
  return Buffer.from(`consumer/${name}`)
}
