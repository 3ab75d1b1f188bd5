/**
 * Stores revisions as deltas: the body of a superseded state becomes the difference from the body of the next
 * newer state. Follows the binlog: each entry that supersedes a state packs the state before that one. The
 * newest of DELTA_CHAIN_REVISIONS consecutive states stays whole, so that chains stay short. The deltas are
 * derived data of this server only: no entry records them. Runs on the write lane. This file reads,
 * `WriteTransaction.packBody` writes.
 */
import { DELTA_CHAIN_REVISIONS } from '../limits/documents.js'
import { SWEEP_INTERVAL_MS } from '../limits/store.js'
import { KIB } from '../limits/units.js'
import type { PackedBody, WriteTransaction } from '../store/apply.js'
import { encodeDelta } from '../store/body.js'
import type { Head } from '../store/head.js'
import { decodeHead } from '../store/head.js'
import { CorruptRecord } from '../store/rows/record.js'
import type { View } from '../store/view.js'
import { log } from '../telemetry/log.js'
import { threadTelemetry } from '../telemetry/registry.js'
import type { BinlogConsumer } from './consumer.js'

/**
 * Binlog entries in which one slice of packing searches for superseded states: about 1 ms if there are none.
 */
const PACKING_ENTRIES_MAX = 1024
/**
 * Bytes of contents that one slice of packing compares: about 2 ms of the write lane. One pair may be larger.
 */
const PACKING_SLICE_BYTES = 512 * KIB
/** Pause between two slices of packing while there is work: packing takes a tenth of the write lane. */
const PACKING_PAUSE_MS = 20

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

interface PackingSlice {
  readonly bodies: readonly PackedBody[]
  /** LSN of the last entry processed. */
  readonly lsn: bigint
  readonly isMore: boolean
}

/** The bodies to pack for the entries above `after`, as many as one slice takes. */
export function nextPacking(view: View, after: bigint): PackingSlice {
  const { states, lsn } = view.binlog.supersedingAfter(after, PACKING_ENTRIES_MAX)
  const bodies: PackedBody[] = []
  let bytes = 0
  for (const state of states) {
    const packed = packBefore(
      view,
      decodeHead(state.head, state.collection, () => `head of entry ${state.lsn}`),
    )
    if (packed === undefined) continue
    bodies.push(packed)
    bytes += packed.older.bodyRawBytes + packed.newer.bodyRawBytes
    if (bytes >= PACKING_SLICE_BYTES) return { bodies, lsn: state.lsn, isMore: true }
  }
  return { bodies, lsn, isMore: lsn - after >= BigInt(PACKING_ENTRIES_MAX) }
}

/**
 * Of the kept states before this one, encodes the second newest as the difference from the newest. A damaged
 * one is left unchanged: a read of it reports the damage.
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
 * Only states that have a body of their own take part, as delta or as base. Every body thus has one position
 * in the order of the revisions, and a chain never leaves its block of DELTA_CHAIN_REVISIONS. A body that the
 * present state also uses is not packed.
 */
function isPackable(view: View, older: Head, newer: Head): boolean {
  const isOwner = older.bodyLsn === older.indexedLsn && newer.bodyLsn === newer.indexedLsn
  const isOneBlock = Math.floor(older.revision / DELTA_CHAIN_REVISIONS) === Math.floor(newer.revision / DELTA_CHAIN_REVISIONS)
  if (!isOwner || !isOneBlock || !view.isWhole(older)) return false
  return view.headEvenExpired(older.collection, older.docid)?.bodyLsn !== older.bodyLsn
}
