/**
 * Revisions stored small: the body of a superseded state becomes the difference from the body of the state
 * that came after it. Follows the binlog: with each put that supersedes a state, the one before that is
 * packed. Of DELTA_CHAIN_REVISIONS states that follow each other the newest stays whole, so that chains stay
 * short. Derived, and of this server only: no entry tells of it. Runs on the write lane; reads here,
 * `WriteTransaction.packBody` writes.
 */
import { DELTA_CHAIN_REVISIONS, PACKING_ENTRIES_MAX, PACKING_PAUSE_MS, PACKING_SLICE_BYTES } from '../limits/revisions.js'
import { SWEEP_INTERVAL_MS } from '../limits/upkeep.js'
import type { PackedBody, WriteTransaction } from '../store/apply.js'
import { encodeDelta } from '../store/body.js'
import { decodeHead } from '../store/head.js'
import type { Head } from '../store/head.js'
import { CorruptRecord } from '../store/record.js'
import type { View } from '../store/view.js'
import { log } from '../telemetry/log.js'
import { threadTelemetry } from '../telemetry/registry.js'
import type { BinlogConsumer } from './consumer.js'

export function revisionPacking(): BinlogConsumer {
  return {
    name: 'revision-packing',
    position: 'stored',
    writesUnasked: true,
    delayMs: SWEEP_INTERVAL_MS,
    pauseMs: PACKING_PAUSE_MS,
    next: (view, after) => {
      const { bodies, lsn, isMore } = nextPacking(view, after)
      if (bodies.length === 0) return { lsn, isMore }
      const change = (transaction: WriteTransaction): void => {
        threadTelemetry().add('revisions_packed', bodies.filter((body) => transaction.packBody(body)).length)
      }
      return { lsn, isMore, change, weight: bodies.length }
    },
  }
}

export interface PackingSlice {
  readonly bodies: readonly PackedBody[]
  /** LSN of the last entry looked at. */
  readonly lsn: bigint
  readonly isMore: boolean
}

/** What the entries above `after` left to pack, as much as one slice takes. */
export function nextPacking(view: View, after: bigint): PackingSlice {
  const { puts, lsn } = view.binlog.supersedingAfter(after, PACKING_ENTRIES_MAX)
  const bodies: PackedBody[] = []
  let bytes = 0
  for (const put of puts) {
    const packed = packBefore(
      view,
      decodeHead(put.head, put.collection, () => `head of entry ${put.lsn}`),
    )
    if (packed === undefined) continue
    bodies.push(packed)
    bytes += packed.older.bodyRawBytes + packed.newer.bodyRawBytes
    if (bytes >= PACKING_SLICE_BYTES) return { bodies, lsn: put.lsn, isMore: true }
  }
  return { bodies, lsn, isMore: lsn - after >= BigInt(PACKING_ENTRIES_MAX) }
}

/**
 * Of the kept states before this one, the second newest as the difference from the newest. A damaged one is
 * left as it is: whoever asks for it is told.
 */
function packBefore(view: View, { collection, docid, revision }: Head): PackedBody | undefined {
  try {
    const newer = view.revisions.newest(collection, docid, revision - 1)
    const older = newer === undefined ? undefined : view.revisions.newest(collection, docid, newer.revision - 1)
    if (newer === undefined || older === undefined || !isPackable(view, older, newer)) return undefined
    const base = Buffer.from(view.escapedContent(newer))
    const record = encodeDelta(view.escapedContent(older), base, newer.bodyLsn)
    return record === undefined || record.length >= older.bodyStoredBytes ? undefined : { older, newer, record }
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    log.error('not packed', { reason: error })
    return undefined
  }
}

/**
 * Only states that brought their body themselves: so every body has one place in the order of the revisions,
 * and a chain never leaves its block of DELTA_CHAIN_REVISIONS. And not what the present state shows, too.
 */
function isPackable(view: View, older: Head, newer: Head): boolean {
  const isOwner = older.bodyLsn === older.indexedLsn && newer.bodyLsn === newer.indexedLsn
  const isOneBlock = Math.floor(older.revision / DELTA_CHAIN_REVISIONS) === Math.floor(newer.revision / DELTA_CHAIN_REVISIONS)
  if (!isOwner || !isOneBlock || !view.isWhole(older)) return false
  return view.headEvenExpired(older.collection, older.docid)?.bodyLsn !== older.bodyLsn
}
