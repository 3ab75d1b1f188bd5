/**
 * The counts of a walk through the heads of a collection. If the walk takes several snapshots, the write lane
 * corrects the counts: a document below the position of the walk has been counted, a document above it will
 * be.
 */
/** The values that are counted for a collection. */
export interface Counted {
  documents: number
  revisions: number
  metaTriples: number
  /** XOR of the content hashes of all documents. */
  checksum: number
}

export const TALLIED = ['documents', 'revisions', 'metaTriples', 'checksum'] as const

export class Tally {
  readonly counted = { documents: 0, revisions: 0, metaTriples: 0, checksum: 0 }
  /** Documents with lower docids have been counted. */
  nextDocid = 0
  /** False: some documents could not be counted, or some counts not corrected. */
  isComplete = true

  constructor(readonly collection: number) {}

  add(documents: number, revisions: number, metaTriples: number, contentHash: number): void {
    const { counted } = this
    counted.documents += documents
    counted.revisions += revisions
    counted.metaTriples += metaTriples
    counted.checksum = (counted.checksum ^ contentHash) >>> 0
  }

  /** Applies the change that a write of one document has made to the counters. */
  correct(docid: number, before: Readonly<Counted>, after: Readonly<Counted>): void {
    if (docid >= this.nextDocid) return
    const { documents, revisions, metaTriples, checksum } = before
    this.add(after.documents - documents, after.revisions - revisions, after.metaTriples - metaTriples, after.checksum ^ checksum)
  }
}
