/**
 * The values that are counted for a collection, and the counts of a walk through the heads of a collection.
 * If the walk takes several snapshots, the write lane corrects the counts: a document below the position of
 * the walk has been counted, a document above it will be.
 */
import type { Sums } from './document_hash.js'
import { addSums, subtractSums, sumsOf } from './document_hash.js'
import type { Head } from './head.js'

export interface Counted extends Sums {
  documents: number
  revisions: number
  metaTriples: number
}

export const TALLIED = [
  'documents',
  'revisions',
  'metaTriples',
  'contentSum',
  'contentXor',
  'stateSum',
  'stateXor',
] as const satisfies readonly (keyof Counted)[]

export function nothingCounted(): Counted {
  return { documents: 0, revisions: 0, metaTriples: 0, contentSum: 0n, contentXor: 0n, stateSum: 0n, stateXor: 0n }
}

/** Adds the present state of a document. Documents and revisions are counted by the caller. */
export function countState(counted: Counted, head: Head): void {
  counted.metaTriples += head.metaTriples
  addSums(counted, sumsOf(head.contentHash, head))
}

/** Subtracts a state that is no longer the present one. */
export function uncountState(counted: Counted, head: Head): void {
  counted.metaTriples -= head.metaTriples
  subtractSums(counted, sumsOf(head.contentHash, head))
}

export class Tally {
  readonly counted = nothingCounted()
  /** Documents with lower docids have been counted. */
  nextDocid = 0
  /** False: some documents could not be counted, or some counts not corrected. */
  isComplete = true

  constructor(readonly collection: number) {}

  /** @param revisions of the document */
  add(head: Head, revisions: number): void {
    this.counted.documents++
    this.counted.revisions += revisions
    countState(this.counted, head)
  }

  /** Applies the change that a write of one document has made to the counters. */
  correct(docid: number, before: Readonly<Counted>, after: Readonly<Counted>): void {
    if (docid >= this.nextDocid) return
    const { counted } = this
    for (const field of ['documents', 'revisions', 'metaTriples'] as const) counted[field] += after[field] - before[field]
    addSums(counted, after)
    subtractSums(counted, before)
  }
}
