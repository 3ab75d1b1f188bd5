/**
 * Which revisions of a document are let go of: those beyond the collection's `maxRevisions` in the write that
 * adds one, those beyond `keepRevs` in a truncation. The present state counts as the newest revision.
 * `decide` on the write lane, inside the write transaction; what it finds becomes part of an entry
 * (docs/decisions/0100-revisions-are-trimmed-by-number.md).
 */
import { REVISIONS_TRIMMED_PER_ENTRY_MAX } from '../limits/revisions.js'
import type { WriteTransaction } from '../store/apply.js'
import { encodeHead, HEAD_FLAGS, textOfHead } from '../store/head.js'
import type { Head } from '../store/head.js'
import type { View } from '../store/view.js'
import { configOf } from './settings/collection_settings.js'
import type { Step } from './step.js'

interface KnownLimit {
  readonly settingsLsn: bigint
  readonly revisionsMax: number
}

/** What a group has looked up: one parsed configuration a collection and group, not one a write. */
const known = new WeakMap<WriteTransaction, Map<number, KnownLimit>>()

/**
 * For a write on top of `current`: the number below which superseded states go, 0 for none. `current` itself
 * is superseded by the write.
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

export interface TrimDecision {
  readonly step: Step
  /** Revisions that go. */
  readonly trimmed: number
  /** There are more: the document has to be trimmed again. */
  readonly isPartial: boolean
}

/** A truncation of one document to its newest `keep` revisions; undefined where it has no more. */
export function decideTrim(transaction: WriteTransaction, head: Head, keep: number): TrimDecision | undefined {
  const counts = countOf(head.flags)
  const { below, rows, isPartial } = trimBelow(transaction.view, head, Math.max(keep - counts, 0))
  const forgetsPresent = keep === 0 && counts === 1 && !isPartial
  if (rows === 0 && !forgetsPresent) return undefined
  const lsn = transaction.nextLsn
  const flags = forgetsPresent ? head.flags & ~HEAD_FLAGS.revision : head.flags
  // A head with an LSN of its own: whoever has prepared a write from the state before prepares it again, and
  // misses a revision that is gone.
  const record = encodeHead({ ...head, lsn, flags }, textOfHead(head))
  const entry = { kind: 'trim', lsn, collection: head.collection, docid: head.docid, head: record, trimBelow: below } as const
  return { step: { entry, body: undefined, indexOp: undefined }, trimmed: rows + Number(forgetsPresent), isPartial }
}

interface Trim {
  /** 0: nothing goes. */
  readonly below: number
  readonly rows: number
  readonly isPartial: boolean
}

/** @param keep superseded states that stay; -1: the present one goes as well, when it is superseded */
function trimBelow(view: View, head: Head, keep: number): Trim {
  const { collection, docid, revision } = head
  const oldest = view.revisions.after(collection, docid, 0)
  // Numbers have gaps at most, so there are no more states than numbers: the usual case, told by one look.
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
