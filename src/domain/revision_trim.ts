/**
 * Determines which revisions of a document are removed: those beyond the collection's `maxRevisions` in the
 * write that adds one, and those beyond `keepRevs` in a truncation. The current state counts as the newest
 * revision. `decide` on the write lane, inside the write transaction; the result becomes part of an entry
 * (docs/decisions/documents/revisions.md).
 */
import type { WriteTransaction } from '../store/apply.js'
import type { Head } from '../store/head.js'
import { encodeHead, HEAD_FLAGS, textOfHead } from '../store/head.js'
import type { View } from '../store/view.js'
import { configOf } from './settings/collection_settings.js'
import type { Step } from './step.js'

/**
 * Superseded states that one entry releases: about 3 ms. A document with more beyond `maxRevisions` reaches
 * that number with its next writes.
 */
const REVISIONS_TRIMMED_PER_ENTRY_MAX = 512

interface KnownLimit {
  readonly settingsLsn: bigint
  readonly revisionsMax: number
}

/**
 * Limits by write group, so that a configuration is parsed once per collection and group, not once per write.
 */
const known = new WeakMap<WriteTransaction, Map<number, KnownLimit>>()

/**
 * For a write on top of `current`: superseded states with lower numbers are removed; 0 for none. The write
 * supersedes `current` itself.
 * @param flags HEAD_FLAGS of the new state
 */
export function trimBelowOnPut(transaction: WriteTransaction, current: Head, flags: number): number {
  const { collection } = current
  const revisionsMax = revisionsMaxOf(transaction, collection)
  if (revisionsMax === 0) return 0
  const superseded = revisionsMax - countOf(flags)
  return trimBelow(transaction.view, current, superseded - countOf(current.flags)).below
}

function revisionsMaxOf(transaction: WriteTransaction, collection: number): number {
  const { view } = transaction
  const settingsLsn = view.settingsLsn(collection)
  if (settingsLsn === 0n) return 0
  const limits = known.get(transaction) ?? new Map<number, KnownLimit>()
  known.set(transaction, limits)
  const limit = limits.get(collection)
  if (limit?.settingsLsn === settingsLsn) return limit.revisionsMax
  const revisionsMax = configOf(view, collection)?.maxRevisions ?? 0
  limits.set(collection, { settingsLsn, revisionsMax })
  return revisionsMax
}

interface TrimDecision {
  readonly step: Step
  /** Number of removed revisions. */
  readonly trimmed: number
  /** More revisions remain to be removed: the document must be trimmed again. */
  readonly isPartial: boolean
}

/** Truncates one document to its newest `keep` revisions. Undefined if it has no more than that. */
export function decideTrim(transaction: WriteTransaction, head: Head, keep: number): TrimDecision | undefined {
  const counts = countOf(head.flags)
  const { below, rows, isPartial } = trimBelow(transaction.view, head, Math.max(keep - counts, 0))
  const forgetsPresent = keep === 0 && counts === 1 && !isPartial
  if (rows === 0 && !forgetsPresent) return undefined
  const lsn = transaction.nextLsn
  const flags = forgetsPresent ? head.flags & ~HEAD_FLAGS.revision : head.flags
  // The head gets a new LSN. A write that was prepared from the previous state is therefore prepared again,
  // and finds that a removed revision is missing.
  const record = encodeHead({ ...head, lsn, flags }, textOfHead(head))
  const entry = { kind: 'trim', lsn, collection: head.collection, docid: head.docid, head: record, trimBelow: below } as const
  return { step: { entry, body: undefined, indexOp: undefined }, trimmed: rows + Number(forgetsPresent), isPartial }
}

interface Trim {
  /** 0: nothing is removed. */
  readonly below: number
  readonly rows: number
  readonly isPartial: boolean
}

/** @param keep superseded states to keep; -1: the current state is removed as well, once it is superseded */
function trimBelow(view: View, head: Head, keep: number): Trim {
  const { collection, docid, revision } = head
  const oldest = view.revisions.after(collection, docid, 0)
  // Numbers may have gaps, so there are at most as many states as numbers. One look-up therefore decides the
  // usual case.
  const mayExceed = oldest !== undefined && revision - oldest > keep
  const excess = mayExceed ? view.revisions.count(collection, docid) - Math.max(keep, 0) : 0
  if (excess > REVISIONS_TRIMMED_PER_ENTRY_MAX) {
    const below = view.revisions.after(collection, docid, REVISIONS_TRIMMED_PER_ENTRY_MAX) ?? revision
    return { below, rows: REVISIONS_TRIMMED_PER_ENTRY_MAX, isPartial: true }
  }
  if (keep < 0) return { below: revision + 1, rows: excess + 1, isPartial: false }
  if (excess <= 0) return { below: 0, rows: 0, isPartial: false }
  return { below: view.revisions.after(collection, docid, excess) ?? revision, rows: excess, isPartial: false }
}

function countOf(flags: number): number {
  return (flags & HEAD_FLAGS.revision) === 0 ? 0 : 1
}
