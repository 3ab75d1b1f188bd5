/**
 * Positions of the consumers of the binlog. Each is one row of `settings`, written in the transaction of the
 * consumer's work. Layout: docs/formats/truth-env.md.
 */
import { readStoreCounters } from '../counters.js'
import type { Environment } from '../environment.js'
import { lsnKey, prefixEnd } from '../rows/keys.js'
import { DAMAGED_ROW } from '../rows/record.js'

/**
 * Keys of rows written before format 3, by consumer. Those versions trimmed only entries that the consumer
 * had seen, without storing that.
 */
const FORMER_KEYS: Readonly<Record<string, Buffer>> = { 'revision-packing': Buffer.from('packed') }

/** LSN of the last entry that the consumer has processed; 0 for a damaged row; undefined: it has none. */
export function readPosition(environment: Environment, name: string): bigint | undefined {
  const { settings } = environment
  const row = settings.get(keyOf(name))
  if (row !== undefined) return lsnOf(row)
  const former = FORMER_KEYS[name]
  const formerRow = former === undefined ? undefined : settings.get(former)
  if (formerRow === undefined) return undefined
  const { trimmedLsn } = readStoreCounters(environment)
  const lsn = lsnOf(formerRow)
  return lsn > trimmedLsn ? lsn : trimmedLsn
}

function lsnOf(row: Buffer): bigint {
  return row === DAMAGED_ROW || row.length !== 8 ? 0n : row.readBigUInt64BE(0)
}

/** Inside a write transaction. */
export function writePosition({ settings }: Environment, name: string, lsn: bigint): void {
  settings.put(keyOf(name), lsnKey(lsn))
  const former = FORMER_KEYS[name]
  if (former !== undefined) settings.remove(former)
}

/** All consumers are new in the store afterwards. Inside a write transaction. */
export function removePositions({ settings }: Environment): void {
  const start = keyOf('')
  for (const key of [...settings.getKeys({ start, end: prefixEnd(start) }), ...Object.values(FORMER_KEYS)]) settings.remove(key)
}

function keyOf(name: string): Buffer {
  return Buffer.from(`consumer/${name}`)
}
