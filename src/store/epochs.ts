/**
 * The epochs of the store: which LSNs were assigned under which epoch. A start after an unclean end begins a
 * new epoch, because the last LSNs before it may have been lost and are then assigned again. A component that
 * stores its own checkpoint (the index, followers) compares both epoch and LSN. Written by the write lane
 * only, before its first group and after its last. Layout: docs/formats/truth-env.md.
 */
import { randomBytes } from 'node:crypto'
import { readStoreCounters, requireStoreCounters } from './counters.js'
import type { Environment } from './environment.js'
import { requireIntact } from './rows/record.js'

/**
 * Epochs that the store remembers. An index that was last written this many unclean shutdowns ago is rebuilt.
 */
const EPOCHS_MAX = 64

const FIRST_KEY = Buffer.from('epoch')
const HISTORY_KEY = Buffer.from('epochs')
const CLEAN_KEY = Buffer.from('clean')
const EPOCH_BYTES = 16
const SPAN_BYTES = EPOCH_BYTES + 8

/**
 * Begins this process's span of the history. It is on disk when the promise resolves, and so is everything
 * that an earlier process committed.
 * @returns one span per epoch, oldest first: 16 bytes of epoch, u64 LE last LSN assigned under it (for the
 * present epoch, the last LSN so far)
 */
export async function beginEpoch(environment: Environment): Promise<Buffer> {
  const { settings, root } = environment
  const history = root.transactionSync(() => {
    const lastLsn = requireStoreCounters(environment).lastLsn
    const spans = readSpans(environment)
    const isClean = settings.get(CLEAN_KEY)?.[0] === 1
    setEnd(spans.at(-1) as Buffer, lastLsn)
    if (!isClean && lastLsn > 0n) spans.push(newSpan(lastLsn))
    const kept = Buffer.concat(spans.slice(-EPOCHS_MAX))
    settings.put(HISTORY_KEY, kept)
    settings.put(CLEAN_KEY, Buffer.from([0]))
    return kept
  })
  await root.flushed
  return history
}

/** The same history for a read-only store, without an epoch of this process. */
export function readHistory(environment: Environment): Buffer {
  const spans = readSpans(environment)
  setEnd(spans.at(-1) as Buffer, requireStoreCounters(environment).lastLsn)
  return Buffer.concat(spans)
}

export interface Epoch {
  /** 32 hexadecimal digits. */
  readonly id: string
  readonly lastLsn: bigint
}

/** @param history as `readHistory` returns it */
export function epochsOf(history: Buffer): readonly Epoch[] {
  return spansOf(history).map((span) => ({ id: span.toString('hex', 0, EPOCH_BYTES), lastLsn: span.readBigUInt64LE(EPOCH_BYTES) }))
}

/**
 * Marks a clean end: the next start continues in the same epoch. To be called when everything is on disk and
 * nothing more will be written.
 */
export function endEpoch(environment: Environment): void {
  environment.root.transactionSync(() => environment.settings.put(CLEAN_KEY, Buffer.from([1])))
}

/**
 * Begins a new epoch for a restored store, whatever its source, because its next LSNs may already have been
 * assigned to other entries. To be called before `beginEpoch`, on a store that is not being served.
 */
export function renewEpoch(environment: Environment): void {
  const { settings, root } = environment
  root.transactionSync(() => {
    const lastLsn = readStoreCounters(environment).lastLsn
    const spans = readSpans(environment)
    setEnd(spans.at(-1) as Buffer, lastLsn)
    spans.push(newSpan(lastLsn))
    settings.put(HISTORY_KEY, Buffer.concat(spans.slice(-EPOCHS_MAX)))
    settings.put(CLEAN_KEY, Buffer.from([1]))
  })
}

/** The present epoch, 16 bytes. */
export function presentEpoch(environment: Environment): Buffer {
  return (readSpans(environment).at(-1) as Buffer).subarray(0, EPOCH_BYTES)
}

function readSpans(environment: Environment): Buffer[] {
  const stored = environment.settings.get(HISTORY_KEY)
  if (stored !== undefined) requireIntact(stored, SPAN_BYTES, () => 'epochs of the store')
  if (stored === undefined) return [Buffer.concat([environment.settings.get(FIRST_KEY) ?? randomBytes(EPOCH_BYTES), Buffer.alloc(8)])]
  return spansOf(stored)
}

function spansOf(history: Buffer): Buffer[] {
  const spans: Buffer[] = []
  for (let at = 0; at + SPAN_BYTES <= history.length; at += SPAN_BYTES) spans.push(Buffer.from(history.subarray(at, at + SPAN_BYTES)))
  return spans
}

function newSpan(lastLsn: bigint): Buffer {
  const span = Buffer.concat([randomBytes(EPOCH_BYTES), Buffer.alloc(8)])
  setEnd(span, lastLsn)
  return span
}

function setEnd(span: Buffer, lastLsn: bigint): void {
  span.writeBigUInt64LE(lastLsn, EPOCH_BYTES)
}
